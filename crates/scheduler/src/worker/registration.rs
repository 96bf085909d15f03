//! Finding a master, and finding one again.
//!
//! ```text
//! Idle ──started──> Preparing ──resources known──> Registering ──registered──> Connected
//!                                                   │   ^                         │
//!                              out of tries: Exited <┘   └── lost, or told to ─────┘
//! ```
//!
//! Executors and drivers run on through all of this.

use std::time::Duration;

use firesteel_types::{Rng, Timestamp};

use super::{
    config::WorkerConfig,
    effect::{WorkerEffect, WorkerIgnored},
    machine::{Worker, ignore},
    timers::Timer,
};
use crate::deploy::{
    Addresses, Grant, MasterAddress, ResourceBook, WorkerDescription, WorkerReport, WorkerToMaster,
};

/// How the worker stands to its masters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// Not started.
    Idle,
    /// Finding out what resources there are.
    Preparing,
    /// Asking to be taken in. `last` is the master it had before; its orders still count, since it may be only
    /// the connection that broke.
    Registering { last: Option<ActiveMaster>, tries: u32 },
    /// Taken in.
    Connected { master: ActiveMaster },
    /// Given up.
    Exited,
}

/// The master whose orders count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActiveMaster {
    /// What it calls itself.
    pub(super) address: MasterAddress,
    /// The address by which the worker reached it.
    pub(super) contacted: MasterAddress,
}

/// The times between tries, spread by one random factor so that workers do not all come at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RetryIntervals {
    initial: Duration,
    prolonged: Duration,
}

impl RetryIntervals {
    /// Both intervals times one factor from 0.5 up to, not including, 1.5.
    pub(super) fn new(config: &WorkerConfig, rng: &mut Rng) -> Self {
        const ONE: u32 = 1_000_000;
        let factor = u64::from(ONE / 2) + rng.below(ONE as usize) as u64;
        let scaled = |interval: Duration| {
            let micros = interval.as_micros().saturating_mul(u128::from(factor)) / u128::from(ONE);
            Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
        };
        Self {
            initial: scaled(config.initial_registration_interval),
            prolonged: scaled(config.prolonged_registration_interval),
        }
    }
}

impl Worker {
    pub(super) fn on_started(&mut self, now: Timestamp, out: &mut Vec<WorkerEffect>) {
        if self.link != Link::Idle {
            return ignore(WorkerIgnored::OutOfOrder, out);
        }
        self.link = Link::Preparing;
        self.id = Some(self.id_pattern.worker_id(now, &self.config.host, self.config.port).into());
        let requests = self.config.resources.iter();
        let scripts = requests.filter_map(|(name, request)| {
            request.discovery_script.clone().map(|script| (name.clone(), script))
        });
        out.push(WorkerEffect::Prepare {
            work_dir: self.config.work_dir.clone(),
            resource_file: self.config.resource_file.clone(),
            discovery_scripts: scripts.collect(),
        });
    }

    /// The resource file is the operator's word, so it goes before what a script has found.
    pub(super) fn on_prepared(
        &mut self,
        now: Timestamp,
        from_file: Addresses,
        discovered: Addresses,
        out: &mut Vec<WorkerEffect>,
    ) {
        if self.link != Link::Preparing {
            return ignore(WorkerIgnored::OutOfOrder, out);
        }
        let mut addresses = discovered;
        addresses.extend(from_file);
        for (name, request) in &self.config.resources {
            let found = addresses.get(name).map_or(0, std::collections::BTreeSet::len);
            if found < request.amount as usize {
                let wanted = request.amount;
                let reason = format!("{wanted} addresses of {name} are configured, but {found} were found");
                return self.exit(reason, out);
            }
        }
        self.resources = ResourceBook::new(Grant { addresses, ..self.resources.total().clone() });
        self.register_with_all(now, None, out);
    }

    pub(super) fn on_prepare_failed(&mut self, message: &str, out: &mut Vec<WorkerEffect>) {
        if self.link != Link::Preparing {
            return ignore(WorkerIgnored::OutOfOrder, out);
        }
        self.exit(format!("the worker cannot start: {message}"), out);
    }

    /// The master that was lost may be back in a moment, so nothing is stopped.
    pub(super) fn on_master_lost(
        &mut self,
        now: Timestamp,
        master: MasterAddress,
        out: &mut Vec<WorkerEffect>,
    ) {
        let is_active =
            self.active_master().is_some_and(|active| active.address == master || active.contacted == master);
        if !is_active {
            return ignore(WorkerIgnored::NotActiveMaster { master }, out);
        }
        self.register_again(now, out);
    }

    /// Leaves the active master and looks for one again.
    pub(super) fn register_again(&mut self, now: Timestamp, out: &mut Vec<WorkerEffect>) {
        match &self.link {
            Link::Connected { master } => {
                let last = Some(master.clone());
                self.pause_state_sync();
                self.register_with_all(now, last, out);
            }
            Link::Idle | Link::Preparing | Link::Registering { .. } | Link::Exited => {
                ignore(WorkerIgnored::AlreadyRegistering, out);
            }
        }
    }

    fn register_with_all(&mut self, now: Timestamp, last: Option<ActiveMaster>, out: &mut Vec<WorkerEffect>) {
        self.link = Link::Registering { last, tries: 0 };
        for master in self.config.masters.clone() {
            self.send_registration(master, out);
        }
        self.timers.set(Timer::Register, now + self.retry_intervals.initial);
    }

