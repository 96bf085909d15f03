//! Random events in random order: the books stay right.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A step of a random history. Numbers pick among what there is at that moment.
#[derive(Clone, Copy, Debug)]
enum Step {
    Launch {
        app: u8,
        executor: u32,
        cores: u32,
    },
    LaunchDriver {
        driver: u8,
        supervise: bool,
    },
    KillExecutor {
        app: u8,
        executor: u32,
    },
    KillDriver {
        driver: u8,
    },
    FinishApp {
        app: u8,
    },
    /// News of a process that was begun, true or not.
    News {
        process: prop::sample::Index,
        news: u8,
    },
    FromAnyMaster {
        master: u8,
        message: u8,
    },
    Acknowledge,
    Lose {
        master: u8,
    },
    Wait {
        millis: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let executor = || (0..3_u8, 0..4_u32);
    prop_oneof![
        4 => (executor(), 1..5_u32).prop_map(|((app, executor), cores)| Step::Launch { app, executor, cores }),
        2 => (0..3_u8, any::<bool>()).prop_map(|(driver, supervise)| Step::LaunchDriver { driver, supervise }),
        2 => executor().prop_map(|(app, executor)| Step::KillExecutor { app, executor }),
        1 => (0..3_u8).prop_map(|driver| Step::KillDriver { driver }),
        1 => (0..3_u8).prop_map(|app| Step::FinishApp { app }),
        12 => (any::<prop::sample::Index>(), 0..6_u8).prop_map(|(process, news)| Step::News { process, news }),
        2 => (1..4_u8, 0..4_u8).prop_map(|(master, message)| Step::FromAnyMaster { master, message }),
        4 => Just(Step::Acknowledge),
        1 => (1..4_u8).prop_map(|master| Step::Lose { master }),
        3 => (0..30_000_u64).prop_map(|millis| Step::Wait { millis }),
    ]
}

/// A master that keeps to what the worker has, and notes what the worker does.
struct History {
    harness: Harness,
    active: String,
    begun: Vec<ProcessId>,
    started: BTreeSet<ProcessOwner>,
    unacknowledged: Vec<(ExecutorKey, ExecutorState)>,
    exited: bool,
}

impl History {
    fn new() -> Self {
        Self {
            harness: Harness::connected(),
            active: "m1".to_owned(),
            begun: vec![],
            started: BTreeSet::new(),
            unacknowledged: vec![],
            exited: false,
        }
    }

    fn note(&mut self, effects: Vec<WorkerEffect>) {
        assert!(!self.exited || effects == [ignored(WorkerIgnored::Exited)], "nothing follows the end");
        for effect in effects {
            match effect {
                WorkerEffect::CreateDirs { process, .. } => self.begun.push(process),
                WorkerEffect::StartProcess(start) => {
                    self.begun.push(start.process);
                    self.started.insert(start.owner);
                }
                WorkerEffect::ToMaster {
                    message: WorkerToMaster::ExecutorStateChanged { change, .. },
                    ..
                } => self.unacknowledged.push((change.executor, change.state)),
                WorkerEffect::Exit { .. } => self.exited = true,
                WorkerEffect::Prepare { .. }
                | WorkerEffect::ToMaster { .. }
                | WorkerEffect::Signal { .. }
                | WorkerEffect::Orphaned { .. }
                | WorkerEffect::ListDirs { .. }
                | WorkerEffect::RemoveDir { .. }
                | WorkerEffect::ForgetApp { .. }
                | WorkerEffect::Ignored { .. } => {}
            }
        }
    }

    fn order(&mut self, order: MasterToWorker) {
        let effects = self.harness.hear(&self.active.clone(), order);
        self.note(effects);
    }

    fn fits(&self, grant: &Grant) -> bool {
        let ((cores, memory_mib), total) = (self.harness.worker.held(), self.harness.worker.resources());
        cores + u64::from(grant.cores) <= u64::from(total.cores)
            && memory_mib + grant.memory_mib <= total.memory_mib
    }

    fn news(&mut self, process: ProcessId, news: u8) {
        let message = "no".to_owned();
        let event = match news {
            0 => WorkerEvent::DirsCreated { process, local_dirs: local_dirs(1) },
            1 => WorkerEvent::DirsFailed { process, message },
            2 => WorkerEvent::ProcessStarted { process },
            3 => WorkerEvent::ProcessFailed { process, message },
            4 => WorkerEvent::ProcessExited { process, code: 0 },
            _ => WorkerEvent::ProcessExited { process, code: 1 },
        };
        let effects = self.harness.send(event);
        self.note(effects);
    }

