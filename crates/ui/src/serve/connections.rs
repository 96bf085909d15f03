//! Taking connections and speaking HTTP on them, with a bound on everything.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};

/// How large the head of a request may be.
const HEADER_BYTES_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 100;
/// Delay before the next accept when the process is out of file descriptors or memory for connections.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// What clients may use up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// So many may be connected at a time; further ones wait to be taken.
    pub(super) connections: usize,
    /// How long a client may take to send its request's headers.
    pub(super) header_timeout: Duration,
    /// How long a connection may last in all, however many requests it carries: a client that reads slowly, or not at
    /// all, must not keep its place for ever.
    pub(super) connection_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 128,
            header_timeout: Duration::from_secs(5),
            connection_timeout: Duration::from_secs(30),
        }
    }
}

/// Takes connections for as long as it is not dropped.
pub(super) async fn take_connections(listener: TcpListener, router: Router, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    let _place = place;
                    match timeout(limits.connection_timeout, serve(stream, router, limits.header_timeout))
                        .await
                    {
                        Ok(Ok(())) => {}
                        Ok(Err(error)) => tracing::debug!(%peer, %error, "a connection to the pages broke"),
                        Err(_) => tracing::debug!(%peer, "a connection to the pages took too long"),
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "the pages cannot take a connection");
                sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, router: Router, header_timeout: Duration) -> Result<(), hyper::Error> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await
}
