//! The map side of a shuffle whose values are combined before they are dealt.

use std::{
    hash::Hash,
    marker::PhantomData,
    mem::{self, needs_drop},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::{
    Combine, Combiner,
    combine::{GATHERED, Places, room_for},
    pieces::{PIECES, Pieces},
    sought::{Owned, Sought},
};
use crate::{
    data::Data,
    executor::TaskContext,
    partitioner::KeyPartitioner,
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
    spill::Watch,
};

/// The map side of a shuffle whose values are combined before they are dealt.
pub(crate) struct MapSideCombine<K, V, A> {
    pub(crate) combiner: A,
    pub(crate) partitioner: KeyPartitioner<K>,
    pub(crate) keys: KeysSeen,
    pub(crate) value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static, A: Ship> Ship for MapSideCombine<K, V, A> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.combiner.freeze(out)?;
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (combiner, partitioner) = (A::thaw(input)?, KeyPartitioner::thaw(input)?);
        Ok(Self { combiner, partitioner, keys: KeysSeen::default(), value: PhantomData })
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> MapSide<(K, V)> for MapSideCombine<K, V, A> {
    type Row = (K, A::Combined);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, Self::Row> {
        let buckets = Buckets::new(self.partitioner.num_partitions(), task);
        let deal = |row: Self::Row| (self.partitioner.partition_inline(&row.0), row);
        let mut combining = Combining::new(&self.combiner, &self.keys, buckets, deal, task);
        rows.for_each(|(key, value)| combining.bring(key, value));
        combining.finish()
    }
}

/// How many keys the last map task of a stage had, as far as this process knows: about as many as the next one will have.
///
/// A table that begins with room for them does not have to grow again and again.
#[derive(Default)]
pub(crate) struct KeysSeen(AtomicUsize);

/// A table that is larger is cut into pieces. Lookups in a smaller one cost less than rows that wait: while one of them waits
/// for a far cache, the processor goes on with the next.
const TABLE_BYTES: usize = 8 << 20;

/// Values that are combined by key, and then dealt: in the end, or every now and then if memory is short.
///
/// Rows come in one by one, or wait for others where that is faster: those whose keys own memory for a few ([`Places`]),
/// those that own nothing, once there are many keys, for very many ([`Pieces`]).
pub(super) struct Combining<'a, 'b, K, V, A: Combiner<V>, T, D> {
    combiner: &'b A,
    keys: &'b KeysSeen,
    table: Combine<K, A::Combined>,
    gathered: Vec<(Owned<K>, V)>,
    pieces: Option<Pieces<K, V, A::Combined>>,
    buckets: Buckets<'a, T>,
    /// Says to which partition a key and its value go, and as what.
    deal: D,
    watch: Watch,
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

    pub(super) fn new(
        combiner: &'b A,
        keys: &'b KeysSeen,
        buckets: Buckets<'a, T>,
        deal: D,
        task: &'a TaskContext,
    ) -> Self {
        let watch = Watch::new("combining by key before the shuffle", task);
        let expected = room_for::<K, A::Combined>(keys.0.load(Relaxed), task);
        let mut table = Combine::with_capacity(expected);
        let pieces = Self::is_large(&table).then(|| Pieces::of(mem::take(&mut table), expected));
        Self { combiner, keys, table, gathered: Vec::new(), pieces, buckets, deal, watch }
    }

    fn is_large(table: &Combine<K, A::Combined>) -> bool {
        Self::HAS_PIECES && table.size().held > TABLE_BYTES
    }

    #[inline]
    pub(super) fn bring(&mut self, key: K, value: V) {
        let (create, add) = functions(self.combiner);
        if Self::IS_GATHERING {
            self.gathered.push((Owned(key), value));
            if self.gathered.len() == GATHERED {
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
    pub(super) fn bring_borrowed<S: Sought<K> + Copy>(&mut self, rows: &mut Vec<(S, V)>) {
        let (create, add) = functions(self.combiner);
        if Self::HAS_PIECES {
            rows.drain(..).for_each(|(key, value)| self.bring(key.into_key(), value));
        } else if Self::IS_GATHERING {
            for rows in rows.chunks(GATHERED) {
                Places::of(rows, &mut self.table).bring(rows.iter().cloned(), &mut self.table, create, add);
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
        let places = Places::of(&self.gathered, &mut self.table);
        places.bring(self.gathered.drain(..), &mut self.table, create, add);
    }

    #[inline]
    fn count(&mut self, rows: u32) {
        if self.watch.ticks(rows) {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        if Self::is_large(&self.table) {
            let keys = self.table.len();
            self.pieces = Some(Pieces::of(mem::take(&mut self.table), keys));
        }
        let size = self.pieces.as_ref().map_or_else(|| self.table.size(), Pieces::size);
        if self.watch.must_spill(size.and_copied()) {
            self.empty();
            self.buckets.spill();
            self.watch.spilled();
        }
    }

    /// Deals all rows.
    fn empty(&mut self) {
        self.bring_gathered();
        let (create, add) = functions(self.combiner);
        let table = mem::take(&mut self.table);
        let mut keys = table.len();
        self.buckets.reserve(keys);
        self.deal(table.into_rows());
        let pieces = self.pieces.take().into_iter().flat_map(|pieces| pieces.into_tables(create, add));
        for (index, table) in pieces.enumerate() {
            if index == 0 {
                // Pieces are about as large as each other.
                self.buckets.reserve(table.len() * PIECES);
            }
            keys += table.len();
            self.deal(table);
        }
        self.keys.0.store(keys, Relaxed);
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
