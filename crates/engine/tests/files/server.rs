//! A web server that does what a test tells it: [`Server`].
//!
//! It answers one request on each connection and counts them.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// What a client asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The first byte, and the last one if it was named.
    pub(crate) range: Option<(usize, Option<usize>)>,
    pub(crate) accepts: Option<String>,
    /// How many requests came before.
    pub(crate) number: usize,
}

/// What the server sends.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    pub(crate) headers: Vec<String>,
    /// The length that the answer declares; `None` declares none.
    pub(crate) length: Option<usize>,
    pub(crate) body: Vec<u8>,
    /// The body is sent in pieces of so many bytes with a pause behind each.
    pub(crate) pieces: Option<(usize, Duration)>,
}

impl Answer {
    pub(crate) fn new(status: &'static str, body: &[u8]) -> Self {
        Self { status, headers: Vec::new(), length: Some(body.len()), body: body.to_vec(), pieces: None }
    }

    pub(crate) fn header(mut self, line: impl Into<String>) -> Self {
        self.headers.push(line.into());
        self
    }

    /// What a server that behaves well answers.
    pub(crate) fn honest(content: &[u8], request: &Request) -> Self {
        match request.range {
            Some((first, _)) if first >= content.len() => {
                let size = format!("Content-Range: bytes */{}", content.len());
                Self::new("416 Range Not Satisfiable", b"").header(size)
            }
            Some((first, last)) => {
                let end = last.map_or(content.len(), |last| last + 1).min(content.len());
                let range = format!("Content-Range: bytes {first}-{}/{}", end - 1, content.len());
                Self::new("206 Partial Content", &content[first..end]).header(range)
            }
            None => Self::new("200 OK", content),
        }
    }
}

/// Serves until the test's process ends.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let (log, count) = (Arc::clone(&requests), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, answer, count) = (Arc::clone(&log), Arc::clone(&answer), Arc::clone(&count));
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    let Ok(request) = read_request(&stream, number) else { return };
                    log.lock().unwrap().push(request.clone());
                    // A client that went away is not the server's trouble.
                    let _ = send(&stream, &request, &answer(&request));
                });
            }
        });
        Self { address, requests }
    }

    /// The address of a file on the server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream, number: usize) -> std::io::Result<Request> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, path, range: None, accepts: None, number };
    for line in lines {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some((first, last)) =
            line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-'))
        {
            request.range = first.parse().ok().map(|first| (first, last.parse().ok()));
        }
        if let Some(accepts) = line.strip_prefix("accept-encoding: ") {
            request.accepts = Some(accepts.to_owned());
        }
    }
    Ok(request)
}

fn send(mut stream: &TcpStream, request: &Request, answer: &Answer) -> std::io::Result<()> {
    let mut head = Vec::new();
    write!(head, "HTTP/1.1 {}\r\nConnection: close\r\n", answer.status)?;
    for line in &answer.headers {
        write!(head, "{line}\r\n")?;
    }
    if let Some(length) = answer.length {
        write!(head, "Content-Length: {length}\r\n")?;
    }
    write!(head, "\r\n")?;
    stream.write_all(&head)?;
    if request.method == "HEAD" {
        return Ok(());
    }
    let Some((bytes, pause)) = answer.pieces else { return stream.write_all(&answer.body) };
    for piece in answer.body.chunks(bytes) {
        stream.write_all(piece)?;
        thread::sleep(pause);
    }
    Ok(())
}
