//! What a decision costs: launch-and-finish pairs per second as executors, pending tasks and pools grow.
//!
//! A pair is one finished task and the launch that takes its place: one status update in, the task's end, its
//! result and the next launch out. Every scheduler is filled first, so that each pair is made at the stated number
//! of pending tasks. With executors kept ahead, a pair is one finished task and the one that begins in its place, and
//! the launches come eight at a time. `cargo bench -p firesteel-scheduler` prints the table in Markdown; a number after `--` gives
//! the seconds per cell (0.3 by default).

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark reads the clock")]

#[path = "../../../testing/bench_size.rs"]
mod bench_size;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use bench_size::sized;
use firesteel_scheduler::{
    Effect, Event, ExecutorSpec, JobSpec, KeepAhead, LocalityConfig, Partitions, PoolConfig, Scheduler,
    SchedulerConfig, TaskOutcome, TaskStatus, pool::SchedulingMode,
};
use firesteel_types::{
    AttemptId, Cpus, ExecutorId, JobId, PreferredLocations, ProfileId, Properties, RddId, RddNode,
    TaskLocation, TaskMetrics, Timestamp,
};

const CORES: u32 = 4;

/// How long each task runs, by what executors report: four are sent ahead for each slot.
const TASK_TIME: Duration = Duration::from_micros(500);

/// How many tasks replace finished ones while a cell is measured.
fn replacements() -> usize {
    sized(400_000, 1000)
}

/// One cell of the table.
#[derive(Clone, Copy)]
struct Cell {
    executors: u32,
    pending: u32,
    mode: SchedulingMode,
    pools: u32,
    locality: bool,
    batch: usize,
    ahead: bool,
}

impl Cell {
    /// The same cell, with at most so many of everything.
    fn at_most(self, count: u32) -> Self {
        let [executors, pending, pools] =
            [self.executors, self.pending, self.pools].map(|one| one.min(count));
        Self { executors, pending, pools, ..self }
    }
}

/// A filled scheduler and what runs in it.
struct Filled {
    scheduler: Scheduler,
    running: Running,
    /// Since the start, as time passes on executors that run their tasks without a pause.
    elapsed: Duration,
    slots: u32,
}

/// What was launched, in the order in which it ends.
enum Running {
    /// As it was launched.
    InOrder(VecDeque<(ExecutorId, AttemptId)>),
    /// One executor after the other, and on each as it was launched; the events of a turn are of one executor.
    InTurns { turn: usize, executors: Vec<VecDeque<AttemptId>> },
}

fn main() {
    let budget = bench_size::start().and_then(|word| word.parse::<f64>().ok()).unwrap_or(sized(0.3, 0.0));
    let fifo = Cell {
        executors: 1000,
        pending: 1_000_000,
        mode: SchedulingMode::Fifo,
        pools: 1,
        locality: false,
        batch: 1,
        ahead: false,
    };
    println!(
        "| executors | pending | order | pools | locality | ahead | events a turn | pairs/s | ns a pair |"
    );
    println!("|---:|---:|---|---:|---|---|---:|---:|---:|");
    for executors in [10, 100, 1000, 10_000] {
        for pending in [1000, 100_000, 1_000_000] {
            report(Cell { executors, pending, ..fifo }, budget);
        }
    }
    for pools in [1, 10, 1000] {
        report(Cell { mode: SchedulingMode::Fair, pools, ..fifo }, budget);
    }
    for (executors, pending) in [(10, 1_000_000), (1000, 100_000), (1000, 1_000_000), (10_000, 1_000_000)] {
        report(Cell { executors, pending, locality: true, ..fifo }, budget);
    }
    report(Cell { mode: SchedulingMode::Fair, pools: 1000, locality: true, ..fifo }, budget);
    report(Cell { batch: 64, ..fifo }, budget);
    report(Cell { batch: 64, mode: SchedulingMode::Fair, pools: 1000, ..fifo }, budget);
    for batch in [1, 8] {
        report(Cell { ahead: true, batch, ..fifo }, budget);
    }
    report(Cell { ahead: true, locality: true, ..fifo }, budget);
    report(Cell { ahead: true, executors: 10_000, ..fifo }, budget);
}

/// How many pairs are timed at once. Executors that are kept ahead are sent many tasks at a time, so it is long enough for
/// each of them to be sent some twice.
fn window(executors: usize) -> usize {
    (2 * 8 * executors).max(sized(12_800, 128))
}

fn report(cell: Cell, budget: f64) {
    let cell = cell.at_most(sized(u32::MAX, 40));
    let mut best = f64::MAX;
    for _ in 0..sized(7, 1) {
        let mut filled = fill(cell);
        best = best.min(filled.run(cell.batch, Duration::from_secs_f64(budget)));
    }
    let Cell { executors, pending, mode, pools, locality, batch, ahead } = cell;
    let yes_or_no = |is: bool| if is { "yes" } else { "no" };
    let (rate, locality, ahead) = (1e9 / best, yes_or_no(locality), yes_or_no(ahead));
    println!(
        "| {executors} | {pending} | {mode:?} | {pools} | {locality} | {ahead} | {batch} | {rate:.0} | {best:.0} |"
    );
}

