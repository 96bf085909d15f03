//! What keeping executors ahead does to the time that a stage takes, with executors that run in virtual time.
//!
//! Every message takes a tenth of a millisecond, so a task that is sent when a slot is free comes two tenths after it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque},
};

use firesteel_scheduler::{Effect, Event, KeepAhead, Scheduler, SchedulerConfig, TaskOutcome, TaskStatus};
use firesteel_types::{AttemptId, ExecutorId, PartitionId, TaskMetrics, Timestamp};

use crate::{
    harness::{executor_spec, source},
    keep_ahead::keeping_ahead,
};

const LATENCY_US: u64 = 100;
const EXECUTORS: u32 = 4;
const SLOTS: usize = 2;

/// A cluster that runs one job.
struct Cluster<D> {
    scheduler: Scheduler,
    now: Timestamp,
    /// What is on its way, by the time when it arrives and the order in which it was sent.
    mail: BinaryHeap<Reverse<(Timestamp, u64)>>,
    letters: BTreeMap<u64, Letter>,
    next_letter: u64,
    executors: BTreeMap<ExecutorId, Machine>,
    /// Microseconds that a task takes.
    takes: D,
    done: BTreeSet<PartitionId>,
    is_over: bool,
}

enum Letter {
    ToDriver(Event),
    ToExecutor(Effect),
    /// A task ends on its executor.
    Ends(ExecutorId, AttemptId, PartitionId, u64),
}

/// One executor: it begins what it is sent in the order in which it was sent.
#[derive(Default)]
struct Machine {
    running: usize,
    queue: VecDeque<(AttemptId, PartitionId)>,
}

/// How a run went.
#[derive(Debug)]
struct Run {
    took_us: u64,
    /// The last time when something ended on each executor.
    last_us: BTreeMap<ExecutorId, u64>,
    returned: usize,
}

impl<D: Fn(ExecutorId, PartitionId) -> u64> Cluster<D> {
    fn run(config: SchedulerConfig, tasks: u32, takes: D) -> Run {
        let scheduler = Scheduler::new(config).expect("the test's configuration is valid");
        let mut cluster = Self {
            scheduler,
            now: Timestamp::ZERO,
            mail: BinaryHeap::new(),
            letters: BTreeMap::new(),
            next_letter: 0,
            executors: BTreeMap::new(),
            takes,
            done: BTreeSet::new(),
            is_over: false,
        };
        for id in 0..EXECUTORS {
            cluster.executors.insert(ExecutorId(id), Machine::default());
            cluster.tell(Event::ExecutorRegistered(executor_spec(id, &format!("h{id}"), SLOTS as u32)));
            cluster.tell(Event::ExecutorLaunched { executor: ExecutorId(id) });
        }
        cluster.tell(Event::RddsRegistered(vec![source(0, tasks)]));
        cluster.tell(Event::JobSubmitted(firesteel_scheduler::JobSpec {
            job: firesteel_types::JobId(0),
            rdd: firesteel_types::RddId(0),
            partitions: firesteel_scheduler::Partitions::All,
            properties: firesteel_types::Properties::default(),
            rows_seen: None,
        }));
        let mut run = Run { took_us: 0, last_us: BTreeMap::new(), returned: 0 };
        while !cluster.is_over {
            cluster.step(&mut run);
        }
        assert_eq!(cluster.done.len(), tasks as usize, "every task ran");
        assert!(cluster.scheduler.is_quiescent(), "nothing is left");
        run.took_us = cluster.now.0;
        run
    }

    /// Takes the next letter, or tells the scheduler that its time has come.
    fn step(&mut self, run: &mut Run) {
        let deadline = self.scheduler.next_deadline();
        let arrives = self.mail.peek().map(|Reverse((at, _))| *at);
        if let Some(deadline) = deadline
            && arrives.is_none_or(|at| deadline < at)
        {
            self.now = deadline;
            return self.tell(Event::Tick);
        }
        let Reverse((at, number)) = self.mail.pop().expect("the job is not over, so something is on its way");
        self.now = at;
        match self.letters.remove(&number).expect("letters are numbered") {
            Letter::ToDriver(event) => self.tell(event),
            Letter::ToExecutor(effect) => self.obey(effect, run),
            Letter::Ends(executor, attempt, partition, took) => {
                run.last_us.insert(executor, self.now.0);
                assert!(self.done.insert(partition), "{partition} runs once");
                let machine = self.executors.get_mut(&executor).expect("there is no other");
                machine.running -= 1;
                let metrics = TaskMetrics { run_time_us: took, ..TaskMetrics::default() };
                let status = TaskStatus::Finished(TaskOutcome { metrics, ..TaskOutcome::default() });
                self.post(LATENCY_US, Letter::ToDriver(Event::StatusUpdate { executor, attempt, status }));
                self.begin(executor);
            }
        }
    }

