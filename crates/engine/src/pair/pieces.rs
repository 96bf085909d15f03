//! A table in pieces that fit in a cache: [`Pieces`].

use std::hash::Hash;

use hashbrown::HashTable;

use crate::{
    partitioner::hash_of,
    spill::{CombineTable, Owned, Size, bring_into, bytes_of},
};

/// How many pieces there are: what a processor can write to in turn without losing its place.
pub(super) const PIECES: usize = 256;
/// What rows that wait for a piece may take, now or in the piece; as much as the piece itself if that is more.
const WAITING_BYTES_MAX: usize = 32 << 10;
/// The fewest rows that there is room for, if so many are not too large.
const WAITING_ROWS_MIN: usize = 32;

/// The combined value of each key in tables by the hash of the key, and rows that wait to be brought in.
///
/// In a table that is larger than the caches, almost every lookup waits for memory. Here a row first goes to the end of
/// those that wait for its piece, which is no lookup, and when there are many of them they are brought in one right after
/// the other, while the piece is in the cache.
pub(super) struct Pieces<K, V, C> {
    tables: Vec<HashTable<(K, C)>>,
    waiting: Vec<Vec<(K, V)>>,
    /// The bytes of all tables.
    combined_bytes: usize,
    /// The bytes of all that wait, and of room for more.
    waiting_bytes: usize,
}

impl<K: Hash + Eq, V, C: Clone> Pieces<K, V, C> {
    /// The pieces of a table.
    pub(super) fn of(table: CombineTable<K, C>) -> Self {
        let keys = table.len() / PIECES;
        // A little more than the mean, so that the usual spread does not make pieces grow.
        let mut tables: Vec<_> = (0..PIECES).map(|_| HashTable::with_capacity(keys + keys / 4)).collect();
        for row in table.into_rows() {
            let hash = hash_of(&row.0);
            tables[piece_of(hash)].insert_unique(hash_within(hash), row, |row| hash_within(hash_of(&row.0)));
        }
        let combined_bytes = tables.iter().map(bytes_of).sum();
        Self { tables, waiting: (0..PIECES).map(|_| Vec::new()).collect(), combined_bytes, waiting_bytes: 0 }
    }

    /// Brings a row in, now or later. Rows of one key come in in their order.
    #[inline]
    pub(super) fn bring(&mut self, row: (K, V), create: impl Fn(V) -> C, add: impl Fn(C, V) -> C) {
        let piece = piece_of(hash_of(&row.0));
        let waiting = &mut self.waiting[piece];
        if waiting.len() == waiting.capacity() {
            self.make_room(piece, create, add);
        }
        self.waiting[piece].push(row);
    }

    /// Makes room for rows that wait, or brings them in when they are many.
    #[inline(never)]
    fn make_room(&mut self, piece: usize, create: impl Fn(V) -> C, add: impl Fn(C, V) -> C) {
        let (waiting, table) = (&mut self.waiting[piece], &mut self.tables[piece]);
        let row_bytes = size_of::<(K, V)>().max(size_of::<(K, C)>()).max(1);
        let rows_max = (WAITING_BYTES_MAX.max(bytes_of(table)) / row_bytes).max(1);
        if waiting.len() < rows_max {
            let more = waiting.len().max(WAITING_ROWS_MIN.min(rows_max));
            waiting.reserve_exact(more);
            self.waiting_bytes += more * size_of::<(K, V)>();
        } else {
            self.combined_bytes -= bytes_of(table);
            bring_all(table, waiting.drain(..), create, add);
            self.combined_bytes += bytes_of(table);
        }
    }

    /// What it holds. Its tables are spilled by way of a copy; before that, one of them grows at a time.
    pub(super) fn size(&self) -> Size {
        let one_grows = 2 * (self.combined_bytes / PIECES + WAITING_BYTES_MAX);
        Size { held: self.combined_bytes + self.waiting_bytes, growth: self.combined_bytes + one_grows }
    }

    /// One table after the other, with all its rows.
    ///
    /// Their keys come in an order that a table of them on the reduce side likes: a piece has the keys of a few
    /// neighbouring places in it.
    pub(super) fn into_tables(
        self,
        create: impl Fn(V) -> C,
        add: impl Fn(C, V) -> C,
    ) -> impl ExactSizeIterator<Item = HashTable<(K, C)>> {
        self.tables.into_iter().zip(self.waiting).map(move |(mut table, waiting)| {
            bring_all(&mut table, waiting, &create, &add);
            table
        })
    }
}

