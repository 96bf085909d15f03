//! Map stages that give other rows when they run again.

use firesteel_scheduler::{Event, TaskStatus};
use firesteel_types::{Dependency, RddId, RddNode, ShuffleDependency, ShuffleId, TaskFailure};

use crate::harness::{
    Effects, World, derived, fetch_failed, indeterminate, map_outcome, pinned, placed, shuffled,
};

const READERS: [(u32, &str); 2] = [(2, "h3"), (2, "h3")];

impl World {
    /// A map task finishes with content of this checksum.
    fn finish_sum(&mut self, attempt: u64, checksum: u64) -> Effects {
        self.status(attempt, TaskStatus::Finished(map_outcome(&[10, 10], Some(checksum))))
    }
}

/// A source with one partition at each of executors 0 and 1.
fn two_places() -> RddNode {
    pinned(0, &[(0, "h1"), (1, "h2")])
}

/// Shuffle 0 of `source` is read by the two map tasks of shuffle 1 (attempts 2 and 3), and that by two result tasks.
fn three_stages(source: RddNode) -> World {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([
        source,
        placed(shuffled(1, 2, 0, 0), &READERS),
        placed(shuffled(2, 2, 1, 1), &READERS),
    ]);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    world
}

/// Shuffle 0 of `source` is read by two result tasks, attempts 2 and 3.
fn two_stages(source: RddNode) -> World {
    let mut world = two_stages_to_be_read(source);
    world.submit(1);
    world.finish_maps(&[0, 1], 2);
    world
}

/// The same before the job is submitted.
fn two_stages_to_be_read(source: RddNode) -> World {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([source, placed(shuffled(1, 2, 0, 0), &READERS)]);
    world
}

/// One map task of stage 1 finishes, the other fails to fetch. The sizes of the attempts that follow.
fn attempts_after_failure(mut world: World) -> Vec<String> {
    world.finish_maps(&[2], 2);
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    let mut effects = world.resubmit();
    let mut submitted = effects.lines_with("submitted");
    while let Some(first) = effects.launches().first() {
        let is_result = first.set.stage.0 == 2;
        let attempts = effects.attempts();
        effects = Effects(Vec::new());
        for attempt in attempts {
            effects = if is_result { world.finish(attempt) } else { world.finish_maps(&[attempt], 2) };
        }
        submitted.extend(effects.lines_with("submitted"));
    }
    assert_eq!(effects.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
    submitted
}

/// Behaviours: DAG-050.
#[test]
fn an_indeterminate_map_stage_reruns_completely_and_everything_after_it_too() {
    let rolled_back = attempts_after_failure(three_stages(indeterminate(two_places())));
    let repaired = attempts_after_failure(three_stages(two_places()));

    assert_eq!(
        rolled_back,
        [
            "* stage-0.1 submitted, 2 tasks",
            "* stage-1.1 submitted, 2 tasks",
            "* stage-2.0 submitted, 2 tasks"
        ]
    );
    assert_eq!(
        repaired,
        [
            "* stage-0.1 submitted, 1 tasks",
            "* stage-1.1 submitted, 1 tasks",
            "* stage-2.0 submitted, 2 tasks"
        ]
    );
}

/// No reader has seen the old rows, but the outputs that are left would not fit those that are made again.
///
/// Behaviours: DAG-050.
#[test]
fn an_indeterminate_map_stage_that_lacks_outputs_at_its_end_begins_anew() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([indeterminate(two_places()), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let (first, second) = (world.attempt_of("stage-0.0", 0), world.attempt_of("stage-0.0", 1));
    world.finish_map(first, &[10]);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let drained = world.finish_map(second, &[10]);

    assert_eq!(drained.lines_with("submitted"), ["* stage-0.1 submitted, 2 tasks"]);
}

/// The outputs of an earlier job are skipped, which counts as an attempt: a rerun is a second run.
///
/// Behaviours: DAG-050, DAG-026.
#[test]
fn an_indeterminate_stage_that_was_skipped_reruns_completely() {
    let mut world = two_stages(indeterminate(two_places()));
    world.finish(2);
    world.finish(3);

    let skipped = world.submit(1);
    assert_eq!(skipped.lines_with("submitted"), ["* stage-3.0 submitted, 2 tasks"]);
    let reader = skipped.attempts()[0];
    world.fail(reader, fetch_failed(0, 1, 1, "h2"));
    let again = world.resubmit();

    assert_eq!(again.lines_with("submitted"), ["* stage-2.1 submitted, 2 tasks"]);
}

/// Between two jobs half of the outputs of both shuffles are written off. The outputs that are left of shuffle 1 were read
/// from the first run of shuffle 0, and the second one deals its rows otherwise.
///
/// Behaviours: DAG-050.
#[test]
fn a_later_job_runs_an_indeterminate_stage_that_lacks_outputs_as_a_whole() {
    let submitted = |source: RddNode, second: Dependency| {
        let mut world = World::new();
        world.executors(0, &["h1", "h2"], 2).rdds([
            source,
            placed(shuffled(1, 2, 0, 0), &[(0, "h1"), (1, "h2")]),
            derived(2, 2, vec![second]),
        ]);
        let mut all = Vec::new();
        for _ in 0..2 {
            let mut effects = world.submit(2);
            all = effects.lines_with("submitted");
            while let Some(first) = effects.launches().first() {
                let is_result = matches!(first.set.stage.0, 2 | 5);
                let attempts = effects.attempts();
                effects = Effects(Vec::new());
                for attempt in attempts {
                    effects =
                        if is_result { world.finish(attempt) } else { world.finish_maps(&[attempt], 2) };
                }
                all.extend(effects.lines_with("submitted"));
            }
            assert_eq!(effects.lines_with("succeeded").len(), 1);
            world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });
        }
        world.assert_quiescent();
        all
    };
    let plain = || Dependency::Shuffle(ShuffleDependency::new(ShuffleId(1), RddId(1), 2));
    let whole = ["* stage-3.0 submitted, 2 tasks", "* stage-4.0 submitted, 2 tasks"];
    let missing = ["* stage-3.0 submitted, 1 tasks", "* stage-4.0 submitted, 1 tasks"];

    assert_eq!(submitted(indeterminate(two_places()), plain())[..2], whole);
    assert_eq!(submitted(indeterminate(two_places()), compared(1, 1))[..2], whole);
    assert_eq!(submitted(two_places(), plain())[..2], missing);
}

