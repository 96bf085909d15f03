//! Optional encryption: [`TlsServer`] and [`TlsClient`], made from PEM files.
//!
//! TLS 1.3 only, since both ends are ours. The certificate tells a client that it talks to the right host; who may
//! talk to it is decided by the secret of the realm, inside the encrypted connection.
//!
//! In a build without the feature `tls` the same names stand for what cannot be made (`absent.rs`), so that nothing
//! outside of this folder asks for the feature.

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod config;
mod error;
#[cfg(feature = "tls")]
mod session;

#[cfg(not(feature = "tls"))]
pub(crate) use absent::{Session, TlsStream, is_refusal};
#[cfg(not(feature = "tls"))]
pub use absent::{TlsClient, TlsServer};
#[cfg(feature = "tls")]
pub use config::{TlsClient, TlsServer};
pub use error::TlsError;
#[cfg(feature = "tls")]
pub(crate) use session::{Session, TlsStream, is_refusal};
