//! Removing what applications leave behind.
//!
//! Local directories go as soon as their application is over. Work directories hold logs that people may want,
//! so they go by age.

use std::collections::BTreeSet;

use firesteel_types::{AppId, DriverId, Timestamp};

use super::{
    effect::{WorkerEffect, WorkerIgnored},
    event::DirListing,
    machine::{Worker, ignore},
    timers::Timer,
};

impl Worker {
    pub(super) fn start_cleaning(&mut self, now: Timestamp) {
        if self.config.cleaning_enabled {
            self.timers.set(Timer::Clean, now + self.config.cleaning_interval);
        }
    }

    pub(super) fn on_cleaning_due(&mut self, now: Timestamp, at: Timestamp, out: &mut Vec<WorkerEffect>) {
        out.push(WorkerEffect::ListDirs { work_dir: self.config.work_dir.clone() });
        self.set_again(Timer::Clean, at, self.config.cleaning_interval, now);
    }

    /// Removes the directories whose application or driver does not live here and that have nothing new.
    ///
    /// What lives is looked up now and not when the list was asked for: an executor may have started since.
    pub(super) fn on_dirs_listed(
        &mut self,
        now: Timestamp,
        dirs: Vec<DirListing>,
        out: &mut Vec<WorkerEffect>,
    ) {
        let apps = self.executors.keys().map(|key| key.app.as_str());
        let in_use: BTreeSet<&str> = apps.chain(self.drivers.keys().map(DriverId::as_str)).collect();
        for dir in dirs {
            let is_old = dir.newest + self.config.app_data_retention <= now;
            if is_old && !in_use.contains(dir.name.as_str()) {
                out.push(WorkerEffect::RemoveDir { dir: format!("{}/{}", self.config.work_dir, dir.name) });
            }
        }
    }

    pub(super) fn on_application_finished(&mut self, app: AppId, out: &mut Vec<WorkerEffect>) {
        if !self.app_dirs.contains_key(&app) {
            return ignore(WorkerIgnored::NothingToClean { app }, out);
        }
        self.finished_apps.insert(app.clone());
        self.clean_finished_app(&app, out);
    }

    /// Removes the local directories of `app` if it is over and its last executor here is gone.
    pub(super) fn clean_finished_app(&mut self, app: &AppId, out: &mut Vec<WorkerEffect>) {
        if self.has_executors_of(app) || !self.finished_apps.remove(app) {
            return;
        }
        let local_dirs =
            self.app_dirs.remove(app).expect("only applications with directories are kept as finished");
        out.push(WorkerEffect::ForgetApp { app: app.clone(), local_dirs });
    }
}
