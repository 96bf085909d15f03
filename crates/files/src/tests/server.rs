//! A web server of one file for tests: [`Server`].
//!
//! It knows `GET` and `HEAD`, and ranges if told to; it answers one request on each connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Whether the server gives parts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ranges {
    Given,
    Ignored,
}

/// Serves a file at `/data/file.txt` until the test's process ends.
pub(super) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn start(name: &'static str, content: Vec<u8>, ranges: Ranges) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        let content = Arc::new(content);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (content, log) = (Arc::clone(&content), Arc::clone(&log));
                // A client that went away is not the server's trouble.
                thread::spawn(move || serve(&stream.unwrap(), name, &content, ranges, &log).ok());
            }
        });
        Self { address, requests }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The requests so far: method, path and range.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    name: &str,
    content: &[u8],
    ranges: Ranges,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut range = None;
    for line in lines {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("range: bytes=") {
            range = Some(value.to_owned());
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    log.lock().unwrap().push(format!("{method} {path} {}", range.as_deref().unwrap_or("-")));

    let range = range.filter(|_| ranges == Ranges::Given);
    let size = content.len();
    let (status, extra, body) = if path.split('?').next() != Some(name) {
        ("404 Not Found", String::new(), &b"no such file"[..])
    } else if let Some(range) = range {
        let (first, last) = range.split_once('-').unwrap();
        let first: usize = first.parse().unwrap();
        let end = last.parse().map_or(size, |last: usize| last + 1).min(size);
        match content.get(first..end).filter(|body| !body.is_empty()) {
            Some(body) => {
                let extra = format!("Content-Range: bytes {first}-{}/{size}\r\n", end - 1);
                ("206 Partial Content", extra, body)
            }
            None => ("416 Range Not Satisfiable", String::new(), &b""[..]),
        }
    } else {
        ("200 OK", String::new(), content)
    };
    let mut out = stream;
    write!(out, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{extra}Connection: close\r\n\r\n", body.len())?;
    if method != "HEAD" {
        out.write_all(body)?;
    }
    Ok(())
}
