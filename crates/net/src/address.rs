//! Where a process listens: [`Address`].

use std::{fmt, net::SocketAddr, str::FromStr};

use firesteel_types::Host;
use serde::{Deserialize, Serialize};

/// The host and port of a listener.
///
/// ```
/// use firesteel_net::Address;
///
/// let address: Address = "worker-3.example.org:7078".parse()?;
/// assert_eq!((address.host.as_str(), address.port), ("worker-3.example.org", 7078));
/// assert_eq!(address.to_string(), "worker-3.example.org:7078");
/// assert_eq!("[::1]:80".parse::<Address>()?.to_string(), "[::1]:80");
/// # Ok::<(), firesteel_net::BadAddress>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address {
    /// The host, as a name or as an IP address, without brackets.
    pub host: Host,
    /// The port.
    pub port: u16,
}

/// A text that is not a host and a port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address; give host:port, for example master.example.org:7077")]
pub struct BadAddress {
    /// The text.
    pub text: String,
}

impl Address {
    /// The listener at `port` of `host`.
    pub fn new(host: impl Into<Host>, port: u16) -> Self {
        Self { host: host.into(), port }
    }
}

impl From<SocketAddr> for Address {
    fn from(addr: SocketAddr) -> Self {
        Self::new(addr.ip().to_string(), addr.port())
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress { text: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        // Without brackets it is ambiguous where an IPv6 address ends and its port begins.
        let host = inner.or_else(|| (!host.contains([':', '[', ']'])).then_some(host)).ok_or_else(bad)?;
        if host.is_empty() || host.contains([' ', '/', '@']) {
            return Err(bad());
        }
        Ok(Self::new(host, port.parse().map_err(|_| bad())?))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.as_str() {
            host if host.contains(':') => write!(out, "[{host}]:{}", self.port),
            host => write!(out, "{host}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_addresses_are_refused_and_named() {
        for text in
            ["", "host", ":80", "host:", "host:65536", "host:-1", "::1:80", "[::1:80", "a/b:1", "http://h:1"]
        {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }

    #[test]
    fn the_address_of_a_socket_can_be_written_and_read_again() {
        for socket in ["127.0.0.1:7077", "[2001:db8::1]:0"] {
            let address = Address::from(socket.parse::<SocketAddr>().unwrap());
            assert_eq!(address.to_string(), socket);
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }
}
