//! Asking a site over a plain connection, for tests.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use super::{Pages, Site, SiteConf};

/// Longer than anything takes that works.
pub(crate) const GUARD: Duration = Duration::from_secs(30);

/// What a site answered.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Fetched {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }
}

/// A site of this machine at any port.
pub(crate) fn site(pages: Pages) -> Site {
    Site::start(&SiteConf::new("127.0.0.1", 0), pages).expect("there is a free port")
}

pub(crate) fn connect(site: &Site) -> TcpStream {
    let stream = TcpStream::connect(site.address().to_string()).expect("the site listens");
    stream.set_read_timeout(Some(GUARD)).expect("not zero");
    stream
}

/// Sends `request` as it is, and gives all that comes until the site hangs up.
pub(crate) fn exchange(site: &Site, request: &[u8]) -> String {
    let mut stream = connect(site);
    // A site that has heard enough may hang up early.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Asks with a method, more lines of the head and a body.
pub(crate) fn request(site: &Site, method: &str, path: &str, head: &str, body: &str) -> Fetched {
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n{body}"
    );
    parse(&exchange(site, text.as_bytes()))
}

pub(crate) fn get(site: &Site, path: &str) -> Fetched {
    request(site, "GET", path, "", "")
}

pub(crate) fn parse(answer: &str) -> Fetched {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status: {head}"));
    Fetched { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}
