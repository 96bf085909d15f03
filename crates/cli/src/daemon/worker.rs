//! `firesteel worker`.

use std::{process::ExitCode, sync::Arc};

use anyhow::Result;
use firesteel::settings;
use firesteel_deploy::{
    Ending,
    worker::{WorkerServer, WorkerServerConf},
};
use firesteel_ui::{BoundSite, Pages};
use tracing::level_filters::LevelFilter;

use super::{
    place::{Place, port},
    ready::Ready,
    stopping::{Daemon, leave_session, run_until_stopped},
    worker_conf::worker_conf,
};
use crate::{args::WorkerArgs, exit, log};

impl Daemon for WorkerServer {
    fn stop(&self) {
        Self::stop(self);
    }

    fn wait(&self) -> Ending {
        Self::wait(self)
    }
}

/// Runs a worker until it is told to stop, or finds no master.
pub(crate) fn run_worker(args: &WorkerArgs) -> Result<ExitCode> {
    log::start(LevelFilter::INFO);
    leave_session(args.daemon.new_session);
    let conf = args.conf()?;
    let place = Place::new(&conf, settings::WORKER_HOST)?;
    let worker = worker_conf(&conf, &place, args)?;
    // The port comes first: the worker tells its master where its pages are.
    let site = BoundSite::bind(&place.site(port(&conf, settings::WORKER_UI_PORT)))?;
    let server = Arc::new(WorkerServer::start(WorkerServerConf { page: Some(site.url()), ..worker })?);
    let site = site.serve(Pages::worker(server.clone()))?;
    let (url, page) = (server.address().to_string(), site.url());
    Ready { role: "worker".to_owned(), url, page, rest: None }.say();
    let ending = run_until_stopped(&server)?;
    drop(site);
    Ok(exit::code(ending.code()))
}
