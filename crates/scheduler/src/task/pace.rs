//! How long the tasks of a set take, and how many of them keep a slot busy for a moment.

use std::time::Duration;

use crate::config::KeepAhead;

/// The work that waits on an executor for each of its slots: many times what a round trip to the driver takes, and
/// too little to be missed on another executor.
pub(super) const WORK_AHEAD: Duration = Duration::from_millis(2);

/// What the finished tasks of a set took, the latest counting most.
///
/// It rises fast and falls slowly: when the tasks of a set differ, it is nearer to the long ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// In sixteenths of a microsecond, so that small differences are not lost; none before the first task.
    sixteenths: Option<u64>,
}

impl Pace {
    /// A task finished, and its own code took this long.
    pub(super) fn add(&mut self, run_time_us: u64) {
        let new = run_time_us.saturating_mul(16);
        self.sixteenths = Some(match self.sixteenths {
            None => new,
            Some(old) if new > old => old + (new - old) / 2,
            Some(old) => old - (old - new) / 8,
        });
    }

    /// How long a task that is sent ahead waits at most, if the others take as long as was seen and not more than
    /// those that are sent ahead at all.
    pub(super) fn patience(self, config: &KeepAhead) -> Duration {
        WORK_AHEAD + self.mean().unwrap_or_default().min(config.longest_task)
    }

    fn mean(self) -> Option<Duration> {
        self.sixteenths.map(|sixteenths| Duration::from_micros(sixteenths / 16))
    }

    /// How many tasks are sent ahead for each slot: about [`WORK_AHEAD`], one at least, none when tasks are long or
    /// their duration is unknown.
    pub(super) fn depth(self, config: &KeepAhead) -> u32 {
        let Some(one) = self.mean().filter(|one| *one <= config.longest_task) else { return 0 };
        let count = WORK_AHEAD.as_micros() / one.as_micros().max(1);
        u32::try_from(count).unwrap_or(u32::MAX).max(1).min(config.max_per_slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: KeepAhead = KeepAhead { max_per_slot: 32, longest_task: Duration::from_millis(4) };

    fn depth_after(run_times_us: &[u64]) -> u32 {
        let mut pace = Pace::default();
        for run_time_us in run_times_us {
            pace.add(*run_time_us);
        }
        pace.depth(&CONFIG)
    }

    #[test]
    fn two_milliseconds_of_work_are_sent_ahead() {
        assert_eq!(depth_after(&[]), 0, "the duration is not known yet");
        let depths = [0, 10, 62, 100, 500, 1000, 1500, 2000, 3999, 4000].map(|us| depth_after(&[us]));
        assert_eq!(depths, [32, 32, 32, 20, 4, 2, 1, 1, 1, 1]);
        assert_eq!([4001, 100_000, u64::MAX].map(|us| depth_after(&[us])), [0, 0, 0]);
        let off = KeepAhead { max_per_slot: 0, ..CONFIG };
        assert_eq!(Pace { sixteenths: Some(16) }.depth(&off), 0);
    }

    #[test]
    fn a_task_waits_for_the_work_before_it_and_what_runs() {
        let patience = |run_time_us: u64| {
            let mut pace = Pace::default();
            pace.add(run_time_us);
            pace.patience(&CONFIG).as_micros()
        };
        assert_eq!([0, 100, 4000, 50_000].map(patience), [2000, 2100, 6000, 6000]);
    }

    #[test]
    fn a_long_task_counts_at_once_and_short_ones_little_by_little() {
        assert_eq!(depth_after(&[100, 20_000]), 0, "the next one may be as long");
        let short_again = [&[100, 20_000][..], &[100; 8]].concat();
        assert_eq!(depth_after(&short_again), 1);
        let long_forgotten = [&[100, 20_000][..], &[100; 80]].concat();
        assert_eq!(depth_after(&long_forgotten), 20);
    }
}
