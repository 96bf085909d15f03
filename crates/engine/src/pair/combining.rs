//! The map side of a shuffle whose values are combined before they are dealt.

use std::{
    hash::Hash,
    marker::PhantomData,
    mem::{self, needs_drop},
};

use hashbrown::HashTable;

use super::{
    Combiner,
    gathered::Gathered,
    pieces::{PIECES, Pieces},
};
use crate::{
    data::Data,
    partitioner::KeyPartitioner,
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
    spill::{CombineTable, Lookup, Owned, PREFETCH_ROWS, Places, Watch},
    task::TaskContext,
};

/// The map side of a shuffle whose values are combined before they are dealt.
pub(crate) struct MapSideCombine<K: 'static, V, A> {
    pub(crate) combiner: A,
    pub(crate) partitioner: KeyPartitioner<K>,
    pub(crate) value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static, A: Ship> Ship for MapSideCombine<K, V, A> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.combiner.freeze(out)?;
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (combiner, partitioner) = (A::thaw(input)?, KeyPartitioner::thaw(input)?);
        Ok(Self { combiner, partitioner, value: PhantomData })
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> MapSide<(K, V)> for MapSideCombine<K, V, A> {
    type Row = (K, A::Combined);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, Self::Row> {
        let buckets = Buckets::new(self.partitioner.num_partitions(), task);
        let deal = |row: Self::Row| (self.partitioner.partition_inline(&row.0), row);
        let mut combining = Combining::new(&self.combiner, buckets, deal, task);
        rows.for_each(|(key, value)| combining.bring(key, value));
        combining.finish()
    }
}

/// A table that is larger is cut into pieces. Lookups in a smaller one cost less than rows that wait: while one of them waits
/// for a far cache, the processor goes on with the next.
const TABLE_BYTES: usize = 8 << 20;

/// Values that are combined by key, and then dealt: in the end, or every now and then if memory is short.
///
/// Rows come in one by one, or wait for others where that is faster: those whose keys own memory for a few ([`Places`]),
/// those that own nothing, once there are many keys, for very many ([`Pieces`]).
///
/// The rows of a task alone decide how its tables grow, and so in which order they are dealt: a task that runs again deals
/// the same rows in the same order.
pub(super) struct Combining<'a, 'b, K, V, A: Combiner<V>, T, D> {
    combiner: &'b A,
    table: CombineTable<K, A::Combined>,
    gathered: Gathered<(Owned<K>, V)>,
    pieces: Option<Pieces<K, V, A::Combined>>,
    buckets: Buckets<'a, T>,
    /// Returns the partition of a combined row, and the row in the form in which it is shuffled.
    deal: D,
    watch: Watch<(K, V, A::Combined)>,
}

impl<'a, 'b, K, V, A, T, D> Combining<'a, 'b, K, V, A, T, D>
where
    K: Hash + Eq,
    V: Clone,
    A: Combiner<V>,
    T: Data,
    D: Fn((K, A::Combined)) -> (u32, T),
{
    /// Values that own memory are not kept waiting, since they may be large.
    const IS_GATHERING: bool = needs_drop::<K>() && !needs_drop::<V>();
    const HAS_PIECES: bool = !needs_drop::<K>() && !needs_drop::<V>();

    pub(super) fn new(combiner: &'b A, buckets: Buckets<'a, T>, deal: D, task: &'a TaskContext) -> Self {
        let watch = Watch::new("combining by key before the shuffle", task);
        let gathered = Gathered::new(if Self::IS_GATHERING { PREFETCH_ROWS } else { 0 });
        Self { combiner, table: CombineTable::default(), gathered, pieces: None, buckets, deal, watch }
    }

    #[inline]
    pub(super) fn bring(&mut self, key: K, value: V) {
        let (create, add) = functions(self.combiner);
        if Self::IS_GATHERING {
            if self.gathered.push((Owned(key), value)) {
                self.bring_gathered();
            }
        } else if let Some(pieces) = &mut self.pieces {
            pieces.bring((key, value), create, add);
        } else {
            self.table.bring(key, value, create, add);
        }
        self.count(1);
    }

    /// Brings rows in whose keys lie elsewhere.
    pub(super) fn bring_borrowed<S: Lookup<K> + Copy>(&mut self, rows: &mut Vec<(S, V)>) {
        let (create, add) = functions(self.combiner);
        if Self::HAS_PIECES {
            rows.drain(..).for_each(|(key, value)| self.bring(key.into_key(), value));
        } else if Self::IS_GATHERING {
            for rows in rows.chunks(PREFETCH_ROWS) {
                Places::of(rows, &self.table).bring(rows.iter().cloned(), &mut self.table, create, add);
                self.count(rows.len() as u32);
            }
            rows.clear();
        } else {
            for (key, value) in rows.drain(..) {
                self.table.bring_sought(key.hash(), key, value, create, add);
                self.count(1);
            }
        }
    }

    #[inline(never)]
    fn bring_gathered(&mut self) {
        let (create, add) = functions(self.combiner);
        let table = &mut self.table;
        self.gathered.hand_out(|rows| Places::of(rows, table).bring(rows.drain(..), table, create, add));
    }

    #[inline]
    fn count(&mut self, rows: u32) {
        if self.watch.ticks(rows) {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        if Self::HAS_PIECES && self.table.size().held > TABLE_BYTES {
            self.pieces = Some(Pieces::of(mem::take(&mut self.table)));
        }
        let size = self.pieces.as_ref().map_or_else(|| self.table.size().and_copied(), Pieces::size);
        if self.watch.must_spill(size) {
            self.empty();
            self.buckets.spill();
            self.watch.spilled();
        }
    }

    /// Deals all rows.
    fn empty(&mut self) {
        self.bring_gathered();
        let (create, add) = functions(self.combiner);
        let Some(pieces) = self.pieces.take() else {
            let table = mem::take(&mut self.table);
            self.buckets.reserve(table.len());
            return self.deal(table.into_rows());
        };
        let mut tables = pieces.into_tables(create, add).peekable();
        // Pieces are about as large as each other.
        self.buckets.reserve(tables.peek().map_or(0, HashTable::len) * PIECES);
        tables.for_each(|table| self.deal(table));
    }

    fn deal(&mut self, rows: impl IntoIterator<Item = (K, A::Combined)>) {
        for row in rows {
            let (partition, row) = (self.deal)(row);
            self.buckets.push(partition, row);
        }
    }

    pub(super) fn finish(mut self) -> Buckets<'a, T> {
        self.empty();
        self.buckets
    }
}

/// What makes the first combined value of a key, and the next ones.
#[inline]
fn functions<V, A: Combiner<V>>(
    combiner: &A,
) -> (impl Fn(V) -> A::Combined + Copy, impl Fn(A::Combined, V) -> A::Combined + Copy) {
    (|value| combiner.create(value), |combined, value| combiner.add(combined, value))
}

#[cfg(test)]
mod tests;