    fn obey(&mut self, effect: Effect, run: &mut Run) {
        match effect {
            Effect::LaunchTask(task) => {
                let machine = self.executors.get_mut(&task.executor).expect("there is no other");
                machine.queue.push_back((task.attempt, task.partition));
                assert!(task.ahead || machine.running + machine.queue.len() <= SLOTS, "there is a slot");
                self.begin(task.executor);
            }
            Effect::TakeBackTasks { executor, attempts } => {
                let machine = self.executors.get_mut(&executor).expect("there is no other");
                let (returned, kept): (VecDeque<_>, _) =
                    machine.queue.iter().partition(|(id, _)| attempts.contains(id));
                machine.queue = kept;
                run.returned += returned.len();
                let attempts = returned.into_iter().map(|(id, _)| id).collect();
                self.post(LATENCY_US, Letter::ToDriver(Event::TasksReturned { executor, attempts }));
            }
            other => unreachable!("{other:?} is not for an executor"),
        }
    }

    fn begin(&mut self, executor: ExecutorId) {
        let machine = self.executors.get_mut(&executor).expect("there is no other");
        while machine.running < SLOTS
            && let Some((attempt, partition)) = machine.queue.pop_front()
        {
            machine.running += 1;
            let takes = (self.takes)(executor, partition);
            let ends = Letter::Ends(executor, attempt, partition, takes);
            self.mail.push(Reverse((Timestamp(self.now.0 + takes), self.next_letter)));
            self.letters.insert(self.next_letter, ends);
            self.next_letter += 1;
        }
    }

    fn tell(&mut self, event: Event) {
        for effect in self.scheduler.handle(self.now, event) {
            match effect {
                Effect::LaunchTask(_) | Effect::TakeBackTasks { .. } => {
                    self.post(LATENCY_US, Letter::ToExecutor(effect));
                }
                Effect::JobSucceeded { .. } => self.is_over = true,
                Effect::JobFailed { error, .. } => unreachable!("{error}"),
                _ => (),
            }
        }
    }

    fn post(&mut self, after_us: u64, letter: Letter) {
        self.mail.push(Reverse((Timestamp(self.now.0 + after_us), self.next_letter)));
        self.letters.insert(self.next_letter, letter);
        self.next_letter += 1;
    }
}

fn both_ways(tasks: u32, takes: impl Fn(ExecutorId, PartitionId) -> u64 + Copy) -> (Run, Run) {
    let late = SchedulerConfig { keep_ahead: KeepAhead::OFF, ..keeping_ahead() };
    (Cluster::run(late, tasks, takes), Cluster::run(keeping_ahead(), tasks, takes))
}

#[test]
fn short_tasks_do_not_pay_for_a_round_trip_each() {
    let (late, ahead) = both_ways(4000, |_, _| 100);
    let without_any_loss = 4000 * 100 / u64::from(EXECUTORS) / SLOTS as u64;

    assert!(late.took_us > without_any_loss * 29 / 10, "{late:?}");
    assert!(ahead.took_us < without_any_loss * 11 / 10, "{ahead:?}");
    assert_eq!(ahead.returned, 0, "nothing is taken back that begins in time");
}

#[test]
fn the_end_of_a_stage_comes_to_all_executors_at_the_same_time() {
    // Some tasks are four times as long as others.
    let (_, ahead) = both_ways(4000, |_, partition| 100 * (1 + u64::from(partition.0 * 7919 % 4)));

    let ends = ahead.last_us.values();
    let spread = ends.clone().max().zip(ends.min()).map(|(last, first)| last - first);

    assert!(spread.is_some_and(|us| us <= 1000), "{ahead:?}");
}

#[test]
fn tasks_that_turn_out_long_are_shared_out_again() {
    // The last thirty tasks take fifty milliseconds each.
    let (late, ahead) = both_ways(400, |_, partition| if partition.0 < 370 { 50 } else { 50_000 });

    assert!(ahead.took_us <= late.took_us + 5_000, "{ahead:?} against {late:?}");
}

#[test]
fn an_executor_that_gets_stuck_keeps_nothing_but_what_it_runs() {
    let (late, ahead) = both_ways(2000, |executor, partition| match (executor, partition) {
        (ExecutorId(0), PartitionId(500..)) => 200_000,
        _ => 100,
    });

    assert!(ahead.returned > 0, "{ahead:?}");
    assert!(ahead.took_us <= late.took_us + 5_000, "{ahead:?} against {late:?}");
}

#[test]
fn long_tasks_are_bound_late() {
    let (late, ahead) = both_ways(100, |_, partition| 5_000 + u64::from(partition.0));

    assert_eq!(late.took_us, ahead.took_us);
}
