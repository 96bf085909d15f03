//! Connections between the processes of a cluster: the one place that opens sockets for control messages.
//!
//! - [`Dialer`] and [`Listener`] make connections. Both ends prove that they know the [`Secret`] of a [`Realm`], and
//!   the connection is encrypted when TLS is configured ([`TlsServer`], [`TlsClient`]). The first bytes say which
//!   [`Service`] a connection is for, so that one port can serve several.
//! - [`Line`] carries messages: sending never waits, and what arrives is given to a [`Handler`] in batches.
//! - [`Stream`] carries bytes, for those who have a protocol of their own, such as the transfer of blocks.
//! - [`Asks`] matches answers with questions.
//!
//! Threads and blocking sockets only: a decision must not pay for the hops of a runtime. What the messages mean, and
//! whether a process may listen beyond its own machine, is not decided here.
//!
//! ```
//! use std::{sync::{Arc, mpsc}, time::Duration};
//!
//! use firesteel_net::*;
//!
//! /// Sends every number back, doubled.
//! struct Doubles(Line<u64>);
//!
//! impl Handler<u64> for Doubles {
//!     fn messages(&mut self, messages: &mut Vec<u64>) {
//!         for number in messages.drain(..) {
//!             // A line that is closed says so to `closed`.
//!             let _ = self.0.send(&(number * 2));
//!         }
//!     }
//!     fn closed(&mut self, _: Closed) {}
//! }
//!
//! struct Tells(mpsc::Sender<u64>);
//!
//! impl Handler<u64> for Tells {
//!     fn messages(&mut self, messages: &mut Vec<u64>) {
//!         messages.drain(..).for_each(|number| self.0.send(number).expect("the test waits"));
//!     }
//!     fn closed(&mut self, _: Closed) {}
//! }
//!
//! let (realm, secret) = (Realm::cluster(), Secret::random());
//! let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
//! let services = Services::new().lines::<u64, u64>(Service::Master, LineConf::default(), |accepted| {
//!     Some(Box::new(Doubles(accepted.line)))
//! });
//! let listener = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services)?;
//!
//! let (tell, told) = mpsc::channel();
//! let to = Address::from(listener.address());
//! let line: Line<u64> =
//!     Dialer::new(realm, secret).line(&to, Service::Master, &LineConf::default(), Tells(tell))?;
//! line.send(&21).expect("the line is open");
//! assert_eq!(told.recv_timeout(Duration::from_secs(10)), Ok(42));
//! # Ok::<(), NetError>(())
//! ```

mod address;
mod asks;
mod connections;
mod dialer;
mod error;
pub mod frame;
mod handshake;
mod hello;
pub mod hex;
mod line;
mod listener;
mod notice;
mod proof;
mod realm;
mod seal;
mod secret;
mod secrets;
mod service;
mod services;
mod stream;
mod tls;

#[cfg(test)]
mod tests;

pub use address::{Address, BadAddress};
pub use asks::{Asks, Pending};
pub use dialer::Dialer;
pub use error::NetError;
pub use hello::{MAGIC, VERSION};
pub use line::{Closed, Handler, Line, LineConf, SendError};
pub use listener::{Listener, ListenerConf};
pub use notice::{notice, set_fallback};
pub use realm::Realm;
pub use secret::{BadSecret, Secret};
pub use secrets::{Keyring, OneSecret, Secrets};
pub use service::Service;
pub use services::{Accepted, Services};
pub use stream::{Stream, is_timeout};
pub use tls::{TlsClient, TlsError, TlsServer};
