//! What is checked of every request and said with every answer: [`Guard`].
//!
//! A page of another site can make the user's browser send requests to this machine, and with a name of its own that
//! leads here even read the answers. So a site that listens only for this machine answers only those who call it by a
//! name of this machine.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::answer::Answer;

/// Response headers of every page: nothing is loaded from elsewhere, no script runs, no other site frames the page, and
/// nothing is cached.
const RESPONSE_HEADERS: [(HeaderName, HeaderValue); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// By which names a site may be called.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    is_local: bool,
    host: String,
}

impl Guard {
    /// Of a site that was told to listen at `host`, and does at `address`.
    pub(super) fn new(host: &str, address: SocketAddr) -> Self {
        Self { is_local: address.ip().to_canonical().is_loopback(), host: host.to_owned() }
    }

    fn allows(&self, headers: &HeaderMap) -> bool {
        if !self.is_local {
            return true;
        }
        // Without one it is no browser.
        let Some(called) = headers.get(header::HOST) else { return true };
        called.to_str().is_ok_and(|called| self.is_own_name(without_port(called)))
    }

    fn is_own_name(&self, name: &str) -> bool {
        let is_loopback = name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
        is_loopback || name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.host)
    }
}

/// The host of `host:port`, without brackets.
fn without_port(host: &str) -> &str {
    if let Some((inner, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return inner;
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}

/// Lets a request pass, or refuses it.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = if guard.allows(request.headers()) {
        next.run(request).await
    } else {
        let refused = "this site serves its own machine only: call it by localhost or by its address";
        Answer::Text(StatusCode::FORBIDDEN, refused.to_owned()).into_response()
    };
    response.headers_mut().extend(RESPONSE_HEADERS);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_site_answers_only_to_names_of_its_machine() {
        let local = Guard::new("node-1", "127.0.0.1:80".parse().unwrap());
        let open = Guard::new("0.0.0.0", "0.0.0.0:80".parse().unwrap());
        let called = |guard: &Guard, name: &str| {
            guard.allows(&HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(name).unwrap())]))
        };

        for name in ["localhost:8080", "LocalHost", "127.0.0.1:1", "[::1]:8080", "127.9.9.9", "node-1:80"] {
            assert!(called(&local, name), "{name}");
        }
        for name in
            ["evil.example", "localhost.evil.example:8080", "10.0.0.1", "[::2]:1", "", "127.0.0.1.nip.io"]
        {
            assert!(!called(&local, name), "{name}");
        }
        assert!(local.allows(&HeaderMap::new()));
        assert!(called(&open, "whatever.example"), "others may give this machine any name");
    }
}