#[inline(never)]
fn bring_all<K: Hash + Eq, V, C: Clone>(
    table: &mut HashTable<(K, C)>,
    rows: impl IntoIterator<Item = (K, V)>,
    create: impl Fn(V) -> C,
    add: impl Fn(C, V) -> C,
) {
    for (key, value) in rows {
        let hash = hash_within(hash_of(&key));
        bring_into(table, hash, |key| hash_within(hash_of(key)), (Owned(key), value), &create, &add);
    }
}

/// The piece of a key with this hash.
#[inline]
const fn piece_of(hash: u64) -> usize {
    (hash >> 8) as usize % PIECES
}

/// The hash by which a key is found in its piece.
///
/// A table looks at the lowest and the highest bits. The keys of a piece have the second byte in common, so it is left
/// out; the first byte, which tells neighbours in a large table apart, becomes the last.
#[inline]
const fn hash_within(hash: u64) -> u64 {
    hash >> 16 | hash << 56
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn rows_come_in_in_their_order_whether_they_wait_or_not() {
        const KEYS: u64 = 5_000;
        // So large that few of them may wait.
        let row = |x: u64| (x * x % 10_007 % KEYS, [x; 64]);
        let (create, add) =
            (|[x, ..]: [u64; 64]| vec![x], |list: Vec<u64>, [x, ..]: [u64; 64]| [list, vec![x]].concat());
        let mut table = CombineTable::default();
        (0..20_000).map(row).for_each(|(key, value)| table.bring(key, value, create, add));

        let mut pieces = Pieces::of(table);
        (20_000..60_000).for_each(|x| pieces.bring(row(x), create, add));

        let waited = pieces.waiting.iter().map(Vec::len).sum::<usize>();
        assert!((1..40_000).contains(&waited), "some were brought in before the end");
        let mut expected: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        (0..60_000).for_each(|x| expected.entry(row(x).0).or_default().push(x));
        let tables = pieces.into_tables(create, add);
        assert_eq!(tables.len(), PIECES);
        assert_eq!(tables.flatten().collect::<BTreeMap<_, _>>(), expected);
    }

    /// Values much larger than what they are combined to, and the other way round.
    #[test]
    fn what_waits_takes_no_more_than_what_is_combined_and_all_of_it_is_counted() {
        fn check<V: Clone, C: Clone>(keys: u64, value: V, combined: C) {
            let mut pieces = Pieces::of(CombineTable::<u64, C>::default());
            for round in 0..4 {
                for key in 0..keys {
                    pieces.bring((key, value.clone()), |_| combined.clone(), |combined, _| combined);
                }
                let combined_bytes: usize = pieces.tables.iter().map(bytes_of).sum();
                let waiting_bytes: usize =
                    pieces.waiting.iter().map(|rows| rows.capacity() * size_of::<(u64, V)>()).sum();
                assert_eq!(pieces.size().held, combined_bytes + waiting_bytes, "round {round}");
                // Room doubles, and so may be just short of twice what it should be.
                assert!(
                    waiting_bytes <= 2 * combined_bytes.max(PIECES * WAITING_BYTES_MAX),
                    "{waiting_bytes}"
                );
                let most = pieces.waiting.iter().map(Vec::len).max().unwrap_or_default();
                let table_bytes = pieces.tables.iter().map(bytes_of).max().unwrap_or_default();
                let more_bytes = most.saturating_sub(WAITING_ROWS_MIN) * size_of::<(u64, C)>();
                assert!(more_bytes <= 2 * table_bytes.max(WAITING_BYTES_MAX), "{most} rows wait");
            }
        }
        check(50_000, 0_u64, 0_u64);
        check(50_000, [0_u64; 60], 0_u64);
        check(50_000, 0_u64, [0_u64; 60]);
        check(2_000, [0_u64; 2_000], 0_u64);
    }

    #[test]
    fn keys_are_spread_over_pieces_and_over_the_places_in_each() {
        let mut seen = vec![Vec::new(); PIECES];
        for key in 0..100_000_u64 {
            let hash = hash_of(&key);
            seen[piece_of(hash)].push(hash_within(hash));
        }

        for hashes in seen {
            let different = |shift: u32, bits: u32| {
                let mut some: Vec<_> = hashes.iter().map(|hash| hash >> shift & ((1 << bits) - 1)).collect();
                some.sort_unstable();
                some.dedup();
                some.len()
            };
            assert!(hashes.len() > 250, "{}", hashes.len());
            assert!(different(0, 8) > 128 && different(57, 7) > 64, "more than half of all");
        }
    }
}
