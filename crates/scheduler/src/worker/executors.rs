//! The executors on this worker, from the order to launch to the finished list.

use firesteel_types::{ExecutorKey, Timestamp};

use super::{
    effect::{ProcessStart, WorkerEffect, WorkerIgnored},
    finished::FinishedExecutor,
    ids::ProcessOwner,
    machine::{LaunchError, Worker, ignore},
    process::{KillStep, Process, ProcessPhase},
};
use crate::deploy::{ExecutorLaunch, ExecutorState, ExecutorStateChange, Placeholders};

/// An executor that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Executor {
    pub(super) launch: ExecutorLaunch,
    pub(super) process: Process,
}

impl Executor {
    /// How the master should see it.
    pub(super) fn state(&self) -> ExecutorState {
        match self.process.phase {
            ProcessPhase::Preparing | ProcessPhase::Starting { kill: false } => ExecutorState::Launching,
            ProcessPhase::Running { .. } => ExecutorState::Running,
            ProcessPhase::Starting { kill: true } | ProcessPhase::Terminating | ProcessPhase::Destroying => {
                ExecutorState::Killed
            }
        }
    }
}

/// How an executor came to its end.
struct End {
    state: ExecutorState,
    message: String,
    exit_code: Option<i32>,
}

impl Worker {
    pub(super) fn on_launch_executor(
        &mut self,
        now: Timestamp,
        launch: ExecutorLaunch,
        out: &mut Vec<WorkerEffect>,
    ) {
        let key = launch.executor.clone();
        if self.executors.contains_key(&key) {
            return ignore(WorkerIgnored::ExecutorExists { executor: key }, out);
        }
        if let Err(error) = self.check_executor(&launch) {
            let (state, message) = (ExecutorState::Failed, Some(error.to_string()));
            let change = ExecutorStateChange { executor: key, state, message, exit_code: None };
            return self.report_state(now, change, out);
        }
        self.resources.take(&launch.grant);
        let process = self.new_process(ProcessOwner::Executor(key.clone()));
        let process_id = process.id;
        let local_dirs = self.local_dirs_of(&key);
        out.push(WorkerEffect::CreateDirs {
            process: process_id,
            work_dir: self.executor_dir(&key),
            local_dirs,
        });
        self.executors.insert(key, Executor { launch, process });
    }

    fn check_executor(&self, launch: &ExecutorLaunch) -> Result<(), LaunchError> {
        let app = &launch.executor.app;
        if !app.is_plain_name() {
            return Err(LaunchError::BadName { name: app.to_string() });
        }
        if self.decommissioned {
            return Err(LaunchError::Decommissioned);
        }
        Ok(self.resources.check_ever_fits(&launch.grant)?)
    }

    fn executor_dir(&self, key: &ExecutorKey) -> String {
        format!("{}/{}/{}", self.config.work_dir, key.app, key.executor.0)
    }

    /// The local directories of an executor, inside those of its application. The latter are noted before they
    /// are made, so that they are removed even if the start fails in between.
    fn local_dirs_of(&mut self, key: &ExecutorKey) -> Vec<String> {
        let roots = &self.config.local_roots;
        let make = || roots.iter().map(|root| format!("{root}/{}", key.app)).collect();
        let of_app = self.app_dirs.entry(key.app.clone()).or_insert_with(make);
        of_app.iter().map(|dir| format!("{dir}/{}", key.executor)).collect()
    }

