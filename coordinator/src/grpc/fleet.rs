//! `FleetService`.

use std::{pin::Pin, time::Duration};

use argosy_proto::v1::{self, fleet_service_server::FleetService};
use argosy_shared::{
    id::ExecutionKey,
    spec::EnvironmentId,
    supervise,
    trajectory::StepRecord,
    wire::{self, CHUNK_BYTES},
};
use bytes::{Bytes, BytesMut};
use tokio::{fs::File, io::AsyncReadExt as _, sync::mpsc};
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{Request, Response, Status, Streaming};

use super::status;
use crate::engine::{Handle, Registering};

/// The largest result accepted. A trajectory of 25 turns with observations of 1 MiB each stays far below.
const MAX_RESULT_BYTES: u64 = 1 << 30;
/// Steps in one call at most; a worker sends far fewer.
const MAX_STEPS: usize = 1024;
/// The longest a lease request may wait.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The service; clones share the engine.
#[derive(Clone)]
pub struct Fleet {
    engine: Handle,
}

impl Fleet {
    /// The service of an engine.
    #[must_use]
    pub fn new(engine: Handle) -> Self {
        Self { engine }
    }
}

#[tonic::async_trait]
impl FleetService for Fleet {
    async fn register(&self, request: Request<v1::RegisterRequest>) -> Result<Response<v1::RegisterResponse>, Status> {
        let request = request.into_inner();
        let worker = Registering {
            name: request.worker_name,
            version: request.argosy_version,
            // An environment this coordinator has never heard of cannot be asked for either.
            environments: request.environments.iter().filter_map(|id| EnvironmentId::parse(id).ok()).collect(),
            slots: request.slots,
        };
        let registered = self.engine.register(worker).await.map_err(status)?;
        Ok(Response::new(v1::RegisterResponse {
            session: registered.session,
            lease_ms: millis(registered.lease),
            renew_ms: millis(registered.renew),
        }))
    }

    async fn lease(&self, request: Request<v1::LeaseRequest>) -> Result<Response<v1::LeaseResponse>, Status> {
        let request = request.into_inner();
        let wait = Duration::from_millis(request.wait_ms).min(MAX_WAIT);
        let leases = self.engine.lease(&request.session, request.free, wait).await.map_err(status)?;
        let encode = |lease: crate::engine::Lease| {
            let assignment = serde_json::to_vec(&lease.assignment)
                .map_err(|error| Status::internal(format!("assignment: {error}")))?;
            Ok::<_, Status>(v1::Lease {
                execution: Some(wire::execution_ref(&lease.assignment.key)),
                assignment: Bytes::from(assignment),
                api_key: lease.api_key.expose().to_owned(),
            })
        };
        Ok(Response::new(v1::LeaseResponse {
            draining: leases.draining,
            leases: leases.granted.into_iter().map(encode).collect::<Result<_, _>>()?,
        }))
    }

    async fn renew(&self, request: Request<v1::RenewRequest>) -> Result<Response<v1::RenewResponse>, Status> {
        let request = request.into_inner();
        let held = request.held.iter().map(|held| wire::execution_key(Some(held))).collect::<Result<_, _>>()?;
        let renewed = self.engine.renew(&request.session, held).await.map_err(status)?;
        Ok(Response::new(v1::RenewResponse {
            lost: renewed.lost.iter().map(wire::execution_ref).collect(),
            draining: renewed.draining,
        }))
    }

    async fn steps(&self, request: Request<Streaming<v1::StepDelta>>) -> Result<Response<v1::StepsResponse>, Status> {
        let mut deltas = request.into_inner();
        let mut head: Option<(String, ExecutionKey)> = None;
        let mut steps = Vec::new();
        while let Some(delta) = deltas.message().await? {
            let key = wire::execution_key(delta.execution.as_ref())?;
            let step: StepRecord = serde_json::from_slice(&delta.step)
                .map_err(|error| Status::invalid_argument(format!("step {}: {error}", delta.step_id)))?;
            match &head {
                Some((_, first)) if *first != key => {
                    return Err(Status::invalid_argument("one call carries the steps of one execution"));
                }
                Some(_) => {}
                None => head = Some((delta.session, key)),
            }
            steps.push(step);
            if steps.len() > MAX_STEPS {
                return Err(Status::invalid_argument(format!("more than {MAX_STEPS} steps in one call")));
            }
        }
        if let Some((session, key)) = head {
            self.engine.steps(&session, key, steps).await.map_err(status)?;
        }
        Ok(Response::new(v1::StepsResponse {}))
    }