/// The outputs of shuffle 1 that an earlier job left were read from content that did not come again.
///
/// Behaviours: DAG-052.
#[test]
fn other_content_in_a_later_job_discards_what_an_earlier_job_read_from_the_old() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        two_places(),
        placed(derived(1, 2, vec![compared(0, 0)]), &[(0, "h1"), (1, "h2")]),
        shuffled(2, 2, 1, 1),
    ]);
    world.submit(2);
    world.finish_sum(0, 1);
    world.finish_sum(1, 1);
    world.finish_maps(&[2, 3], 2);
    world.finish(4);
    world.finish(5);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let rerun = world.submit(2).attempts();
    assert_eq!(rerun.len(), 1, "a stage that is not known to be indeterminate is repaired");
    let mismatch = world.finish_sum(rerun[0], 2);

    assert_eq!(mismatch.lines_with("submitted"), ["* stage-4.0 submitted, 2 tasks"]);
}

/// Behaviours: DAG-050.
#[test]
fn a_success_of_a_rolled_back_attempt_does_not_count() {
    let mut world = three_stages(indeterminate(two_places()));
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    world.finish_maps(&[4, 5], 2);

    // Attempt 2 read the old rows; its partition is still to be computed by attempt 6.
    let late = world.finish_maps(&[2], 2);
    world.finish_maps(&[7], 2);
    let completed = world.finish_maps(&[6], 2);

    assert_eq!(late.lines(), ["forget stage-1.0", "* attempt-2 ends"]);
    assert_eq!(completed.lines_with("submitted"), ["* stage-2.0 submitted, 2 tasks"]);
}

