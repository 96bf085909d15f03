//! Which stages have a bar, and what it shows: [`StageBars`].
//!
//! No clock and no terminal: time is an argument, and a frame is plain data.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{ListenerEvent, StageAttemptId, TaskEndReason, Timestamp};

/// Bars on the screen at once, as in Spark.
const BARS_MAX: usize = 3;

/// When bars are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How long a stage runs before it has a bar: most are over by then.
    pub(super) delay: Duration,
    /// The least time between two frames.
    pub(super) every: Duration,
}

impl Default for Pace {
    /// Spark's.
    fn default() -> Self {
        Self { delay: Duration::from_millis(500), every: Duration::from_millis(200) }
    }
}

/// What one line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) stage: StageAttemptId,
    pub(super) total: u32,
    pub(super) done: u32,
    pub(super) active: u32,
}

/// The running stages, and when which of them is to be drawn.
pub(super) struct StageBars {
    pace: Pace,
    running: BTreeMap<StageAttemptId, Running>,
    last_frame: Option<Timestamp>,
    /// What the last frame shows.
    shown: Vec<StageAttemptId>,
    /// Whether it shows a stage that is over.
    is_stale: bool,
}

struct Running {
    since: Timestamp,
    total: u32,
    done: u32,
    active: u32,
}

impl StageBars {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, running: BTreeMap::new(), last_frame: None, shown: Vec::new(), is_stale: false }
    }

    pub(super) fn on_event(&mut self, now: Timestamp, event: &ListenerEvent) {
        match event {
            ListenerEvent::StageSubmitted { info, .. } => {
                let running = Running { since: now, total: info.tasks, done: 0, active: 0 };
                self.running.insert(info.id, running);
            }
            ListenerEvent::StageCompleted { info } => {
                self.running.remove(&info.id);
                self.is_stale |= self.shown.contains(&info.id);
            }
            ListenerEvent::TaskStart { set, .. } => {
                if let Some(stage) = self.running.get_mut(set) {
                    stage.active += 1;
                }
            }
            ListenerEvent::TaskEnd { set, reason, .. } => {
                if let Some(stage) = self.running.get_mut(set) {
                    stage.on_task_ended(reason);
                }
            }
            ListenerEvent::JobStart { .. }
            | ListenerEvent::JobEnd { .. }
            | ListenerEvent::TaskGettingResult { .. }
            | ListenerEvent::AccumulatorsUpdated { .. }
            | ListenerEvent::SpeculativeTaskSubmitted { .. }
            | ListenerEvent::ExecutorAdded { .. }
            | ListenerEvent::ExecutorRemoved { .. }
            | ListenerEvent::ExecutorExcluded { .. }
            | ListenerEvent::ExecutorUnexcluded { .. }
            | ListenerEvent::NodeExcluded { .. }
            | ListenerEvent::NodeUnexcluded { .. }
            | ListenerEvent::UnschedulableTaskSetAdded { .. }
            | ListenerEvent::UnschedulableTaskSetRemoved { .. } => (),
        }
    }

    /// Whether there is nothing to draw and will be nothing until an event comes.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && !self.is_stale
    }

    /// Whether a bar stands on the screen that should be gone.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// When the next frame is to be drawn, if no event comes before.
    pub(super) fn next_frame(&self) -> Option<Timestamp> {
        if self.is_stale {
            return Some(Timestamp::ZERO);
        }
        let first = self.running.values().map(|stage| stage.since).min()? + self.pace.delay;
        let again = self.last_frame.map_or(Timestamp::ZERO, |last| last + self.pace.every);
        Some(first.max(again))
    }

    /// What is to be seen from now on.
    pub(super) fn frame(&mut self, now: Timestamp) -> Vec<Bar> {
        let is_long = |stage: &Running| stage.since + self.pace.delay <= now;
        let long = self.running.iter().filter(|(_, stage)| is_long(stage)).take(BARS_MAX);
        let frame: Vec<Bar> = long.map(|(id, stage)| stage.bar(*id)).collect();
        self.shown = frame.iter().map(|bar| bar.stage).collect();
        self.last_frame = Some(now);
        self.is_stale = false;
        frame
    }

    /// The screen is empty now, and stays so for the time between two frames.
    pub(super) fn on_cleared(&mut self, now: Timestamp) {
        self.shown.clear();
        self.last_frame = Some(now);
        self.is_stale = false;
    }
}

