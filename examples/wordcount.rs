//! Word count on every core, with the scheduler and nothing else.
//!
//! The scheduler decides and this program performs: it keeps a clock, runs launched tasks on a few threads, keeps
//! their results, and feeds back what happened. It makes its own input, so it needs no argument; a number gives the
//! size in megabytes.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "whoever drives the scheduler has the clock"
)]

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Instant,
};

use firesteel_scheduler::{
    Effect, Event, ExecutorSpec, JobSpec, MapOutput, Partitions, Scheduler, SchedulerConfig, StageTaskKind,
    TaskDescription, TaskOutcome, TaskStatus,
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_types::{
    AttemptId, Cpus, Dependency, ExecutorId, JobId, ProfileId, Properties, RddId, RddNode, Rng,
    ShuffleDependency, ShuffleId, StageAttemptId, TaskFailure, TaskMetrics, Timestamp,
};

type Counts = Vec<(String, u64)>;

/// What tasks share: the input, and what map tasks wrote for each reducer.
struct Data {
    text: Vec<String>,
    blocks: Mutex<BTreeMap<(u32, u32), Counts>>,
    reducers: u32,
}

/// A task and what to do with it.
struct Work {
    task: Box<TaskDescription>,
    kind: StageTaskKind,
}

/// What a task gave: an outcome for the scheduler, and rows for the caller.
type Done = (AttemptId, Result<(TaskOutcome, Counts), String>);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let megabytes = std::env::args().nth(1).map_or(Ok(50), |text| text.parse())?;
    let cores = thread::available_parallelism()?.get() as u32;
    let (maps, reducers) = (cores * 4, cores * 2);
    let data = Arc::new(Data { text: make_text(megabytes, maps), blocks: Mutex::default(), reducers });

    let start = Instant::now();
    let mut counts = run(&data, cores, maps)?;
    let seconds = start.elapsed().as_secs_f64();

    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (word, count) in counts.iter().take(10) {
        println!("{count:>9} {word}");
    }
    println!("{megabytes} MB, {} distinct words, {cores} cores, {seconds:.2} s", counts.len());
    Ok(())
}

/// Runs the job: a map stage that counts within each piece of text, a result stage that adds the counts up.
fn run(data: &Arc<Data>, cores: u32, maps: u32) -> Result<Counts, Box<dyn std::error::Error>> {
    let mut scheduler = Scheduler::new(SchedulerConfig { local: true, ..SchedulerConfig::default() })?;
    let shuffle = ShuffleDependency::new(ShuffleId(0), RddId(0), data.reducers);
    let counts = RddNode::derived(RddId(1), data.reducers, vec![Dependency::Shuffle(shuffle)]);
    let (job, rdd, properties) = (JobId(0), RddId(1), Properties::default());
    let mut inbox = vec![
        Event::ExecutorRegistered(ExecutorSpec {
            executor: ExecutorId::DRIVER,
            host: "localhost".into(),
            address: "".into(),
            cpus: Cpus::cores(cores),
            resources: BTreeMap::new(),
            profile: ProfileId::DEFAULT,
        }),
        Event::ExecutorLaunched { executor: ExecutorId::DRIVER },
        Event::RddsRegistered(vec![RddNode::source(RddId(0), maps), counts]),
        Event::JobSubmitted(JobSpec { job, rdd, partitions: Partitions::All, properties }),
    ];
    let (to_threads, done) = start_threads(data, cores);
    let (clock, mut kinds, mut rows, mut answer) =
        (Instant::now(), HashMap::new(), HashMap::new(), Counts::new());
    loop {
        let mut effects = Vec::new();
        scheduler.handle_all(Timestamp(clock.elapsed().as_micros() as u64), inbox.drain(..), &mut effects);
        for effect in effects {
            match effect {
                Effect::PrepareStage(stage) => drop(kinds.insert(stage.set, stage.kind)),
                Effect::LaunchTask(task) => {
                    to_threads.send(Work { kind: kind_of(&kinds, task.set), task })?
                }
                Effect::DeliverResult { attempt, .. } => {
                    answer.extend(rows.remove(&attempt).unwrap_or_default())
                }
                Effect::JobSucceeded { .. } => return Ok(answer),
                Effect::JobFailed { error, .. } => return Err(error.into()),
                // Listener events, and effects that concern executors elsewhere.
                _ => (),
            }
        }
        let (attempt, result) = done.recv()?;
        let status = match result {
            Ok((outcome, counts)) => {
                rows.insert(attempt, counts);
                TaskStatus::Finished(outcome)
            }
            Err(message) => {
                let (failure, metrics) = (TaskFailure::panicked(message), TaskMetrics::default());
                TaskStatus::Failed { failure, metrics, accumulators: false }
            }
        };
        inbox.push(Event::StatusUpdate { executor: ExecutorId::DRIVER, attempt, status });
    }
}

