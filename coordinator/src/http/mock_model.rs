//! The stand-in model on a port: `/v1/models`, `/v1/chat/completions`, `/stats`.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use argosy_shared::{
    model::secret::Secret,
    supervise::{self, Task},
    time::{self, Clock, SystemClock},
};
use axum::{
    Router,
    body::{Body as HttpBody, Bytes},
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::{Stream, StreamExt as _, stream};
use serde_json::json;
use tokio::{net::TcpListener, sync::watch};

use crate::stand_in::{Body, Plan, Script, StandIn, Stats};

/// Longest prompt it reads; an agent's prompt holds every observation so far.
const LONGEST_REQUEST: usize = 256 << 20;
/// Requests still being answered get this long when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// A stand-in that is listening. Dropping it ends it at once; [`Running::stop`] lets it finish.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    server: Task<io::Result<()>>,
}

impl StandIn {
    /// Plays `script` at `address` (port 0 takes a free one).
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start(address: SocketAddr, script: Script) -> io::Result<Running> {
        Self::new(script, None).serve(address).await
    }

    /// Plays `script` at `address` for those who know the key.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start_with_key(address: SocketAddr, script: Script, api_key: Secret) -> io::Result<Running> {
        Self::new(script, Some(api_key)).serve(address).await
    }

    /// Goes on the air at `address` (port 0 takes a free one).
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn serve(self, address: SocketAddr) -> io::Result<Running> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { stand_in: self, stats: Mutex::default(), clock: SystemClock::new() });
        let (stop, mut stopped) = watch::channel(false);
        let application = router(Arc::clone(&shared));
        let server = supervise::spawn("stand-in", async move {
            let until = async move {
                // An error means that the handle was dropped, which ends the server too.
                let _ = stopped.wait_for(|stop| *stop).await;
            };
            axum::serve(listener, application).with_graceful_shutdown(until).await
        });
        Ok(Running { address, shared, stop, server })
    }
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// What to give as `--model-base-url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The counters so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats().clone()
    }

    /// Takes no more requests, gives those in flight two seconds, and returns the closing counters.
    pub async fn stop(mut self) -> Stats {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(GRACE, &mut self.server).await;
        self.stats()
    }
}

#[derive(Debug)]
struct Shared {
    stand_in: StandIn,
    stats: Mutex<Stats>,
    clock: SystemClock,
}

impl Shared {
    fn stats(&self) -> std::sync::MutexGuard<'_, Stats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the count of requests in flight, also when a client goes away before its answer.
struct InFlight(Arc<Shared>);

impl InFlight {
    fn begin(shared: &Arc<Shared>) -> Self {
        shared.stats().begin();
        Self(Arc::clone(shared))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.stats().end();
    }
}

fn router(shared: Arc<Shared>) -> Router {
    let api = Router::new().route("/models", get(models)).route("/chat/completions", post(chat));
    Router::new()
        .merge(api.clone())
        .nest("/v1", api)
        .route("/stats", get(stats))
        .fallback(nothing_here)
        .layer(DefaultBodyLimit::max(LONGEST_REQUEST))
        .with_state(shared)
}

async fn models(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !shared.stand_in.admits(authorization(&headers)) {
        return error(StatusCode::UNAUTHORIZED, "the API key is missing or wrong");
    }
    let models: Vec<_> = shared
        .stand_in
        .models()
        .iter()
        .map(|id| json!({ "id": id, "object": "model", "created": 0, "owned_by": "stand-in" }))
        .collect();
    whole(StatusCode::OK, "application/json", json!({ "object": "list", "data": models }).to_string())
}

async fn stats(State(shared): State<Arc<Shared>>) -> Response {
    let stats = json!(*shared.stats());
    whole(StatusCode::OK, "application/json", stats.to_string())
}

async fn nothing_here() -> Response {
    error(StatusCode::NOT_FOUND, "nothing here: the endpoints are /v1/models, /v1/chat/completions and /stats")
}

async fn chat(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let in_flight = InFlight::begin(&shared);
    let now = shared.clock.monotonic();
    let plan = shared.stand_in.answer(authorization(&headers), &body, now, time::wall().as_second());
    shared.stats().count(&plan);
    if !plan.delay.is_zero() {
        tokio::time::sleep(plan.delay).await;
    }
    drop(in_flight);
    respond(plan)
}

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

fn respond(plan: Plan) -> Response {
    let status = StatusCode::from_u16(plan.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match plan.body {
        Body::Whole(kind, text) => whole(status, kind, text),
        Body::Events(events) => {
            let events = stream::iter(events.into_iter().map(|event| Ok::<_, io::Error>(Bytes::from(event))));
            streamed(status, "text/event-stream", Box::pin(events))
        }
        Body::Cut(kind, text) => {
            // The server drops the connection when the body's stream fails; the length promises more than comes.
            let promised = text.len() + 1000;
            let cut = async {
                // What was said so far goes out while this waits; else the client might see no answer at all.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(io::Error::other("cut on purpose"))
            };
            let parts = stream::iter([Ok(Bytes::from(text))]).chain(stream::once(cut));
            let mut response = streamed(status, kind, Box::pin(parts));
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(promised));
            response
        }
    };
    for (name, value) in plan.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn whole(status: StatusCode, kind: &'static str, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, kind)], text).into_response()
}

fn streamed(
    status: StatusCode,
    kind: &'static str,
    parts: Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>,
) -> Response {
    (status, [(header::CONTENT_TYPE, kind)], HttpBody::from_stream(parts)).into_response()
}

fn error(status: StatusCode, message: &str) -> Response {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } });
    whole(status, "application/json", body.to_string())
}
