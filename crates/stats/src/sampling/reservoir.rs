//! A sample of fixed size from a stream of unknown length.

use firesteel_types::Rng;

use super::draw::{self, Gaps};

/// A sample of at most `capacity` rows, each subset of that size equally likely, and the count of all rows.
///
/// Once full it draws how many rows to pass over until the next one that enters (Li's algorithm L), so a row
/// costs one comparison and random numbers only `capacity · ln(rows / capacity)` of them.
///
/// ```
/// use firesteel_stats::sampling::Reservoir;
///
/// let mut reservoir = Reservoir::new(10, 7);
/// reservoir.extend(0..1000);
///
/// let (count, sample) = reservoir.into_parts();
/// assert_eq!((count, sample.len()), (1000, 10));
/// ```
#[derive(Clone, Debug)]
pub struct Reservoir<T> {
    capacity: usize,
    items: Vec<T>,
    seen: u64,
    /// How many rows had been seen before the next one that enters.
    next: u64,
    /// The largest of `capacity` uniform numbers, if each row in the sample had drawn one and kept it.
    bar: f64,
    rng: Rng,
}

impl<T> Reservoir<T> {
    /// Makes an empty reservoir.
    pub fn new(capacity: usize, seed: u64) -> Self {
        let next = if capacity == 0 { u64::MAX } else { 0 };
        Self { capacity, items: Vec::new(), seen: 0, next, bar: 1.0, rng: Rng::new(seed) }
    }

    /// Counts a row and takes it if chance wants it.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.seen == self.next {
            self.enter(item);
        }
        self.seen += 1;
    }

    /// Gives the count of all rows and the sample, which is in no meaningful order.
    pub fn into_parts(self) -> (u64, Vec<T>) {
        (self.seen, self.items)
    }

    fn enter(&mut self, item: T) {
        if self.items.len() < self.capacity {
            self.items.push(item);
        } else {
            let place = self.rng.below(self.capacity);
            self.items[place] = item;
        }
        let passed = if self.items.len() < self.capacity { 0 } else { self.pass() };
        self.next = self.next.saturating_add(passed).saturating_add(1);
    }

    /// Lowers the bar and draws how many rows stay above it.
    fn pass(&mut self) -> u64 {
        let unit = draw::positive_unit(&mut self.rng);
        self.bar *= libm::exp(libm::log(unit) / self.capacity as f64);
        Gaps::between_hits(libm::log1p(-self.bar)).next(&mut self.rng) as u64
    }
}

impl<T> Extend<T> for Reservoir<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(capacity: usize, rows: u32, seed: u64) -> (u64, Vec<u32>) {
        let mut reservoir = Reservoir::new(capacity, seed);
        reservoir.extend(0..rows);
        reservoir.into_parts()
    }

    #[test]
    fn every_row_is_equally_likely_at_every_place_of_the_stream() {
        let (rows, capacity, runs) = (50_u32, 5, 40_000);
        let mut hits = vec![0_u32; rows as usize];
        for seed in 0..runs {
            sample(capacity, rows, seed).1.into_iter().for_each(|row| hits[row as usize] += 1);
        }

        // Each row is in a tenth of the samples: 4000 with a standard deviation of 60.
        assert!(hits.iter().all(|&n| n.abs_diff(4000) < 300), "{hits:?}");
    }

    #[test]
    fn pairs_of_rows_are_equally_likely_too() {
        let mut hits = [[0_u32; 6]; 6];
        for seed in 0..30_000 {
            let (_, mut rows) = sample(2, 6, seed);
            rows.sort_unstable();
            hits[rows[0] as usize][rows[1] as usize] += 1;
        }

        // 15 pairs: 2000 each with a standard deviation of 43.
        let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b)));
        assert!(pairs.into_iter().all(|(a, b)| hits[a][b].abs_diff(2000) < 220), "{hits:?}");
    }

    #[test]
    fn a_long_stream_is_still_sampled_evenly_at_its_end() {
        let (rows, capacity) = (1_000_000, 100);
        let in_last_half: usize = (0..20)
            .map(|seed| sample(capacity, rows, seed).1.iter().filter(|&&row| row >= rows / 2).count())
            .sum();

        // 1000 of 2000 with a standard deviation of 22.
        assert!(in_last_half.abs_diff(1000) < 120, "{in_last_half}");
    }

    proptest! {
        #[test]
        fn a_reservoir_counts_all_rows_and_keeps_different_ones(
            capacity in 0..40_usize, rows in 0..200_u32, seed: u64,
        ) {
            let (count, mut kept) = sample(capacity, rows, seed);
            kept.sort_unstable();
            let size = kept.len();
            kept.dedup();

            prop_assert_eq!(count, u64::from(rows));
            prop_assert_eq!(size, capacity.min(rows as usize));
            prop_assert_eq!(kept.len(), size);
            prop_assert!(kept.iter().all(|&row| row < rows));
            if rows as usize <= capacity {
                prop_assert_eq!(kept, (0..rows).collect::<Vec<_>>());
            }
        }
    }
}