    fn hear_any_master(&mut self, master: u8, message: u8) {
        let master = format!("m{master}");
        let message = match message {
            0 => MasterToWorker::MasterInStandby,
            1 => MasterToWorker::RegisterWorkerFailed { message: "no".to_owned() },
            2 => MasterToWorker::MasterChanged,
            _ => MasterToWorker::RegisteredWorker { contacted: master.as_str().into(), duplicate: true },
        };
        if matches!(message, MasterToWorker::MasterChanged | MasterToWorker::RegisteredWorker { .. }) {
            self.active.clone_from(&master);
        }
        let effects = self.harness.hear(&master, message);
        self.note(effects);
    }

    fn step(&mut self, step: Step) {
        let app = |app: u8| AppId::from(format!("app-{app}"));
        let driver_id = |driver: u8| DriverId::from(format!("driver-{driver}"));
        match step {
            Step::Launch { app: a, executor, cores } => {
                let executor = ExecutorKey::new(app(a), executor);
                let launch = ExecutorLaunch { executor, grant: Grant { cores, ..grant() }, ..launch(0) };
                if self.fits(&launch.grant) {
                    self.order(MasterToWorker::LaunchExecutor(Box::new(launch)));
                }
            }
            Step::LaunchDriver { driver: id, supervise } => {
                let launch = DriverLaunch { driver: driver_id(id), ..driver(supervise) };
                if self.fits(&launch.grant) {
                    self.order(MasterToWorker::LaunchDriver(Box::new(launch)));
                }
            }
            Step::KillExecutor { app: a, executor } => {
                self.order(MasterToWorker::KillExecutor { executor: ExecutorKey::new(app(a), executor) });
            }
            Step::KillDriver { driver } => {
                self.order(MasterToWorker::KillDriver { driver: driver_id(driver) });
            }
            Step::FinishApp { app: a } => self.order(MasterToWorker::ApplicationFinished { app: app(a) }),
            Step::News { process, news } if !self.begun.is_empty() => {
                self.news(self.begun[process.index(self.begun.len())], news);
            }
            Step::News { .. } => {}
            Step::FromAnyMaster { master, message } => self.hear_any_master(master, message),
            Step::Acknowledge => {
                for (executor, state) in std::mem::take(&mut self.unacknowledged) {
                    self.order(MasterToWorker::ExecutorStateAck { executor, state });
                }
            }
            Step::Lose { master } => {
                let effects = self.harness.lose(&format!("m{master}"));
                self.note(effects);
            }
            Step::Wait { millis } => {
                let done = self.harness.pass(Duration::from_millis(millis));
                self.note_all(done);
            }
        }
    }

    fn note_all(&mut self, done: Vec<(Duration, WorkerEffect)>) {
        for (_, effect) in done {
            self.note(vec![effect]);
        }
    }

    fn check(&self) {
        let worker = &self.harness.worker;
        worker.check_invariants();
        let (cores, memory_mib) = worker.held();
        assert!(cores <= 8 && memory_mib <= 8192, "orders that fit never take more than there is");

        let live = worker.live().expect("the worker has started");
        let live_executors = live.executors.into_iter().map(|report| ProcessOwner::Executor(report.executor));
        let live_drivers = live.drivers.into_iter().map(|report| ProcessOwner::Driver(report.driver));
        let finished_executors =
            worker.finished_executors().map(|f| ProcessOwner::Executor(f.change.executor.clone()));
        let finished_drivers =
            worker.finished_drivers().map(|f| ProcessOwner::Driver(f.change.driver.clone()));
        let known: BTreeSet<ProcessOwner> =
            live_executors.chain(live_drivers).chain(finished_executors).chain(finished_drivers).collect();
        assert!(self.started.is_subset(&known), "a started process is alive or listed as finished");
    }

    /// Everything is killed and nothing answers: even so, the worker comes to rest.
    fn wind_down(&mut self) {
        let live = self.harness.worker.live().expect("the worker has started");
        for process in self.begun.clone() {
            self.news(process, 1);
            self.news(process, 3);
        }
        for report in live.executors {
            self.order(MasterToWorker::KillExecutor { executor: report.executor });
        }
        for report in live.drivers {
            self.order(MasterToWorker::KillDriver { driver: report.driver });
        }
        let done = self.harness.pass(secs(21));
        self.note_all(done);
    }
}

proptest! {
    /// Behaviours: WORK-005, WORK-006, WORK-014.
    #[test]
    fn the_books_stay_right_whatever_happens(steps in prop::collection::vec(step(), 1..150)) {
        let mut history = History::new();

        for step in steps {
            history.step(step);
            history.check();
        }
        history.wind_down();

        history.check();
        if !history.exited {
            prop_assert_eq!(history.harness.worker.held(), (0, 0));
        }
    }
}
