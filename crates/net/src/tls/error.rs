//! What is wrong with the TLS files or names: [`TlsError`].

use std::{error::Error, path::PathBuf};

/// What is wrong with the TLS files or names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum TlsError {
    /// A file cannot be read or holds no PEM of the kind that is wanted.
    #[error("cannot read {what} from {}: {reason}", path.display())]
    File { what: &'static str, path: PathBuf, reason: String },
    /// Certificate and key, or the authorities, cannot be used.
    #[error("cannot use {what} from {}: {source}", path.display())]
    Unusable { what: &'static str, path: PathBuf, source: Box<dyn Error + Send + Sync> },
    /// The name that the certificate must carry is none.
    #[error("{name} cannot be the name in a certificate; set the server name of the TLS client")]
    Name { name: String },
    /// A certificate was given to a program that has no code for it.
    #[error("{}: this program was built without TLS; build firesteel with the feature \"tls\"", path.display())]
    NotBuilt { path: PathBuf },
}
