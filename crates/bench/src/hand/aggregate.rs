//! Sums by key.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{THREADS, both, bucket_of, share};

/// Numbers by number.
pub type Table = HashMap<u64, u64, FixedState>;

/// The sum of each key's values over `rows` rows: one table per thread, with no key in two of them.
///
/// Each thread sums its own rows first, in a table for itself and one for the other.
pub fn sum_by_key(rows: u64, pair: impl Fn(u64) -> (u64, u64) + Sync) -> [Table; THREADS] {
    let halves = both(|thread| {
        let mut tables: [Table; THREADS] = Default::default();
        for x in share(rows, thread) {
            let (key, value) = pair(x);
            *tables[bucket_of(key, THREADS)].entry(key).or_insert(0) += value;
        }
        tables
    });
    let [[mine, for_second], [for_first, theirs]] = halves.map(|tables| tables.map(std::sync::Mutex::new));
    both(|thread| {
        let (own, other) = if thread == 0 { (&mine, &for_first) } else { (&theirs, &for_second) };
        let mut sums = std::mem::take(&mut *own.lock().expect("no thread panics"));
        for (key, value) in std::mem::take(&mut *other.lock().expect("no thread panics")) {
            *sums.entry(key).or_insert(0) += value;
        }
        sums
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_one_table_with_its_sum() {
        let tables = sum_by_key(1000, |x| (x % 10, x));

        let mut all: Vec<(u64, u64)> = tables.into_iter().flatten().collect();
        all.sort_unstable();
        let expected: Vec<(u64, u64)> =
            (0..10).map(|key| (key, (0..100).map(|i| i * 10 + key).sum())).collect();
        assert_eq!(all, expected);
    }
}