    fn send_registration(&self, master: MasterAddress, out: &mut Vec<WorkerEffect>) {
        let worker = WorkerDescription {
            id: self.known_id(),
            host: self.config.host.clone(),
            port: self.config.port,
            resources: self.resources.total().clone(),
            page: self.config.page.clone(),
        };
        let message = WorkerToMaster::RegisterWorker { worker, contacted: master.clone() };
        out.push(WorkerEffect::ToMaster { master, message });
    }

    /// No master has answered yet.
    ///
    /// A worker that had a master asks only that one. If it asked all, a new master that has already told the
    /// worker of itself would get a second registration from it (SPARK-4592).
    pub(super) fn on_registration_due(&mut self, now: Timestamp, at: Timestamp, out: &mut Vec<WorkerEffect>) {
        let Link::Registering { last, tries } = &mut self.link else {
            unreachable!("the timer is set only while registering");
        };
        *tries += 1;
        let (tries, last) = (*tries, last.clone());
        if tries > self.config.max_registration_tries {
            return self.exit("all masters are unresponsive, giving up".to_owned(), out);
        }
        match last {
            Some(last) if self.config.prefer_configured_master_address => {
                self.send_registration(last.contacted, out);
            }
            Some(last) => self.send_registration(last.address, out),
            None => {
                for master in self.config.masters.clone() {
                    self.send_registration(master, out);
                }
            }
        }
        let early = tries < self.config.initial_registration_tries;
        let interval = if early { self.retry_intervals.initial } else { self.retry_intervals.prolonged };
        self.set_again(Timer::Register, at, interval, now);
    }

    pub(super) fn on_registered(
        &mut self,
        now: Timestamp,
        master: ActiveMaster,
        out: &mut Vec<WorkerEffect>,
    ) {
        if !self.was_registered {
            self.was_registered = true;
            self.start_heartbeats(now);
            self.start_cleaning(now);
        }
        self.connect(now, master, WorkerToMaster::LatestState, out);
    }

    /// A refusal ends a worker that no master ever took in: most likely it is set up wrongly. One that has
    /// executors to look after goes on trying.
    pub(super) fn on_register_failed(
        &mut self,
        master: MasterAddress,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        if self.was_registered {
            return ignore(WorkerIgnored::RegistrationRefused { master, message }, out);
        }
        self.exit(format!("{master} refused the registration: {message}"), out);
    }

    /// Another master leads now and asks what runs here.
    ///
    /// A worker that was never registered answers too but goes on registering, with that master: the old
    /// master's reply may be lost, and the new one may know only a worker that ran here earlier.
    pub(super) fn on_master_changed(
        &mut self,
        now: Timestamp,
        master: MasterAddress,
        out: &mut Vec<WorkerEffect>,
    ) {
        let active = ActiveMaster { address: master.clone(), contacted: master.clone() };
        match &mut self.link {
            Link::Registering { last, .. } if !self.was_registered => {
                *last = Some(active);
                let state = WorkerToMaster::SchedulerState(self.known_state());
                out.push(WorkerEffect::ToMaster { master: master.clone(), message: state });
                self.send_registration(master, out);
            }
            Link::Registering { .. } | Link::Connected { .. } => {
                self.connect(now, active, WorkerToMaster::SchedulerState, out);
            }
            Link::Idle | Link::Preparing | Link::Exited => ignore(WorkerIgnored::OutOfOrder, out),
        }
    }

    /// Takes `master` as the active one and tells it all that it should know.
    ///
    /// What has ended comes before the list of what runs. So the master takes nothing for lost whose end it is
    /// about to hear, and launches nothing under an id before it has heard of the end of its last bearer.
    fn connect(
        &mut self,
        now: Timestamp,
        master: ActiveMaster,
        state: fn(WorkerReport) -> WorkerToMaster,
        out: &mut Vec<WorkerEffect>,
    ) {
        self.link = Link::Connected { master };
        self.timers.cancel(&Timer::Register);
        self.resume_state_sync(now, out);
        self.resend_driver_ends(out);
        let list = state(self.known_state());
        self.tell(list, out);
        if self.decommissioned {
            self.tell(WorkerToMaster::WorkerDecommissioning { worker: self.known_id() }, out);
        }
    }

    fn known_state(&self) -> WorkerReport {
        self.live().expect("a worker that has started has an id")
    }

    /// The master whose orders count, if there is one.
    pub(super) fn active_master(&self) -> Option<&ActiveMaster> {
        match &self.link {
            Link::Connected { master } => Some(master),
            Link::Registering { last, .. } => last.as_ref(),
            Link::Idle | Link::Preparing | Link::Exited => None,
        }
    }

    /// Sends `message` to the active master. Gives it back when there is no connection to one.
    pub(super) fn tell(
        &self,
        message: WorkerToMaster,
        out: &mut Vec<WorkerEffect>,
    ) -> Option<WorkerToMaster> {
        match &self.link {
            Link::Connected { master } => {
                out.push(WorkerEffect::ToMaster { master: master.address.clone(), message });
                None
            }
            Link::Idle | Link::Preparing | Link::Registering { .. } | Link::Exited => Some(message),
        }
    }
}
