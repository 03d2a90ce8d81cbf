//! One end of the connection with the process.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

use super::codec::{self, Decoder, Tag};

/// The worker's end.
#[derive(Debug)]
pub(super) struct Wire {
    stream: UnixStream,
    piece: Vec<u8>,
}

/// Why there is no frame.
#[derive(Debug)]
pub(super) enum Error {
    /// The other end is closed.
    Closed,
    /// Something arrived that is not the expected frame.
    Unreadable(String),
}

impl Wire {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, piece: vec![0; 64 << 10] }
    }

    /// Sends a frame.
    pub(super) async fn send(&mut self, tag: &Tag, payload: &[u8]) -> std::io::Result<()> {
        let frame = [&codec::header(tag, payload), payload].concat();
        self.stream.write_all(&frame).await
    }

    /// Waits for the frame with this tag.
    pub(super) async fn receive(&mut self, tag: &Tag, limit: usize) -> Result<Vec<u8>, Error> {
        let mut decoder = Decoder::new(tag, limit);
        loop {
            let count = self.stream.read(&mut self.piece).await.map_err(|_| Error::Closed)?;
            if count == 0 {
                return Err(Error::Closed);
            }
            match decoder.push(&self.piece[..count]) {
                Ok(Some(payload)) => return Ok(payload),
                Ok(None) => {}
                Err(error) => return Err(Error::Unreadable(error.to_string())),
            }
        }
    }

    /// Makes sure that nothing has arrived that nobody asked for.
    pub(super) fn silent(&mut self) -> Result<(), String> {
        match self.stream.try_read(&mut self.piece) {
            Ok(0) => Err("its connection was closed between two executions".to_owned()),
            Ok(count) => Err(format!("{count} bytes came that nobody asked for")),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(format!("its connection broke between two executions: {error}")),
        }
    }
}
