//! The news of a process, handed to the executor or driver it belongs to.
//!
//! What is the same for both is here: starting, and ending by force.

use firesteel_types::Timestamp;

use super::{
    effect::{ProcessSignal, WorkerEffect, WorkerIgnored},
    ids::{ProcessId, ProcessOwner},
    machine::{Worker, ignore},
    process::{Escalation, KillStep, Process, ProcessPhase},
    timers::Timer,
};

impl Worker {
    /// A process that is about to be made for `owner`.
    pub(super) fn new_process(&mut self, owner: ProcessOwner) -> Process {
        let id = ProcessId(self.next_process);
        self.next_process += 1;
        self.processes.insert(id, owner);
        Process::new(id)
    }

    /// Forgets a process; later news of it is ignored.
    pub(super) fn forget_process(&mut self, process: ProcessId) {
        self.processes.remove(&process).expect("a process is forgotten once");
        self.timers.cancel(&Timer::Kill(process));
    }

    /// The owner of `process` and how far it is; reports an ignored event when there is none.
    fn look_up(
        &self,
        process: ProcessId,
        out: &mut Vec<WorkerEffect>,
    ) -> Option<(ProcessOwner, ProcessPhase)> {
        let Some(owner) = self.processes.get(&process) else {
            ignore(WorkerIgnored::UnknownProcess { process }, out);
            return None;
        };
        let phase = match owner {
            ProcessOwner::Executor(key) => self.executors.get(key).map(|executor| executor.process.phase),
            ProcessOwner::Driver(id) => {
                self.drivers.get(id).and_then(|driver| driver.run.process()).map(|process| process.phase)
            }
        };
        Some((owner.clone(), phase.expect("the owner of a process is alive and knows it")))
    }

    fn process_mut(&mut self, owner: &ProcessOwner) -> &mut Process {
        let process = match owner {
            ProcessOwner::Executor(key) => self.executors.get_mut(key).map(|executor| &mut executor.process),
            ProcessOwner::Driver(id) => self.drivers.get_mut(id).and_then(|driver| driver.run.process_mut()),
        };
        process.expect("the owner of a process is alive and knows it")
    }

    pub(super) fn on_dirs_created(
        &mut self,
        now: Timestamp,
        process: ProcessId,
        local_dirs: Vec<String>,
        out: &mut Vec<WorkerEffect>,
    ) {
        match self.look_up(process, out) {
            Some((ProcessOwner::Executor(key), ProcessPhase::Preparing)) => {
                self.start_executor(now, &key, local_dirs, out);
            }
            Some((ProcessOwner::Driver(id), ProcessPhase::Preparing)) => self.start_driver(&id, out),
            Some(_) => ignore(WorkerIgnored::UnexpectedNews { process }, out),
            None => {}
        }
    }

    pub(super) fn on_dirs_failed(
        &mut self,
        now: Timestamp,
        process: ProcessId,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        match self.look_up(process, out) {
            Some((owner, ProcessPhase::Preparing)) => self.end_unstarted(now, owner, message, out),
            Some(_) => ignore(WorkerIgnored::UnexpectedNews { process }, out),
            None => {}
        }
    }

    pub(super) fn on_process_failed(
        &mut self,
        now: Timestamp,
        process: ProcessId,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        match self.look_up(process, out) {
            Some((owner, ProcessPhase::Starting { .. })) => self.end_unstarted(now, owner, message, out),
            Some(_) => ignore(WorkerIgnored::UnexpectedNews { process }, out),
            None => {}
        }
    }

    fn end_unstarted(
        &mut self,
        now: Timestamp,
        owner: ProcessOwner,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        match owner {
            ProcessOwner::Executor(key) => self.executor_did_not_start(now, &key, message, out),
            ProcessOwner::Driver(id) => self.driver_did_not_start(id, message, out),
        }
    }

    pub(super) fn on_process_started(
        &mut self,
        now: Timestamp,
        process: ProcessId,
        out: &mut Vec<WorkerEffect>,
    ) {
        match self.look_up(process, out) {
            Some((owner, ProcessPhase::Starting { kill })) => {
                self.process_mut(&owner).phase = ProcessPhase::Running { since: now };
                if kill {
                    self.kill_process(now, &owner, out);
                } else if let ProcessOwner::Executor(key) = owner {
                    self.report_running(now, key, out);
                }
            }
            Some(_) => ignore(WorkerIgnored::UnexpectedNews { process }, out),
            None => {}
        }
    }

    /// A process that ended at once may be reported so before its start is.
    pub(super) fn on_process_exited(
        &mut self,
        now: Timestamp,
        process: ProcessId,
        code: i32,
        out: &mut Vec<WorkerEffect>,
    ) {
        match self.look_up(process, out) {
            Some((_, ProcessPhase::Preparing)) => ignore(WorkerIgnored::UnexpectedNews { process }, out),
            Some((ProcessOwner::Executor(key), _)) => self.executor_exited(now, &key, code, out),
            Some((ProcessOwner::Driver(id), _)) => self.driver_exited(now, id, code, out),
            None => {}
        }
    }

    /// Begins to end the process of `owner`, and returns whether there is none to wait for.
    pub(super) fn kill_process(
        &mut self,
        now: Timestamp,
        owner: &ProcessOwner,
        out: &mut Vec<WorkerEffect>,
    ) -> KillStep {
        let process = self.process_mut(owner);
        let (id, step) = (process.id, process.kill());
        match step {
            KillStep::Terminate => {
                out.push(WorkerEffect::Signal { process: id, signal: ProcessSignal::Terminate });
                self.timers.set(Timer::Kill(id), now + self.config.terminate_timeout);
            }
            KillStep::Already => ignore(WorkerIgnored::AlreadyKilled { process: id }, out),
            KillStep::EndNow | KillStep::WaitForStart => {}
        }
        step
    }

    /// A process has not obeyed.
    pub(super) fn on_kill_due(&mut self, now: Timestamp, process: ProcessId, out: &mut Vec<WorkerEffect>) {
        let owner = self.processes.get(&process).cloned().expect("the timer goes with the process");
        match self.process_mut(&owner).escalate() {
            Escalation::Destroy => {
                out.push(WorkerEffect::Signal { process, signal: ProcessSignal::Destroy });
                self.timers.set(Timer::Kill(process), now + self.config.terminate_timeout);
            }
            Escalation::Orphan => {
                out.push(WorkerEffect::Orphaned { process, owner: owner.clone() });
                match owner {
                    ProcessOwner::Executor(key) => self.executor_orphaned(now, &key, out),
                    ProcessOwner::Driver(id) => self.driver_orphaned(id, out),
                }
            }
        }
    }
}
