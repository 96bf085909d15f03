//! Hash joins.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{bucket_of, exchange, share};

/// No further row of the same key.
const END: u32 = u32::MAX;

/// Rows by key; a key may have several.
#[derive(Debug)]
pub struct Lookup {
    heads: HashMap<u64, u32, FixedState>,
    /// Each value, and where the next one of its key is.
    rows: Vec<(u64, u32)>,
}

impl Lookup {
    /// A table of `rows`.
    pub fn of(pairs: impl ExactSizeIterator<Item = (u64, u64)>) -> Self {
        let mut heads = HashMap::with_capacity_and_hasher(pairs.len(), FixedState::default());
        let mut rows = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            let before = heads.insert(key, rows.len() as u32);
            rows.push((value, before.unwrap_or(END)));
        }
        Self { heads, rows }
    }

    /// The values of a key.
    #[inline]
    pub fn values(&self, key: u64) -> impl Iterator<Item = u64> {
        let mut next = self.heads.get(&key).copied().unwrap_or(END);
        std::iter::from_fn(move || {
            let (value, following) = *self.rows.get(next as usize)?;
            next = following;
            Some(value)
        })
    }
}

/// Joins `left` and `right`, each `rows` rows, and folds what comes out: one value for each bucket.
///
/// Both sides are dealt into buckets that fit in a cache.
pub fn join<A: Default + Send>(
    rows: u64,
    left: impl Fn(u64) -> (u64, u64) + Sync,
    right: impl Fn(u64) -> (u64, u64) + Sync,
    add: impl Fn(A, u64, u64, u64) -> A + Sync,
) -> Vec<A> {
    const BUCKETS: usize = 64;
    // The first half of the buckets is for the left side, so that one exchange moves both.
    let fill = |thread, buckets: &mut [Vec<(u64, u64)>]| {
        let (lefts, rights) = buckets.split_at_mut(BUCKETS);
        for x in share(rows, thread) {
            let row = left(x);
            lefts[bucket_of(row.0, BUCKETS)].push(row);
        }
        for x in share(rows, thread) {
            let row = right(x);
            rights[bucket_of(row.0, BUCKETS)].push(row);
        }
    };
    let dealt = exchange(2 * BUCKETS, rows / (2 * BUCKETS as u64), fill, |_, pieces| pieces);
    let (lefts, rights) = dealt.split_at(BUCKETS);
    let joined = super::both(|thread| {
        let mine = (thread..BUCKETS).step_by(super::THREADS);
        mine.map(|bucket| {
            let right: Vec<(u64, u64)> = rights[bucket].concat();
            let table = Lookup::of(right.into_iter());
            lefts[bucket].iter().flatten().fold(A::default(), |sum, (key, value)| {
                table.values(*key).fold(sum, |sum, other| add(sum, *key, *value, other))
            })
        })
        .collect::<Vec<_>>()
    });
    joined.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_gives_all_its_values_and_an_unknown_one_none() {
        let table = Lookup::of([(1, 10), (2, 20), (1, 11)].into_iter());

        let mut found: Vec<u64> = table.values(1).collect();
        found.sort_unstable();
        assert_eq!(found, [10, 11]);
        assert_eq!(table.values(3).count(), 0);
    }

    #[test]
    fn a_join_pairs_every_row_with_every_row_of_its_key() {
        // Keys 0 to 9 on the left, ten rows each; keys 0 to 4 on the right, twenty rows each.
        let pairs = join(100, |x| (x % 10, x), |x| (x % 5, x), |n: u64, _, _, _| n + 1);

        assert_eq!(pairs.iter().sum::<u64>(), 5 * 10 * 20);
    }
}
