//! Long-running parts: named tasks that end with their owner, and shutdown in two steps.
//!
//! Shutdown is a value, not a global: [`Shutdown::drain`] asks to finish what is under way and take nothing new,
//! [`Shutdown::stop`] asks to end at once.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::task::{JoinError, JoinHandle};
pub use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// A spawned task that is aborted when its handle is dropped, so that no work outlives its owner unnoticed.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    /// Whether it has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Ends it at its next await.
    pub fn abort(&self) {
        self.0.abort();
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

/// Starts a task whose log lines carry `name`.
#[allow(clippy::disallowed_methods, reason = "the one place that spawns")]
pub fn spawn<F>(name: &'static str, future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Task(tokio::spawn(future.instrument(tracing::info_span!("task", name))))
}

/// Starts a task that nobody holds: it ends by itself when what it listens to is gone.
#[allow(clippy::disallowed_methods, reason = "the one place that spawns")]
pub fn detach<F>(name: &'static str, future: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(future.instrument(tracing::info_span!("task", name)));
}

/// Two requests to end, the second stronger than the first.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Finish what is under way, take nothing new.
    pub drain: CancellationToken,
    /// End at once.
    pub stop: CancellationToken,
}

impl Shutdown {
    /// A shutdown nobody has asked for yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A shutdown that follows SIGINT and SIGTERM: the first drains, the second stops.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn on_signals() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let shutdown = Self::new();
        let tokens = shutdown.clone();
        // It lives as long as the process: a signal may come at any time.
        detach("signals", async move {
            for token in [&tokens.drain, &tokens.stop] {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                token.cancel();
            }
        });
        Ok(shutdown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dropped_handle_ends_its_task() {
        let token = CancellationToken::new();
        let guard = token.clone().drop_guard();
        let task = spawn("endless", async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        tokio::task::yield_now().await;
        assert!(!task.is_finished());
        drop(task);
        token.cancelled().await;
    }
}