    /// The directories are there: starts the process. One local directory is enough.
    pub(super) fn start_executor(
        &mut self,
        now: Timestamp,
        key: &ExecutorKey,
        local_dirs: Vec<String>,
        out: &mut Vec<WorkerEffect>,
    ) {
        if local_dirs.is_empty() && !self.config.local_roots.is_empty() {
            let roots = self.config.local_roots.join(", ");
            let message = format!("no local directory can be made in {roots}");
            return self.executor_did_not_start(now, key, message, out);
        }
        let work_dir = self.executor_dir(key);
        let executor = self.executors.get_mut(key).expect("the owner of a process is alive");
        executor.process.phase = ProcessPhase::Starting { kill: false };
        let launch = &executor.launch;
        let command = launch.command.filled(&Placeholders {
            driver_url: Some(&launch.driver_url),
            executor: Some(key.executor),
            host: &self.config.host,
            cores: launch.grant.cores,
            app: Some(&key.app),
            worker_url: &self.config.url,
            profile: Some(launch.profile),
        });
        out.push(WorkerEffect::StartProcess(Box::new(ProcessStart {
            process: executor.process.id,
            owner: ProcessOwner::Executor(key.clone()),
            command,
            work_dir,
            local_dirs,
            driver_url: Some(launch.driver_url.clone()),
            grant: launch.grant.clone(),
        })));
    }

    pub(super) fn report_running(
        &mut self,
        now: Timestamp,
        executor: ExecutorKey,
        out: &mut Vec<WorkerEffect>,
    ) {
        let state = ExecutorState::Running;
        self.report_state(now, ExecutorStateChange { executor, state, message: None, exit_code: None }, out);
    }

    pub(super) fn on_kill_executor(
        &mut self,
        now: Timestamp,
        executor: ExecutorKey,
        out: &mut Vec<WorkerEffect>,
    ) {
        if !self.executors.contains_key(&executor) {
            return ignore(WorkerIgnored::UnknownExecutor { executor }, out);
        }
        let owner = ProcessOwner::Executor(executor.clone());
        match self.kill_process(now, &owner, out) {
            KillStep::EndNow => {
                let message = "killed before it started".to_owned();
                let end = End { state: ExecutorState::Killed, message, exit_code: None };
                self.end_executor(now, &executor, end, out);
            }
            KillStep::WaitForStart | KillStep::Terminate | KillStep::Already => {}
        }
    }

    pub(super) fn executor_did_not_start(
        &mut self,
        now: Timestamp,
        key: &ExecutorKey,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        let killed = self.executors.get(key).is_some_and(|executor| executor.process.is_kill_ordered());
        let state = if killed { ExecutorState::Killed } else { ExecutorState::Failed };
        self.end_executor(now, key, End { state, message, exit_code: None }, out);
    }

    /// Any code is "exited": an executor ends with 0 when its driver tells it to.
    pub(super) fn executor_exited(
        &mut self,
        now: Timestamp,
        key: &ExecutorKey,
        code: i32,
        out: &mut Vec<WorkerEffect>,
    ) {
        let killed = self.executors.get(key).is_some_and(|executor| executor.process.is_kill_ordered());
        let (state, message) = if killed {
            (ExecutorState::Killed, format!("killed on order, with exit code {code}"))
        } else {
            (ExecutorState::Exited, format!("exited with code {code}"))
        };
        self.end_executor(now, key, End { state, message, exit_code: Some(code) }, out);
    }

    pub(super) fn executor_orphaned(
        &mut self,
        now: Timestamp,
        key: &ExecutorKey,
        out: &mut Vec<WorkerEffect>,
    ) {
        let message = "killed on order, but its process did not end".to_owned();
        let end = End { state: ExecutorState::Killed, message, exit_code: None };
        self.end_executor(now, key, end, out);
    }

    fn end_executor(&mut self, now: Timestamp, key: &ExecutorKey, end: End, out: &mut Vec<WorkerEffect>) {
        let executor = self.executors.remove(key).expect("an executor ends once");
        self.forget_process(executor.process.id);
        self.resources.give_back(&executor.launch.grant);
        let End { state, message, exit_code } = end;
        let change = ExecutorStateChange { executor: key.clone(), state, message: Some(message), exit_code };
        assert!(state.is_final(), "an executor ends in a final state");
        let grant = executor.launch.grant;
        self.finished_executors.push(FinishedExecutor { change: change.clone(), grant });
        self.report_state(now, change, out);
        self.clean_finished_app(&key.app, out);
    }
}
