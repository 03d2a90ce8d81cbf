//! The frames between worker and Python: a tag of 16 bytes, the length of the payload in 4 bytes (big endian), the
//! payload. Pure.
//!
//! The tag is what makes an answer an answer. The worker makes up a new one for each request; bytes that begin with
//! anything else are refused at the first that differs, so garbage on the connection is noticed at once and never
//! waited for.

use std::{fs::File, io::Read as _, time::Duration};

/// Bytes before a payload.
pub const HEADER_BYTES: usize = TAG_BYTES + 4;

const TAG_BYTES: usize = 16;
/// Bytes of a reply before its text: wall time in nanoseconds and bytes cut, 8 each.
const REPLY_HEADER_BYTES: usize = 16;
/// What the marker in a cut observation may take.
const MARKER_BYTES: usize = 128;

/// The first bytes of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tag([u8; TAG_BYTES]);

impl Tag {
    /// The process's first words begin with it.
    pub const HELLO: Self = Self(*b"argosy-python-01");
    /// The frame with the program begins with it, and the one that says that it is enough.
    pub const START: Self = Self(*b"argosy-worker-01");

    /// One that nobody can guess.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; TAG_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// A tag of known bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; TAG_BYTES]) -> Self {
        Self(bytes)
    }

    /// As hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }
}

impl std::fmt::Debug for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tag(..)") // what a log shows can be read
    }
}

/// Why bytes are no frame or no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The first bytes are not those of the expected tag.
    #[error("it does not begin with the tag of its request")]
    ForeignTag,
    /// The length is more than can be.
    #[error("its length is given as {length} bytes, {limit} are the most")]
    TooLong {
        /// As the header says.
        length: usize,
        /// The most.
        limit: usize,
    },
    /// More bytes follow than the header announced.
    #[error("{0} bytes follow its end")]
    Excess(usize),
    /// A reply without room for its numbers.
    #[error("it has {0} bytes, a reply has at least {REPLY_HEADER_BYTES}")]
    TooShort(usize),
    /// The observation is not text.
    #[error("its text is not UTF-8")]
    NotText,
}

/// The header of a frame.
///
/// # Panics
/// The payload has 4 GiB or more.
#[must_use]
pub fn header(tag: &Tag, payload: &[u8]) -> [u8; HEADER_BYTES] {
    let length = u32::try_from(payload.len()).expect("a payload below 4 GiB");
    let mut header = [0; HEADER_BYTES];
    header[..TAG_BYTES].copy_from_slice(&tag.0);
    header[TAG_BYTES..].copy_from_slice(&length.to_be_bytes());
    header
}

/// The payload that asks to run code. It is never empty: an empty one says that it is enough.
#[must_use]
pub fn request(code: &str) -> Vec<u8> {
    [b"x", code.as_bytes()].concat()
}

/// The longest payload of a reply whose observation is capped at `limit` bytes.
#[must_use]
pub fn reply_limit(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(REPLY_HEADER_BYTES + MARKER_BYTES)
}

/// Puts one frame together from the pieces in which it arrives. Never holds more than the limit.
#[derive(Debug)]
pub struct Decoder {
    tag: Tag,
    limit: usize,
    header: Vec<u8>,
    payload: Vec<u8>,
}

impl Decoder {
    /// Expects a frame with this tag and a payload of at most `limit` bytes.
    #[must_use]
    pub fn new(tag: &Tag, limit: usize) -> Self {
        Self { tag: *tag, limit, header: Vec::with_capacity(HEADER_BYTES), payload: Vec::new() }
    }

    /// Takes the next bytes; `Some` is the payload, and then nothing may follow.
    ///
    /// # Errors
    /// The bytes cannot belong to the expected frame. The decoder is of no use afterwards.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if self.header.len() < HEADER_BYTES {
            let taken;
            (taken, bytes) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.header.len()));
            self.header.extend_from_slice(taken);
        }
        let seen = self.header.len().min(TAG_BYTES);
        if self.header[..seen] != self.tag.0[..seen] {
            return Err(Error::ForeignTag);
        }
        let Some(length) = self.length() else { return Ok(None) };
        if length > self.limit {
            return Err(Error::TooLong { length, limit: self.limit });
        }
        let missing = length - self.payload.len();
        if bytes.len() > missing {
            return Err(Error::Excess(bytes.len() - missing));
        }
        self.payload.extend_from_slice(bytes);
        Ok((self.payload.len() == length).then(|| std::mem::take(&mut self.payload)))
    }

    fn length(&self) -> Option<usize> {
        let bytes: [u8; 4] = self.header.get(TAG_BYTES..)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Wall time as the process measured it.
    pub elapsed: Duration,
    /// Bytes cut out of the observation.
    pub bytes_cut: u64,
    /// The text.
    pub observation: String,
}

impl Reply {
    /// Reads the payload of a reply.
    ///
    /// # Errors
    /// It is too short, or its text is not UTF-8.
    pub fn parse(mut payload: Vec<u8>) -> Result<Self, Error> {
        let too_short = Error::TooShort(payload.len());
        let number = |at: usize| -> Option<u64> { Some(u64::from_be_bytes(payload.get(at..at + 8)?.try_into().ok()?)) };
        let (Some(elapsed), Some(bytes_cut)) = (number(0), number(8)) else { return Err(too_short) };
        payload.drain(..REPLY_HEADER_BYTES);
        let observation = String::from_utf8(payload).map_err(|_| Error::NotText)?;
        Ok(Self { elapsed: Duration::from_nanos(elapsed), bytes_cut, observation })
    }
}

#[cfg(test)]
mod tests;
