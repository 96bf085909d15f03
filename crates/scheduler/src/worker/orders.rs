//! Orders of masters, and which master is obeyed.

use firesteel_types::Timestamp;

use super::{
    effect::{WorkerEffect, WorkerIgnored},
    machine::{Worker, ignore},
    registration::{ActiveMaster, Link},
};
use crate::deploy::{MasterAddress, MasterToWorker, WorkerToMaster};

impl Worker {
    /// Answers to a registration may come from any master; orders only from the active one.
    pub(super) fn on_message(
        &mut self,
        now: Timestamp,
        master: MasterAddress,
        message: MasterToWorker,
        out: &mut Vec<WorkerEffect>,
    ) {
        if matches!(self.link, Link::Idle | Link::Preparing) {
            return ignore(WorkerIgnored::OutOfOrder, out);
        }
        match message {
            MasterToWorker::RegisteredWorker { contacted, duplicate: _ } => {
                self.on_registered(now, ActiveMaster { address: master, contacted }, out);
            }
            MasterToWorker::RegisterWorkerFailed { message } => self.on_register_failed(master, message, out),
            MasterToWorker::MasterInStandby => ignore(WorkerIgnored::MasterInStandby { master }, out),
            MasterToWorker::MasterChanged => self.on_master_changed(now, master, out),
            order if self.active_master().is_some_and(|active| active.address == master) => {
                self.on_order(now, order, out);
            }
            MasterToWorker::LaunchExecutor(_)
            | MasterToWorker::KillExecutor { .. }
            | MasterToWorker::LaunchDriver(_)
            | MasterToWorker::KillDriver { .. }
            | MasterToWorker::ApplicationFinished { .. }
            | MasterToWorker::ReconnectWorker
            | MasterToWorker::DecommissionWorker
            | MasterToWorker::DriverStateAck { .. }
            | MasterToWorker::ExecutorStateAck { .. } => {
                ignore(WorkerIgnored::NotActiveMaster { master }, out);
            }
        }
    }

    fn on_order(&mut self, now: Timestamp, order: MasterToWorker, out: &mut Vec<WorkerEffect>) {
        match order {
            MasterToWorker::LaunchExecutor(launch) => self.on_launch_executor(now, *launch, out),
            MasterToWorker::KillExecutor { executor } => self.on_kill_executor(now, executor, out),
            MasterToWorker::LaunchDriver(launch) => self.on_launch_driver(*launch, out),
            MasterToWorker::KillDriver { driver } => self.on_kill_driver(now, driver, out),
            MasterToWorker::ApplicationFinished { app } => self.on_application_finished(app, out),
            MasterToWorker::ReconnectWorker => self.register_again(now, out),
            MasterToWorker::DecommissionWorker => {
                self.decommission(out);
            }
            MasterToWorker::ExecutorStateAck { executor, state } => self.on_state_ack(executor, state, out),
            MasterToWorker::DriverStateAck { driver } => self.on_driver_state_ack(driver, out),
            MasterToWorker::RegisteredWorker { .. }
            | MasterToWorker::RegisterWorkerFailed { .. }
            | MasterToWorker::MasterInStandby
            | MasterToWorker::MasterChanged => unreachable!("answers and announcements are no orders"),
        }
    }

    /// The machine gave the order, so the master does not know of it. If there is none, it is told when there is.
    pub(super) fn on_decommission_signalled(&mut self, out: &mut Vec<WorkerEffect>) {
        if self.decommission(out) && self.id.is_some() {
            let _told_on_connection =
                self.tell(WorkerToMaster::WorkerDecommissioning { worker: self.known_id() }, out);
        }
    }

    /// Starts draining. Gives whether that is new.
    fn decommission(&mut self, out: &mut Vec<WorkerEffect>) -> bool {
        if !self.config.decommission_enabled {
            ignore(WorkerIgnored::DecommissionDisabled, out);
            return false;
        }
        if self.decommissioned {
            ignore(WorkerIgnored::AlreadyDecommissioned, out);
            return false;
        }
        self.decommissioned = true;
        true
    }
}
