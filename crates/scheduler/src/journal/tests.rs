//! A journal gives back what was recorded, and reports what is wrong when it is damaged.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{
    AttemptId, Cpus, ExecutorId, ExecutorLossReason, JobId, ProfileId, Properties, RddId, RddNode, Rng,
    TaskFailure, TaskMetrics, Timestamp,
};

use super::{JournalError, JournalReader, Recorder, ReplayError, replay};
use crate::{
    Effect, Event, ExecutorSpec, JobSpec, Partitions, Scheduler, SchedulerConfig, TaskOutcome, TaskStatus,
};

/// Records a run of a few jobs in which tasks finish, fail and are lost with their executors.
fn record(seed: u64) -> (Recorder, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let config = SchedulerConfig { seed, ..SchedulerConfig::default() };
    let mut recorder = Recorder::new(config).unwrap();
    let mut now = Timestamp::from_secs(1);
    let mut running: Vec<(ExecutorId, AttemptId)> = Vec::new();
    for step in 0..200 {
        now += Duration::from_millis(rng.below(500) as u64);
        let events = random_events(&mut rng, step, &mut running);
        let mut effects = Vec::new();
        recorder.handle_all(now, events, &mut effects);
        running.extend(effects.iter().filter_map(|effect| match effect {
            Effect::LaunchTask(task) => Some((task.executor, task.attempt)),
            _ => None,
        }));
        if step % 50 == 49 {
            recorder.checkpoint();
        }
    }
    let bytes = recorder.take_bytes();
    (recorder, bytes)
}

fn random_events(rng: &mut Rng, step: u32, running: &mut Vec<(ExecutorId, AttemptId)>) -> Vec<Event> {
    let executor = ExecutorId(rng.below(6) as u32);
    match rng.below(6) {
        0 => vec![register(executor), Event::ExecutorLaunched { executor }],
        1 => {
            let (job, rdd, partitions) = (JobId(step), RddId(step), Partitions::All);
            let nodes = vec![RddNode::source(rdd, 1 + rng.below(20) as u32)];
            let job = JobSpec { job, rdd, partitions, properties: Properties::default(), rows_seen: None };
            vec![Event::RddsRegistered(nodes), Event::JobSubmitted(job)]
        }
        2 if rng.below(4) == 0 => {
            vec![Event::ExecutorLost { executor, reason: ExecutorLossReason::process_lost("gone") }]
        }
        3 => vec![Event::Tick],
        _ => (0..rng.below(4)).filter_map(|_| report(rng, running)).collect(),
    }
}

fn register(executor: ExecutorId) -> Event {
    Event::ExecutorRegistered(ExecutorSpec {
        executor,
        host: format!("h{}", executor.0).into(),
        address: "".into(),
        cpus: Cpus::cores(2),
        resources: BTreeMap::new(),
        profile: ProfileId::DEFAULT,
    })
}

fn report(rng: &mut Rng, running: &mut Vec<(ExecutorId, AttemptId)>) -> Option<Event> {
    let at = rng.below(running.len());
    let (executor, attempt) = (at < running.len()).then(|| running.swap_remove(at))?;
    let status = if rng.below(5) == 0 {
        let (failure, metrics) = (TaskFailure::panicked("boom"), TaskMetrics::default());
        TaskStatus::Failed { failure, metrics, accumulators: true }
    } else {
        TaskStatus::Finished(TaskOutcome::default())
    };
    Some(Event::StatusUpdate { executor, attempt, status })
}

/// The whole state as text, without the addresses that bit sets show.
fn state(scheduler: &Scheduler) -> String {
    let text = format!("{scheduler:#?}");
    text.lines().filter(|line| !line.contains("data: 0x")).collect()
}

#[test]
fn a_replay_gives_the_same_effects_and_ends_in_the_same_state() {
    for seed in 0..20 {
        let (mut recorder, bytes) = record(seed);

        let replayed = replay(&bytes).unwrap();

        assert_eq!(replayed.hash, recorder.checkpoint(), "seed {seed}");
        assert_eq!(replayed.turns, 200);
        assert!(replayed.effects > 100, "something happened: {}", replayed.effects);
        assert!(state(&replayed.scheduler) == state(recorder.scheduler()), "seed {seed}: the states differ");
    }
}

#[test]
fn other_decisions_are_noticed_at_the_next_checkpoint() {
    let (_, bytes) = record(3);
    let other = SchedulerConfig { seed: 4, ..SchedulerConfig::default() };
    let reader = JournalReader::new(&bytes).unwrap();
    let mut changed = Recorder::new(other).unwrap().take_bytes();
    let own = Recorder::new(reader.config().clone()).unwrap().take_bytes().len();
    changed.extend_from_slice(&bytes[own..]);

    let error = replay(&changed).unwrap_err();

    assert!(matches!(error, ReplayError::Diverged { .. }), "another seed shuffles offers otherwise: {error}");
}

#[test]
fn a_journal_that_is_cut_off_is_read_up_to_there() {
    let (_, bytes) = record(1);
    let cut = &bytes[..bytes.len() - 3];

    let entries: Vec<_> = JournalReader::new(cut).unwrap().collect();

    let (last, whole) = entries.split_last().unwrap();
    assert!(matches!(last, Err(JournalError::CutOff { .. })), "{last:?}");
    assert!(whole.iter().all(Result::is_ok));
    assert_eq!(whole.len(), 203, "200 turns and the first three of four checkpoints");
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    let (_, bytes) = record(2);
    let mut rng = Rng::new(7);
    assert_eq!(JournalReader::new(b"something else").unwrap_err(), JournalError::NotAJournal);
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        let at = rng.below(damaged.len());
        damaged[at] ^= 1 << rng.below(8);

        // For any flipped bit reading ends, with an error or with other entries.
        if let Ok(reader) = JournalReader::new(&damaged) {
            assert!(reader.take(1000).count() < 1000);
        }
    }
}

#[test]
fn a_launch_and_its_end_take_few_bytes() {
    let mut recorder = Recorder::new(SchedulerConfig::default()).unwrap();
    let now = Timestamp::from_secs(1_700_000_000);
    recorder.handle_all(
        now,
        vec![register(ExecutorId(0)), Event::ExecutorLaunched { executor: ExecutorId(0) }],
        &mut Vec::new(),
    );
    recorder.handle(now, Event::RddsRegistered(vec![RddNode::source(RddId(0), 1000)]));
    let job = JobSpec {
        job: JobId(0),
        rdd: RddId(0),
        partitions: Partitions::All,
        properties: Properties::default(),
        rows_seen: None,
    };
    recorder.handle(now, Event::JobSubmitted(job));
    recorder.take_bytes();

    for attempt in (0..1000).map(AttemptId) {
        let status = TaskStatus::Finished(TaskOutcome::default());
        recorder.handle(now, Event::StatusUpdate { executor: ExecutorId(0), attempt, status });
    }

    let bytes_per_task = recorder.take_bytes().len() / 1000;
    assert!(bytes_per_task <= 40, "{bytes_per_task} bytes");
}
