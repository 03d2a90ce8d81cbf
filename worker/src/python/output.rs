//! What the process writes to stdout and stderr: read at once, so that a full pipe never holds it up, and forgotten but
//! for the end.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use argosy_shared::supervise::{self, Task};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes kept of each stream.
const KEPT: usize = 64 << 10;

/// The ends of both streams and how much there was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The last 64 KiB of stdout.
    pub stdout: Vec<u8>,
    /// All bytes of stdout.
    pub stdout_bytes: u64,
    /// The last 64 KiB of stderr.
    pub stderr: Vec<u8>,
    /// All bytes of stderr.
    pub stderr_bytes: u64,
}

/// A stream that is being emptied.
#[derive(Debug)]
pub(super) struct Drain {
    tail: Arc<Mutex<Tail>>,
    task: Task<()>,
}

#[derive(Debug, Default)]
struct Tail {
    kept: VecDeque<u8>,
    total: u64,
}

impl Drain {
    pub(super) fn new(stream: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let task = supervise::spawn("python output", empty(stream, Arc::clone(&tail)));
        Self { tail, task }
    }

    /// The end of the stream and the number of all its bytes.
    pub(super) fn so_far(&self) -> (Vec<u8>, u64) {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        (tail.kept.iter().copied().collect(), tail.total)
    }

    /// Waits until the stream has ended, at most so long: something in the background may hold it open.
    pub(super) async fn ended(&mut self, most: Duration) {
        if !self.task.is_finished() {
            let _ = tokio::time::timeout(most, &mut self.task).await;
        }
    }
}

impl Tail {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.kept.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let excess = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..excess);
    }
}

async fn empty(mut stream: impl AsyncRead + Unpin, tail: Arc<Mutex<Tail>>) {
    let mut piece = vec![0; KEPT];
    while let Ok(count) = stream.read(&mut piece).await {
        if count == 0 {
            return;
        }
        tail.lock().unwrap_or_else(PoisonError::into_inner).add(&piece[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_kept_and_all_is_counted() {
        let mut text = vec![b'a'; 3 * KEPT];
        text.extend_from_slice(b"the end");
        let mut drain = Drain::new(std::io::Cursor::new(text.clone()));
        drain.ended(Duration::from_secs(60)).await;
        assert_eq!(drain.so_far(), (text[text.len() - KEPT..].to_vec(), text.len() as u64));
        drain.ended(Duration::from_secs(60)).await;
    }
}