/// A scheduler whose executors are all busy, with `pending` tasks waiting and as many more to replace what is done.
fn fill(cell: Cell) -> Filled {
    let config = SchedulerConfig {
        pools: PoolConfig { mode: cell.mode, pools: Vec::new() },
        locality: LocalityConfig::wait(Duration::from_secs(3)),
        keep_ahead: if cell.ahead {
            KeepAhead { max_per_slot: 32, longest_task: Duration::from_millis(4) }
        } else {
            KeepAhead::OFF
        },
        ..SchedulerConfig::default()
    };
    let executors = vec![VecDeque::new(); cell.executors as usize];
    let mut filled = Filled {
        scheduler: Scheduler::new(config).expect("the configuration is valid"),
        running: if cell.ahead {
            Running::InTurns { turn: 0, executors }
        } else {
            Running::InOrder(VecDeque::new())
        },
        elapsed: Duration::ZERO,
        slots: cell.executors * CORES,
    };
    for id in 0..cell.executors {
        let executor = ExecutorId(id);
        filled.handle(Event::ExecutorRegistered(ExecutorSpec {
            executor,
            host: format!("h{id}").into(),
            address: Arc::from(""),
            cpus: Cpus::cores(CORES),
            resources: std::collections::BTreeMap::default(),
            profile: ProfileId::DEFAULT,
        }));
        filled.handle(Event::ExecutorLaunched { executor });
    }
    let warm_up = if cell.ahead { 2 * window(cell.executors as usize) } else { 0 };
    let tasks = cell.pending + cell.executors * (CORES + 64) + (warm_up + replacements()) as u32;
    for pool in 0..cell.pools {
        filled.submit(pool, tasks / cell.pools + 1, cell);
    }
    filled
}

impl Filled {
    fn submit(&mut self, pool: u32, tasks: u32, cell: Cell) {
        let mut rdd = RddNode::source(RddId(pool), tasks);
        if cell.locality {
            let place = |task: u32| {
                let id = task % cell.executors;
                vec![TaskLocation::Executor { host: format!("h{id}").into(), executor: ExecutorId(id) }]
            };
            rdd.preferred = PreferredLocations::PerPartition((0..tasks).map(place).collect());
        }
        self.handle(Event::RddsRegistered(vec![rdd]));
        let properties = Properties::default().with(Properties::POOL, format!("pool-{pool}"));
        let (job, rdd, partitions) = (JobId(pool), RddId(pool), Partitions::All);
        self.handle(Event::JobSubmitted(JobSpec { job, rdd, partitions, properties, rows_seen: None }));
    }

    fn handle(&mut self, event: Event) {
        let effects = self.scheduler.handle(self.now(), event);
        self.running.take_launches(&effects);
    }

    fn now(&self) -> Timestamp {
        Timestamp(1_000_000 + self.elapsed.as_micros() as u64)
    }

    /// Nanoseconds for each pair: the median over windows of some ten thousand, so that a busy neighbour on the
    /// machine spoils single windows and not the figure.
    fn run(&mut self, batch: usize, budget: Duration) -> f64 {
        let pairs = match &self.running {
            Running::InOrder(_) => window(1),
            Running::InTurns { executors, .. } => {
                let pairs = window(executors.len());
                // One at a time: more have not been sent before it is known how short they are.
                self.turns(2 * pairs, 1);
                pairs
            }
        };
        let (start, mut windows) = (Instant::now(), Vec::new());
        while windows.is_empty()
            || (start.elapsed() < budget && (windows.len() + 1) * pairs <= replacements())
        {
            let window = Instant::now();
            self.turns(pairs / batch, batch);
            windows.push(window.elapsed().as_nanos() as f64 / pairs as f64);
        }
        windows.sort_by(f64::total_cmp);
        windows[windows.len() / 2]
    }

    fn turns(&mut self, turns: usize, batch: usize) {
        let (mut effects, mut finished) = (Vec::new(), Vec::new());
        let turn_time = TASK_TIME * batch as u32 / self.slots;
        for _ in 0..turns {
            self.running.finish(batch, &mut finished);
            effects.clear();
            self.scheduler.handle_all(self.now(), finished.drain(..), &mut effects);
            let launched = self.running.take_launches(&effects);
            let is_ahead = matches!(self.running, Running::InTurns { .. });
            assert!(launched == batch || is_ahead, "each finished task makes room for one");
            self.elapsed += turn_time;
        }
    }
}

impl Running {
    /// The reports of the attempts that end next.
    fn finish(&mut self, count: usize, finished: &mut Vec<Event>) {
        let run_time_us = TASK_TIME.as_micros() as u64;
        let metrics = TaskMetrics { run_time_us, ..TaskMetrics::default() };
        if let Self::InTurns { turn, executors } = self {
            *turn = (*turn + 1) % executors.len();
        }
        for _ in 0..count {
            let (executor, attempt) = match self {
                Self::InOrder(running) => running.pop_front().expect("all slots are busy"),
                Self::InTurns { turn, executors } => {
                    let attempt = executors[*turn].pop_front().expect("all slots are busy");
                    (ExecutorId(*turn as u32), attempt)
                }
            };
            let status = TaskStatus::Finished(TaskOutcome { metrics, ..TaskOutcome::default() });
            finished.push(Event::StatusUpdate { executor, attempt, status });
        }
    }

    fn take_launches(&mut self, effects: &[Effect]) -> usize {
        let mut count = 0;
        for effect in effects {
            if let Effect::LaunchTask(task) = effect {
                count += 1;
                match self {
                    Self::InOrder(running) => running.push_back((task.executor, task.attempt)),
                    Self::InTurns { executors, .. } => {
                        executors[task.executor.0 as usize].push_back(task.attempt);
                    }
                }
            }
        }
        count
    }
}