/// Behaviours: DAG-051.
#[test]
fn a_result_stage_that_gave_nothing_yet_is_simply_restarted() {
    let mut world = two_stages(indeterminate(two_places()));

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();
    let completed = world.finish_maps(&[4, 5], 2);
    world.finish(6);
    let last = world.finish(7);

    assert_eq!(failed.lines_with("job-0"), [""; 0]);
    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 2 tasks"]);
    assert_eq!(completed.lines_with("submitted"), ["* stage-1.1 submitted, 2 tasks"]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-051.
#[test]
fn a_result_stage_that_handed_out_results_cannot_be_rolled_back() {
    let mut world = two_stages(indeterminate(two_places()));
    world.finish(2);

    let failed = world.fail(3, fetch_failed(0, 0, 0, "h1"));

    let reason = "a map stage with indeterminate output ran again, and stage-1 has handed out results already; make \
                  the rows the same in each run (checkpoint before the repartition) and try again";
    assert_eq!(
        failed.lines(),
        [
            "forget stage-1.0".to_owned(),
            "* attempt-3 ends: fetch failed".to_owned(),
            "* stage-1.0 failed: cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: \
             connection refused"
                .to_owned(),
            format!("job-0 failed by stage-1: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            "remove blocks of executor-0".to_owned(),
        ]
    );
    world.assert_quiescent();
    assert_eq!(world.resubmit().lines(), [""; 0]);
}

/// An action has rows of one partition and asks for the other, of which an output is gone.
///
/// Behaviours: DAG-051.
#[test]
fn the_next_job_of_an_action_does_not_go_on_with_rows_of_another_run() {
    let mut world = two_stages_to_be_read(indeterminate(two_places()));
    let first = world.submit_partitions(1, &[0]);
    world.finish_maps(&first.attempts(), 2);
    let first = world.finish(2);
    assert_eq!(first.generations(), [0]);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let second = world.submit_next(1, &[1], 0);

    let reason = "a map stage with indeterminate output ran again, and an earlier job of the action has handed out \
                  results already; make the rows the same in each run (checkpoint before the repartition) and try again";
    assert_eq!(second.lines_with("job-1 failed"), [format!("job-1 failed by stage-3: {reason}")]);
    world.assert_quiescent();
}

/// Another job has the rows made again between two jobs of an action.
///
/// Behaviours: DAG-051.
#[test]
fn an_action_whose_rows_were_made_again_by_another_job_ends() {
    let mut world = two_stages_to_be_read(indeterminate(two_places()));
    let first = world.submit_partitions(1, &[0]);
    world.finish_maps(&first.attempts(), 2);
    world.finish(2);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });
    let other = world.submit(1);
    let results = world.finish_maps(&other.attempts(), 2).attempts();
    let ends: Vec<u32> =
        results.into_iter().flat_map(|attempt| world.finish(attempt).generations()).collect();
    assert_eq!(ends, [1]);

    let stale = world.submit_next(1, &[1], 0);
    let current = world.submit_next(1, &[1], 1);

    assert_eq!(
        stale.lines(),
        [
            "job-2 failed: a map stage with indeterminate output ran again after an earlier job of this action, which has \
          handed out rows of rdd-1 already; make the rows the same in each run (checkpoint before the repartition) and \
          try again"
        ]
    );
    assert_eq!(current.lines_with("failed"), [""; 0]);
    assert_eq!(current.attempts().len(), 1);
}

/// Two jobs read the shuffle. One finds an output missing and can begin anew; the other is in the middle of it.
///
/// Behaviours: DAG-051.
#[test]
fn a_result_stage_that_is_running_cannot_be_rolled_back() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2", "h3"], 2)
        .rdds([indeterminate(two_places()), placed(shuffled(1, 1, 0, 0), &READERS[..1])]);
    world.submit(1);
    world.submit(1);
    world.finish_maps(&[0, 1], 1);

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.fail(3, TaskFailure::killed("the job failed"));
    let resubmitted = world.resubmit();
    world.finish_maps(&[4, 5], 1);
    let last = world.finish(6);

    let reason =
        "a map stage with indeterminate output ran again while stage-2 was running; run the job again";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        failed.lines(),
        [
            "forget stage-1.0".to_owned(),
            "* attempt-2 ends: fetch failed".to_owned(),
            "* stage-1.0 failed: cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: \
             connection refused"
                .to_owned(),
            format!("* stage-2.0 failed: {text}"),
            format!("job-1 failed by stage-2: {reason}"),
            format!("* job-1 ends: {text}"),
            "remove blocks of executor-0".to_owned(),
            format!("kill attempt-3 on executor-2: {text}"),
        ]
    );
    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 2 tasks"]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// The first attempt of the result stage was rolled back, but one of its tasks got through with the old rows.
///
/// Behaviours: DAG-051.
#[test]
fn a_result_from_rolled_back_rows_fails_the_job() {
    let mut world = two_stages(indeterminate(two_places()));
    world.fail(2, fetch_failed(0, 0, 0, "h1"));

    let late = world.finish(3);

    let reason = "a map stage with indeterminate output ran again, and a task of stage-1.0 that read its earlier \
                  rows succeeded; run the job again";
    assert_eq!(late.lines_with("job-0 failed"), [format!("job-0 failed by stage-1: {reason}")]);
    world.assert_quiescent();
}

/// Stage 1 of job 0 is in the middle of the shuffle when the reader of job 1 finds an output missing.
///
/// Behaviours: DAG-050.
#[test]
fn a_running_map_stage_after_an_indeterminate_one_is_ended_and_begins_anew() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([
        indeterminate(two_places()),
        placed(shuffled(1, 2, 0, 0), &READERS),
        placed(shuffled(2, 1, 1, 1), &READERS[..1]),
        placed(
            derived(3, 1, vec![Dependency::Shuffle(ShuffleDependency::new(ShuffleId(0), RddId(0), 2))]),
            &READERS[..1],
        ),
    ]);
    world.submit(2);
    world.submit(3);
    world.finish_maps(&[0, 1], 2);
    world.finish_maps(&[2], 1);
    let reader = world.attempt_of("stage-3.0", 0);

    let failed = world.fail(reader, fetch_failed(0, 0, 0, "h1"));
    world.fail(3, TaskFailure::killed("rolled back"));
    let resubmitted = world.resubmit();
    let completed = world.finish_maps(&resubmitted.attempts(), 2);

    let reason = "rolled back because stage-0 has indeterminate output and ran again";
    assert_eq!(
        failed.lines(),
        [
            "forget stage-3.0".to_owned(),
            format!("* attempt-{reader} ends: fetch failed"),
            "* stage-3.0 failed: cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: \
             connection refused"
                .to_owned(),
            format!("* stage-1.0 failed: {reason}"),
            "remove blocks of executor-0".to_owned(),
            format!("kill attempt-3 on executor-2: {reason}"),
        ]
    );
    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 2 tasks"]);
    assert_eq!(
        completed.lines_with("submitted"),
        ["* stage-1.1 submitted, 2 tasks", "* stage-3.1 submitted, 1 tasks"]
    );
}

