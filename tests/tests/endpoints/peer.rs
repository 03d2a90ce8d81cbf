//! A TCP server that follows a script, byte by byte, connection by connection.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What the server does next with a connection. At the end of a connection's script it closes it.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// Reads one whole request.
    Read,
    /// Reads a few bytes of a request and leaves the rest: closing then resets the connection.
    Nibble,
    /// Sends bytes.
    Say(Vec<u8>),
    /// Sends bytes one at a time, with a pause between them.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes again and again, this often.
    Repeat(Vec<u8>, usize),
    /// Says nothing until the client goes away.
    Silence,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Request line and headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a request has a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The server.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) addr: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    server: JoinHandle<()>,
}

impl Peer {
    /// Serves the scripts, one a connection in the order of their arrival; the last one serves all further ones.
    pub(crate) async fn start(scripts: Vec<Vec<Do>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (heard, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        let server = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let index = counted.fetch_add(1, Ordering::SeqCst).min(scripts.len().saturating_sub(1));
                let script = scripts.get(index).cloned().unwrap_or_default();
                tokio::spawn(play(stream, script, Arc::clone(&heard)));
            }
        });
        Self { addr, requests, connections, server }
    }

    /// Answers every connection's requests with these responses in order, then again the last one.
    pub(crate) async fn answering(responses: &[Vec<u8>]) -> Self {
        let mut scripts: Vec<Vec<Do>> =
            responses.iter().map(|response| vec![Do::Read, Do::Say(closing(response))]).collect();
        let last = scripts.pop().unwrap_or_default();
        scripts.push(last);
        Self::start(scripts).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn play(mut stream: TcpStream, script: Vec<Do>, heard: Arc<Mutex<Vec<Request>>>) {
    for step in script {
        let went_on = match step {
            Do::Read => match read(&mut stream).await {
                Some(request) => {
                    heard.lock().unwrap().push(request);
                    true
                }
                None => false,
            },
            Do::Nibble => stream.read_exact(&mut [0; 8]).await.is_ok(),
            Do::Say(bytes) => stream.write_all(&bytes).await.is_ok(),
            Do::Drip(bytes, pause) => {
                let mut alive = true;
                for byte in bytes {
                    alive = alive && stream.write_all(&[byte]).await.is_ok();
                    tokio::time::sleep(pause).await;
                }
                alive
            }
            Do::Repeat(bytes, times) => {
                let mut alive = true;
                for _ in 0..times {
                    alive = alive && stream.write_all(&bytes).await.is_ok();
                }
                alive
            }
            Do::Silence => {
                // Ends when the client closes its side.
                while stream.read(&mut [0; 1024]).await.is_ok_and(|count| count > 0) {}
                false
            }
        };
        if !went_on {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut request = Request { head, body: bytes.split_off(head_end) };
    let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while request.body.len() < length {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        request.body.extend_from_slice(&buffer[..count]);
    }
    Some(request)
}

/// A whole response that leaves the connection open.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut text = format!("HTTP/1.1 {status} Scripted\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    [text.into_bytes(), body.to_vec()].concat()
}

/// A good reply with this text.
pub(crate) fn reply(text: &str) -> Vec<u8> {
    let body = serde_json::json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    });
    response(200, &[("content-type", "application/json")], body.to_string())
}

/// The same response, saying that the connection ends.
fn closing(response: &[u8]) -> Vec<u8> {
    let end = response.windows(2).position(|window| window == b"\r\n").expect("a response has a status line") + 2;
    [&response[..end], b"connection: close\r\n", &response[end..]].concat()
}