    type FetchBlobStream = Pin<Box<dyn Stream<Item = Result<v1::Chunk, Status>> + Send>>;

    async fn fetch_blob(
        &self,
        request: Request<v1::FetchBlobRequest>,
    ) -> Result<Response<Self::FetchBlobStream>, Status> {
        let request = request.into_inner();
        let path = self.engine.blob(&request.session, &request.sha256).await.map_err(status)?;
        let path = path.ok_or_else(|| Status::not_found(format!("no data file {}", request.sha256)))?;
        let mut file =
            File::open(&path).await.map_err(|error| Status::unavailable(format!("{}: {error}", path.display())))?;
        let (sender, receiver) = mpsc::channel(4);
        let sending = supervise::spawn("send blob", async move {
            loop {
                let mut chunk = BytesMut::with_capacity(CHUNK_BYTES);
                let message = match file.read_buf(&mut chunk).await {
                    Ok(0) => return,
                    Ok(_) => Ok(v1::Chunk { data: chunk.freeze() }),
                    Err(error) => Err(Status::unavailable(error.to_string())),
                };
                // The worker may have gone; then nobody wants the rest.
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(Owned { stream: ReceiverStream::new(receiver), _sending: sending })))
    }

    async fn upload_result(
        &self,
        request: Request<Streaming<v1::ResultChunk>>,
    ) -> Result<Response<v1::UploadResultResponse>, Status> {
        let mut chunks = request.into_inner();
        let head = chunks.message().await?.ok_or_else(|| Status::invalid_argument("an empty upload"))?;
        let key = wire::execution_key(head.execution.as_ref())?;
        if head.total_bytes > MAX_RESULT_BYTES {
            return Err(Status::failed_precondition(format!(
                "a result of {} bytes is larger than the {MAX_RESULT_BYTES} accepted",
                head.total_bytes
            )));
        }
        let total = usize::try_from(head.total_bytes).map_err(|_| Status::failed_precondition("result too large"))?;
        let mut body = BytesMut::from(head.data.as_ref());
        while let Some(chunk) = chunks.message().await? {
            body.extend_from_slice(&chunk.data);
            if body.len() > total {
                return Err(Status::invalid_argument("more bytes than announced"));
            }
        }
        if body.len() != total {
            return Err(Status::unavailable(format!("{} of {total} bytes arrived", body.len())));
        }
        let accepted = self.engine.result(&head.session, key, body.freeze()).await.map_err(status)?;
        Ok(Response::new(v1::UploadResultResponse { accepted }))
    }

    async fn report(&self, request: Request<v1::ReportRequest>) -> Result<Response<v1::ReportResponse>, Status> {
        let request = request.into_inner();
        let key = wire::execution_key(request.execution.as_ref())?;
        match request.outcome {
            Some(v1::report_request::Outcome::Released(released)) => {
                self.engine.release(&request.session, key, released.reason).await.map_err(status)?;
            }
            None => return Err(Status::invalid_argument("outcome is missing")),
        }
        Ok(Response::new(v1::ReportResponse {}))
    }

    async fn deregister(
        &self,
        request: Request<v1::DeregisterRequest>,
    ) -> Result<Response<v1::DeregisterResponse>, Status> {
        self.engine.deregister(&request.into_inner().session).await.map_err(status)?;
        Ok(Response::new(v1::DeregisterResponse {}))
    }
}

/// A stream that ends the task which feeds it.
struct Owned<S> {
    stream: S,
    _sending: supervise::Task<()>,
}

impl<S: Stream + Unpin> Stream for Owned<S> {
    type Item = S::Item;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        Pin::new(&mut self.stream).poll_next(context)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
