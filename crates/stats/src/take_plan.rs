//! Which partitions `take` runs: as few as will do, in jobs that grow.

use std::ops::Range;

/// How fast `take` widens its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakeSettings {
    /// Partitions of the first job; 0 counts as 1.
    pub initial_partitions: u32,
    /// How many times the partitions scanned so far the next job may have at most; less than 2 counts as 2.
    pub scale_up_factor: u32,
}

impl Default for TakeSettings {
    fn default() -> Self {
        Self { initial_partitions: 1, scale_up_factor: 4 }
    }
}

/// The jobs of one `take`: returns which partitions to run next, and is told how many rows came.
///
/// Partitions are run in order, each exactly once, so rows put together job by job are in partition order.
///
/// ```
/// use firesteel_stats::{TakePlan, TakeSettings};
///
/// let mut plan = TakePlan::new(10, 100, TakeSettings::default());
/// assert_eq!(plan.next_partitions(), Some(0..1));
/// plan.on_rows(5);
/// assert_eq!(plan.next_partitions(), Some(1..3));
/// plan.on_rows(8);
/// assert_eq!(plan.next_partitions(), None);
/// ```
#[derive(Clone, Debug)]
pub struct TakePlan {
    wanted: u64,
    found: u64,
    scanned: u32,
    partitions: u32,
    settings: TakeSettings,
}

impl TakePlan {
    /// Plans to take `wanted` rows from an RDD.
    pub fn new(wanted: u64, partitions: u32, settings: TakeSettings) -> Self {
        Self { wanted, found: 0, scanned: 0, partitions, settings }
    }

    /// The partitions of the next job; none when enough rows came or all partitions ran.
    pub fn next_partitions(&self) -> Option<Range<u32>> {
        if self.missing() == 0 || self.scanned == self.partitions {
            return None;
        }
        let end = self.scanned.saturating_add(self.job_size()).min(self.partitions);
        Some(self.scanned..end)
    }

    /// How many rows are still wanted: no task of the next job needs to give more.
    pub fn missing(&self) -> u64 {
        self.wanted.saturating_sub(self.found)
    }

    /// Takes the news that the job over [`TakePlan::next_partitions`] gave this many rows.
    pub fn on_rows(&mut self, rows: u64) {
        if let Some(job) = self.next_partitions() {
            self.scanned = job.end;
            self.found = self.found.saturating_add(rows);
        }
    }

    fn job_size(&self) -> u32 {
        let Self { found, scanned, settings, .. } = *self;
        let most = scanned.saturating_mul(settings.scale_up_factor.max(2));
        if scanned == 0 {
            settings.initial_partitions.max(1)
        } else if found == 0 {
            most
        } else {
            // Half as many more than the rows per partition so far let expect.
            let expected =
                (u128::from(self.missing()) * u128::from(scanned) * 3).div_ceil(u128::from(found) * 2);
            u32::try_from(expected).unwrap_or(u32::MAX).min(most)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a plan over partitions with these many rows, and lists its jobs.
    fn jobs(wanted: u64, rows: &[u64], settings: TakeSettings) -> Vec<Range<u32>> {
        let mut plan = TakePlan::new(wanted, rows.len() as u32, settings);
        let mut jobs = Vec::new();
        while let Some(job) = plan.next_partitions() {
            let missing = plan.missing();
            let came = rows[job.start as usize..job.end as usize].iter().map(|&rows| rows.min(missing)).sum();
            plan.on_rows(came);
            jobs.push(job);
        }
        jobs
    }

    /// Behaviours: RDD-010.
    #[test]
    fn jobs_grow_fourfold_while_nothing_is_found() {
        let jobs = jobs(1, &[0; 1000], TakeSettings::default());

        assert_eq!(jobs, [0..1, 1..5, 5..25, 25..125, 125..625, 625..1000]);
    }

    /// Behaviours: RDD-010.
    #[test]
    fn jobs_grow_by_what_is_missing_once_something_is_found() {
        let jobs = |wanted, rows: &[u64]| jobs(wanted, rows, TakeSettings::default());

        assert!(jobs(0, &[1; 9]).is_empty());
        assert_eq!(jobs(1, &[1; 9]), std::slice::from_ref(&(0..1)));
        assert_eq!(jobs(2, &[1; 9]), [0..1, 1..3], "1.5 rounded up");
        assert_eq!(jobs(3, &[1; 9]), [0..1, 1..4]);
        assert_eq!(jobs(9, &[1; 9]), [0..1, 1..5, 5..9], "12 partitions would be four times one at most");
        assert_eq!(jobs(40, &[1; 99]), [0..1, 1..5, 5..25, 25..48], "1.5 × 15 × 25 / 25");
        assert!(jobs(5, &[]).is_empty());
        assert_eq!(jobs(u64::MAX, &[u64::MAX / 4; 3]), [0..1, 1..3]);
    }

    /// Behaviours: RDD-010.
    #[test]
    fn the_first_job_and_the_growth_can_be_set_and_growth_is_at_least_twofold() {
        let jobs = |initial_partitions, scale_up_factor| {
            jobs(1, &[0; 100], TakeSettings { initial_partitions, scale_up_factor })
        };

        assert_eq!(jobs(10, 8), [0..10, 10..90, 90..100]);
        assert_eq!(jobs(0, 0), [0..1, 1..3, 3..9, 9..27, 27..81, 81..100]);
        assert_eq!(jobs(1000, 2), std::slice::from_ref(&(0..100)));
    }

    proptest! {
        #[test]
        fn partitions_run_in_order_at_most_once_until_there_are_enough_rows(
            rows in prop::collection::vec(0..20_u64, 0..200), wanted in 0..1000_u64,
            initial_partitions in 0..20_u32, scale_up_factor in 0..10_u32,
        ) {
            let jobs = jobs(wanted, &rows, TakeSettings { initial_partitions, scale_up_factor });

            let mut end = 0;
            for job in &jobs {
                prop_assert!(job.start == end && job.end > end, "{:?}", jobs);
                end = job.end;
            }
            let found: u64 = rows[..end as usize].iter().sum();
            prop_assert!(found >= wanted || end as usize == rows.len());
            if let Some(last) = jobs.last() {
                prop_assert!(rows[..last.start as usize].iter().sum::<u64>() < wanted, "no job in vain");
            }
        }
    }
}
