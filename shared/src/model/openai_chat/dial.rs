//! Tells whether a request went over a new connection or over one that had been kept.
//!
//! A server may close a kept connection at the very moment a request is sent over it. Such a request may be repeated
//! once without asking whether retries are left; one that failed on a new connection may not. The HTTP library does
//! not say which it was, but it dials within the task that sends the request: so the dialling leaves a mark there.

use std::{
    cell::Cell,
    task::{Context, Poll},
};

use tower::{Layer, Service};

tokio::task_local! {
    static DIALLED: Cell<bool>;
}

/// Runs `request` and says whether a connection was dialled meanwhile.
pub(super) async fn watch<F: Future>(request: F) -> (F::Output, bool) {
    DIALLED
        .scope(Cell::new(false), async {
            let output = request.await;
            (output, DIALLED.with(Cell::get))
        })
        .await
}

/// Puts the mark on every dialling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark;

impl<S> Layer<S> for Mark {
    type Service = Marked<S>;

    fn layer(&self, inner: S) -> Marked<S> {
        Marked(inner)
    }
}

/// A connector that leaves the mark.
#[derive(Clone, Debug)]
pub(super) struct Marked<S>(S);

impl<R, S: Service<R>> Service<R> for Marked<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        // Outside a request (the library dials ahead) nobody asks.
        let _ = DIALLED.try_with(|dialled| dialled.set(true));
        self.0.call(request)
    }
}
