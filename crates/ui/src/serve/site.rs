//! A site that is served: [`Site`].

use std::{
    io,
    net::TcpListener,
    thread::{self, JoinHandle},
    time::Duration,
};

use axum::{Router, extract::DefaultBodyLimit, middleware::from_fn_with_state};
use firesteel_deploy::{Security, reachable_host};
use firesteel_net::Address;
use parking_lot::Mutex;
use tokio::{runtime::Builder, sync::oneshot};

use super::{
    connections::{Limits, take_connections},
    error::SiteError,
    guard::{Guard, guard},
    pages::Pages,
};

/// The longest body of a request.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Number of pages that are made at a time; further requests wait.
const CONCURRENT_PAGES_MAX: usize = 4;
/// How long stopping a site waits for pages that are being made.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Where a site is served.
#[derive(Clone, Debug)]
pub struct SiteConf {
    /// Where it listens.
    pub host: String,
    /// The name by which others reach it; what it listens at when there is none.
    pub public_host: Option<String>,
    /// The port it listens on; 0 is any.
    pub port: u16,
    /// How many further ports are tried when that one is taken.
    pub port_tries: u16,
    /// Whether the cluster has a secret: without one a site listens for this machine only.
    pub security: Security,
}

impl SiteConf {
    /// A site at `port` of `host`, or at one of the ports above it, of a cluster without a secret.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        let security = Security::default();
        Self { host: host.into(), public_host: None, port, port_tries: 16, security }
    }
}

/// A port that is taken for pages which are still to be made, so that their address can be told to others before.
#[derive(Debug)]
pub struct BoundSite {
    address: Address,
    listener: TcpListener,
    guard: Guard,
}

impl BoundSite {
    /// Takes a port. Who connects waits until pages are served.
    pub fn bind(conf: &SiteConf) -> Result<Self, SiteError> {
        conf.security.check_listen(&conf.host, conf.port)?;
        let listener = bind(conf)?;
        let failed = |source| SiteError::Bind {
            host: conf.host.clone(),
            port: conf.port,
            tries: conf.port_tries,
            source,
        };
        listener.set_nonblocking(true).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let host = reachable_host(&conf.host, conf.public_host.as_deref());
        let guard = Guard::new(&conf.host, bound);
        Ok(Self { address: Address::new(host, bound.port()), listener, guard })
    }

    /// Its address as a browser takes it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers from now on.
    pub fn serve(self, pages: Pages) -> Result<Site, SiteError> {
        self.serve_within(pages, Limits::default())
    }

    pub(super) fn serve_within(self, pages: Pages, limits: Limits) -> Result<Site, SiteError> {
        let Self { address, listener, guard } = self;
        let (stop, stopped) = oneshot::channel();
        let named = address.clone();
        let thread = thread::Builder::new()
            .name("firesteel-ui".to_owned())
            .spawn(move || {
                if let Err(error) = serve(listener, pages, guard, limits, stopped) {
                    tracing::error!(address = %named, %error, "the pages cannot be served");
                }
            })
            .map_err(|source| SiteError::Thread { source })?;
        tracing::debug!(%address, "pages are served");
        Ok(Site { address, running: Mutex::new(Some((stop, thread))) })
    }
}

/// Pages that are served, on a thread of their own, until they are stopped or dropped.
#[derive(Debug)]
pub struct Site {
    address: Address,
    running: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Site {
    /// Listens, and answers from then on.
    ///
    /// Cheap: the caller binds a socket and starts a thread; all else is done there.
    pub fn start(conf: &SiteConf, pages: Pages) -> Result<Self, SiteError> {
        BoundSite::bind(conf)?.serve(pages)
    }

    /// Where others reach it.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its address as a browser takes it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Closes every connection and ends its threads. Stopping again does nothing.
    pub fn stop(&self) {
        let Some((stop, thread)) = self.running.lock().take() else { return };
        // Its thread may have ended by itself.
        let _ = stop.send(());
        if thread.join().is_err() {
            tracing::error!("the thread of the pages panicked");
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes the first port that is free.
fn bind(conf: &SiteConf) -> Result<TcpListener, SiteError> {
    let last = if conf.port == 0 { 0 } else { conf.port.saturating_add(conf.port_tries) };
    let mut taken = io::Error::from(io::ErrorKind::AddrInUse);
    for port in conf.port..=last {
        match TcpListener::bind((conf.host.as_str(), port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => taken = error,
            Err(error) => {
                taken = error;
                break;
            }
        }
    }
    let SiteConf { host, port, port_tries, .. } = conf.clone();
    Err(SiteError::Bind { host, port, tries: port_tries, source: taken })
}

fn serve(
    listener: TcpListener,
    pages: Pages,
    guarded: Guard,
    limits: Limits,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(CONCURRENT_PAGES_MAX)
        .thread_name("firesteel-ui-ask")
        .build()?;
    let router: Router =
        pages.router().layer(DefaultBodyLimit::max(BODY_BYTES_MAX)).layer(from_fn_with_state(guarded, guard));
    let outcome = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let taking = tokio::spawn(take_connections(listener, router, limits));
        // Also ends when the sender is dropped.
        let _ = stopped.await;
        taking.abort();
        Ok(())
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    outcome
}