fn compared(parent: u32, shuffle: u32) -> Dependency {
    let dependency = ShuffleDependency::new(ShuffleId(shuffle), RddId(parent), 2);
    Dependency::Shuffle(ShuffleDependency { roll_back_on_mismatch: true, ..dependency })
}

/// Shuffle 0 is read by the map tasks of shuffle 1, attempts 2 and 3, of which the first finishes and the second
/// fails to fetch. The first output is made again, with content of this checksum; it was 1 before.
fn rerun_with(reads: Dependency, checksum: u64) -> (World, Effects) {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([
        two_places(),
        placed(derived(1, 2, vec![reads]), &READERS),
        placed(shuffled(2, 2, 1, 1), &READERS),
    ]);
    world.submit(2);
    for partition in 0..2 {
        let attempt = world.attempt_of("stage-0.0", partition);
        world.finish_sum(attempt, 1);
    }
    world.finish_maps(&[2], 2);
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    let effects = world.finish_sum(4, checksum);
    (world, effects)
}

/// Behaviours: DAG-052.
#[test]
fn other_content_in_a_rerun_is_told_and_rolls_back_only_where_that_is_wanted() {
    let plain = || Dependency::Shuffle(ShuffleDependency::new(ShuffleId(0), RddId(0), 2));
    let told = "warn: partition-0 of shuffle-0 gave other content when it ran again";
    let lines = |(_, effects): (World, Effects)| -> Vec<String> {
        let is_it = |line: &String| line.contains("warn") || line.contains("submitted");
        effects.lines().into_iter().filter(is_it).collect()
    };

    assert_eq!(lines(rerun_with(plain(), 1)), ["* stage-1.1 submitted, 1 tasks"]);
    assert_eq!(lines(rerun_with(compared(0, 0), 1)), ["* stage-1.1 submitted, 1 tasks"]);
    assert_eq!(lines(rerun_with(plain(), 7)), [told, "* stage-1.1 submitted, 1 tasks"]);
    assert_eq!(lines(rerun_with(compared(0, 0), 7)), [told, "* stage-1.1 submitted, 2 tasks"]);
}

/// Behaviours: DAG-052, DAG-051.
#[test]
fn other_content_aborts_a_job_that_handed_out_results_of_the_old() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2", "h3"], 4)
        .rdds([two_places(), placed(derived(1, 2, vec![compared(0, 0)]), &READERS)]);
    world.submit(1);
    world.finish_sum(0, 1);
    world.finish_sum(1, 1);
    world.finish(2);
    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();

    let mismatch = world.finish_sum(4, 2);

    let reason = "a map stage with indeterminate output ran again, and stage-1 has handed out results already; make \
                  the rows the same in each run (checkpoint before the repartition) and try again";
    let text = format!("job aborted due to stage failure: {reason}");
    assert_eq!(
        mismatch.lines(),
        [
            "forget stage-0.1".to_owned(),
            "* attempt-4 ends".to_owned(),
            "warn: partition-0 of shuffle-0 gave other content when it ran again".to_owned(),
            format!("* stage-0.1 failed: {text}"),
            format!("job-0 failed by stage-1: {reason}"),
            format!("* job-0 ends: {text}"),
        ]
    );
    world.assert_quiescent();
}

/// An indeterminate map stage whose content is compared is repaired like any other, until a difference is seen.
///
/// Behaviours: DAG-052.
#[test]
fn where_content_is_compared_an_indeterminate_stage_is_not_rolled_back_beforehand() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2", "h3"], 4)
        .rdds([indeterminate(two_places()), placed(derived(1, 2, vec![compared(0, 0)]), &READERS)]);
    world.submit(1);
    world.finish_sum(0, 1);
    world.finish_sum(1, 1);
    world.finish(2);

    world.fail(3, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();
    let same = world.finish_sum(4, 1);

    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
    assert_eq!(same.lines_with("submitted"), ["* stage-1.1 submitted, 1 tasks"]);
}