impl Running {
    fn on_task_ended(&mut self, reason: &TaskEndReason) {
        match reason {
            TaskEndReason::Success => self.done += 1,
            TaskEndReason::Resubmitted => {
                // It had ended before, and is to be done again.
                self.done = self.done.saturating_sub(1);
                return;
            }
            TaskEndReason::Failed(_) => (),
        }
        self.active = self.active.saturating_sub(1);
    }

    fn bar(&self, stage: StageAttemptId) -> Bar {
        Bar { stage, total: self.total, done: self.done, active: self.active }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{completed, info, killed, stage_id, submitted, success, task, task_end, task_start};

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    fn bars() -> StageBars {
        StageBars::new(Pace::default())
    }

    fn hear(bars: &mut StageBars, millis: u64, events: impl IntoIterator<Item = ListenerEvent>) {
        for event in events {
            bars.on_event(at(millis), &event);
        }
    }

    fn stages(frame: &[Bar]) -> Vec<u32> {
        frame.iter().map(|bar| bar.stage.stage.0).collect()
    }

    #[test]
    fn a_stage_has_a_bar_after_half_a_second() {
        let mut bars = bars();
        assert_eq!(bars.next_frame(), None);
        hear(&mut bars, 0, [submitted(&info(3, 0, 100))]);

        assert_eq!(bars.next_frame(), Some(at(500)));
        assert!(bars.frame(at(499)).is_empty());
        assert_eq!(stages(&bars.frame(at(500))), [3]);
    }

    #[test]
    fn a_bar_counts_done_and_running_tasks() {
        let stage = info(3, 1, 100);
        let mut bars = bars();
        hear(&mut bars, 0, [submitted(&stage)]);
        hear(&mut bars, 1, (0..12).flat_map(|n| success(stage.id, task(n, 1))));
        hear(&mut bars, 2, (12..18).map(|n| task_start(stage.id, task(n, 1))));
        hear(&mut bars, 3, [task_end(stage.id, task(12, 1), killed())]);
        hear(&mut bars, 4, [task_end(stage.id, task(0, 1), TaskEndReason::Resubmitted)]);
        hear(&mut bars, 5, [task_start(stage_id(3, 0), task(0, 1))]);

        assert_eq!(bars.frame(at(600)), [Bar { stage: stage.id, total: 100, done: 11, active: 5 }]);
    }

    #[test]
    fn frames_are_at_least_a_fifth_of_a_second_apart() {
        let mut bars = bars();
        hear(&mut bars, 0, [submitted(&info(1, 0, 10))]);
        hear(&mut bars, 50, [submitted(&info(2, 0, 10))]);

        bars.frame(at(510));
        assert_eq!(bars.next_frame(), Some(at(710)), "though the second stage may be shown at 550");
        hear(&mut bars, 520, success(stage_id(1, 0), task(0, 1)));
        assert_eq!(bars.next_frame(), Some(at(710)), "a task that ends does not hurry");
    }

    #[test]
    fn a_shown_stage_that_ends_goes_at_once() {
        let (long, short) = (info(1, 0, 10), info(2, 0, 10));
        let mut bars = bars();
        hear(&mut bars, 0, [submitted(&long)]);
        hear(&mut bars, 400, [submitted(&short)]);
        bars.frame(at(500));

        hear(&mut bars, 510, [completed(&short)]);
        assert!(!bars.is_stale(), "it was not on the screen");
        hear(&mut bars, 520, [completed(&long)]);

        assert!(bars.is_stale() && !bars.is_idle());
        assert!(bars.next_frame().is_some_and(|next| next <= at(520)));
        assert!(bars.frame(at(520)).is_empty());
        assert!(bars.is_idle());
        assert_eq!(bars.next_frame(), None);
    }

    #[test]
    fn the_three_lowest_stages_are_shown_and_others_take_the_place_of_those_that_end() {
        let mut bars = bars();
        hear(&mut bars, 0, [5, 4, 3, 2, 1].map(|stage| submitted(&info(stage, 0, 10))));
        assert_eq!(stages(&bars.frame(at(500))), [1, 2, 3]);

        hear(&mut bars, 600, [completed(&info(2, 0, 10))]);

        assert_eq!(stages(&bars.frame(at(600))), [1, 3, 4]);
    }

    #[test]
    fn a_cleared_screen_stays_empty_for_a_while() {
        let mut bars = bars();
        hear(&mut bars, 0, [submitted(&info(1, 0, 10))]);
        bars.frame(at(600));

        bars.on_cleared(at(650));
        assert_eq!(bars.next_frame(), Some(at(850)));
        hear(&mut bars, 660, [completed(&info(1, 0, 10))]);

        assert!(bars.is_idle(), "the bar is gone already");
    }
}
