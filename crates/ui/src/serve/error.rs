//! Why a site cannot be served: [`SiteError`].

use std::io;

use firesteel_deploy::DeployError;

/// Why a site cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SiteError {
    /// Others could connect, and the cluster has no secret.
    #[error(transparent)]
    Unprotected(#[from] DeployError),
    /// The address is taken, or not this machine's.
    #[error("cannot serve pages at {host}:{port}{}: {source}", also_tried(*.port, *.tries))]
    Bind { host: String, port: u16, tries: u16, source: io::Error },
    /// The operating system gives no thread.
    #[error("cannot start the thread of the pages: {source}")]
    Thread { source: io::Error },
}

fn also_tried(port: u16, tries: u16) -> String {
    match (port, tries) {
        (0, _) | (_, 0) => String::new(),
        _ => format!(" or one of the {tries} ports above it"),
    }
}
