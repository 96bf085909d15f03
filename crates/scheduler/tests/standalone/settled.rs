//! What must hold once nothing goes wrong any more and all messages have arrived.

use std::{collections::BTreeMap, collections::BTreeSet};

use firesteel_scheduler::{
    deploy::ExecutorState,
    master::{ObjectName, WorkerState},
    worker::{ProcessOwner, Worker},
};

use crate::{
    app::AppPhase,
    cluster::{Cluster, WorkerNode},
};

impl Cluster {
    /// Asserts that master, workers, applications, processes and the store agree with each other.
    pub(crate) fn assert_settled(&self) {
        assert!(self.is_led(), "a master leads");
        self.assert_workers_agree();
        self.assert_apps_have_what_they_should();
        self.assert_store_is_what_lives();
    }

    fn assert_workers_agree(&self) {
        let master = self.master();
        let known: BTreeSet<_> = master.workers().map(|info| info.id().clone()).collect();
        let machines = self.workers.iter().map(|node| node.worker.as_ref().expect("every worker is up"));
        let up: BTreeSet<_> = machines.filter_map(|worker| worker.id().cloned()).collect();
        assert_eq!(known, up, "the master knows every worker and no other");

        for node in &self.workers {
            let worker = node.worker.as_ref().expect("every worker is up");
            let report = worker.live().expect("it has started");
            let info = master.workers().find(|info| *info.id() == report.worker).expect("it is known");
            let reported: BTreeMap<_, _> = report
                .executors
                .into_iter()
                .map(|executor| (executor.executor, (executor.grant, executor.state)))
                .collect();
            let ordered: BTreeMap<_, _> = info
                .executors
                .iter()
                .map(|(key, desc)| (key.clone(), (desc.grant.clone(), desc.state)))
                .collect();
            assert_eq!(reported, ordered, "{}: no executor is unknown to one side", report.worker);
            let drivers: BTreeMap<_, _> =
                report.drivers.into_iter().map(|driver| (driver.driver, driver.grant)).collect();
            assert_eq!(drivers, info.drivers, "{}: no driver is unknown to one side", report.worker);

            let total = worker.resources();
            let held_by_master =
                (u64::from(total.cores - info.cores_free()), total.memory_mib - info.memory_free_mib());
            assert_eq!(worker.held(), held_by_master, "both sides count the same");

            let executors = ordered.keys().cloned().map(ProcessOwner::Executor);
            let expected: BTreeSet<_> =
                executors.chain(info.drivers.keys().cloned().map(ProcessOwner::Driver)).collect();
            let processes: BTreeSet<_> = node.processes.values().cloned().collect();
            assert_eq!(processes, expected, "what runs is what was ordered");
            assert_eq!(processes.len(), node.processes.len(), "and nothing runs twice");
        }
    }

    fn assert_apps_have_what_they_should(&self) {
        let master = self.master();
        let live = self.apps.iter().filter(|app| app.is_alive());
        let live: BTreeSet<_> = live.filter_map(|app| app.id.clone()).collect();
        let known: BTreeSet<_> = master.apps().map(|info| info.id().clone()).collect();
        assert_eq!(live, known, "the master knows every application and no other");
        assert!(self.apps.iter().all(|app| matches!(app.phase, AppPhase::Registered | AppPhase::Ended)));

        for info in master.apps() {
            let has_room = master.workers().any(|worker| {
                worker.state == WorkerState::Alive
                    && worker.cores_free() >= 1
                    && worker.memory_free_mib() >= info.description().executor.memory_mib
            });
            let (has, wants) = (info.executors.len(), info.executor_limit() as usize);
            assert!(has >= wants || !has_room, "{} has {has} of {wants} executors", info.id());
            for (executor, worker) in &info.executors {
                let holder = master.workers().find(|holder| holder.id() == worker).expect("it is known");
                let desc = holder
                    .executors
                    .iter()
                    .find(|(key, _)| key.app == *info.id() && key.executor == *executor);
                assert_eq!(desc.map(|(_, desc)| desc.state), Some(ExecutorState::Running));
            }
        }
    }

    fn assert_store_is_what_lives(&self) {
        let master = self.master();
        let apps = master.apps().map(|info| ObjectName::App(info.id().clone()));
        let drivers = master.drivers().map(|info| ObjectName::Driver(info.id().clone()));
        let workers = master.workers().map(|info| ObjectName::Worker(info.id().clone()));
        let living: BTreeSet<_> = apps.chain(drivers).chain(workers).collect();
        assert_eq!(self.store.keys().cloned().collect::<BTreeSet<_>>(), living);
    }

    /// Whether nothing runs or waits anywhere.
    pub(crate) fn is_quiescent(&self) -> bool {
        let at_rest = |node: &WorkerNode| node.worker.as_ref().is_some_and(Worker::is_quiescent);
        self.master().is_quiescent() && self.workers.iter().all(at_rest)
    }
}