fn kind_of(kinds: &HashMap<StageAttemptId, StageTaskKind>, set: StageAttemptId) -> StageTaskKind {
    kinds.get(&set).copied().expect("a stage is prepared before its tasks are launched")
}

/// One thread for each core, fed from one queue.
fn start_threads(data: &Arc<Data>, cores: u32) -> (Sender<Work>, Receiver<Done>) {
    let (to_threads, work) = mpsc::channel::<Work>();
    let (to_driver, done) = mpsc::channel();
    let work = Arc::new(Mutex::new(work));
    for _ in 0..cores {
        let (data, work, to_driver) = (data.clone(), work.clone(), to_driver.clone());
        thread::spawn(move || {
            // The queue closes when the driver is done, and the thread ends with it.
            while let Ok(Work { task, kind }) = work.lock().expect("no thread panics with the lock").recv() {
                let result = std::panic::catch_unwind(|| compute(&data, &task, kind));
                let result = result.map_err(|_| "the task panicked".to_owned());
                if to_driver.send((task.attempt, result)).is_err() {
                    break;
                }
            }
        });
    }
    (to_threads, done)
}

fn compute(data: &Data, task: &TaskDescription, kind: StageTaskKind) -> (TaskOutcome, Counts) {
    match kind {
        StageTaskKind::ShuffleMap(_) => (count_piece(data, task.partition.0), Counts::new()),
        StageTaskKind::Result(_) => (TaskOutcome::default(), add_up(data, task.partition.0)),
    }
}

/// Counts the words of one piece, and leaves the counts where the reducers find them.
fn count_piece(data: &Data, map: u32) -> TaskOutcome {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for word in data.text[map as usize].split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut buckets = vec![Counts::new(); data.reducers as usize];
    for (word, count) in counts {
        let bucket =
            word.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        buckets[(bucket % data.reducers) as usize].push((word.to_owned(), count));
    }
    let sizes: Vec<_> = buckets.iter().map(|bucket| bucket.len() as u64 * 16).collect();
    let mut blocks = data.blocks.lock().expect("no thread panics with the lock");
    blocks.extend((0..).zip(buckets).map(|(reducer, bucket)| ((map, reducer), bucket)));
    let sizes = BlockSizes::from_bytes(&sizes, &SizeLimits::default());
    TaskOutcome { map_output: Some(MapOutput { sizes, checksum: None }), ..TaskOutcome::default() }
}

/// Adds up the counts that every map task left for one reducer.
fn add_up(data: &Data, reducer: u32) -> Counts {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for map in 0..data.text.len() as u32 {
        let block = data.blocks.lock().expect("no thread panics with the lock").remove(&(map, reducer));
        for (word, count) in block.unwrap_or_default() {
            *sums.entry(word).or_default() += count;
        }
    }
    sums.into_iter().collect()
}

/// Pieces of text whose words follow Zipf's law, more or less: a short word is much more frequent than a long one.
fn make_text(megabytes: usize, pieces: u32) -> Vec<String> {
    let make_piece = |piece: u32| {
        let mut rng = Rng::new(u64::from(piece));
        let size = megabytes * 1_000_000 / pieces as usize;
        let mut text = String::with_capacity(size + 16);
        while text.len() < size {
            let range = 1 << rng.below(17);
            text.push_str(&word(rng.below(range)));
            text.push(' ');
        }
        text
    };
    (0..pieces).map(make_piece).collect()
}

fn word(mut n: usize) -> String {
    let syllables = ["ka", "to", "mi", "re", "su", "no", "la", "he"];
    let mut word = String::new();
    loop {
        word.push_str(syllables[n % 8]);
        n /= 8;
        if n == 0 {
            return word;
        }
    }
}
