//! `firesteel master`.

use std::{process::ExitCode, sync::Arc};

use anyhow::Result;
use firesteel::settings;
use firesteel_deploy::{
    Ending,
    master::MasterServer,
    submit::{SubmitClient, SubmitConf},
};
use firesteel_ui::{Pages, Site};
use tracing::level_filters::LevelFilter;

use super::{
    master_conf::master_conf,
    place::{Place, port},
    ready::Ready,
    stopping::{Daemon, leave_session, run_until_stopped},
};
use crate::{args::MasterArgs, exit, log};

impl Daemon for MasterServer {
    fn stop(&self) {
        Self::stop(self);
    }

    fn wait(&self) -> Ending {
        Self::wait(self)
    }
}

/// Runs a master until it is told to stop.
pub(crate) fn run_master(args: &MasterArgs) -> Result<ExitCode> {
    log::start(LevelFilter::INFO);
    leave_session(args.daemon.new_session);
    let conf = args.conf()?;
    let place = Place::new(&conf, settings::MASTER_HOST)?;
    let server = Arc::new(MasterServer::start(master_conf(&conf, &place)?)?);
    let site =
        Site::start(&place.site(port(&conf, settings::MASTER_UI_PORT)), Pages::master(server.clone()))?;
    let rest = if conf.get(settings::MASTER_REST_ENABLED) {
        let client = SubmitConf {
            security: place.security.clone(),
            ..SubmitConf::new(vec![server.address().clone()])
        };
        let pages =
            Pages::submissions(SubmitClient::new(client), server.url(), place.security.secret.clone());
        Some(Site::start(&place.site(port(&conf, settings::MASTER_REST_PORT)), pages)?)
    } else {
        None
    };
    let ready = Ready {
        role: "master".to_owned(),
        url: server.url(),
        page: site.url(),
        rest: rest.as_ref().map(Site::url),
    };
    ready.say();
    let ending = run_until_stopped(&server)?;
    drop((site, rest));
    Ok(exit::code(ending.code()))
}
