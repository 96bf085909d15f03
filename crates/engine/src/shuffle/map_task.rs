//! What a map task does: compute its partition and deal the rows to reduce partitions.

use std::marker::PhantomData;

use firesteel_scheduler::{
    MapOutput,
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_storage::codec::ContentSum;
use firesteel_types::ShuffleId;

use super::Buckets;
use crate::{
    data::Data,
    partitioner::KeyPartitioner,
    rdd::Rdd,
    ship::{self, Ship, ShipError},
    task::{
        Form, KeptOutput, MapPlace, StageProgram, TaskContext, TaskOutput, abort_storage, freeze_program,
    },
};

/// How the rows of a map task become the rows that are shuffled: as they are, or combined by key.
pub(crate) trait MapSide<T>: Ship + Send + Sync + 'static {
    /// A row that is shuffled.
    type Row: Data;

    /// Puts all rows into buckets.
    fn deal<'a>(&self, rows: impl Iterator<Item = T>, task: &'a TaskContext) -> Buckets<'a, Self::Row>;
}

/// Deals rows as they are.
pub(crate) struct Deal<K: 'static, V> {
    pub(crate) partitioner: KeyPartitioner<K>,
    pub(crate) value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static> Ship for Deal<K, V> {
    fn freeze(&self, out: &mut ship::Frozen) -> Result<(), ShipError> {
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut ship::Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { partitioner: KeyPartitioner::thaw(input)?, value: PhantomData })
    }
}

impl<K: Data, V: Data> MapSide<(K, V)> for Deal<K, V> {
    type Row = (K, V);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, (K, V)> {
        let mut buckets = Buckets::new(self.partitioner.num_partitions(), task);
        buckets.reserve(rows.size_hint().0);
        rows.for_each(|row| buckets.push(self.partitioner.partition(&row.0), row));
        buckets
    }
}

/// The map side of a shuffle.
pub(crate) struct MapTask<R, M> {
    pub(crate) rdd: R,
    pub(crate) side: M,
    pub(crate) shuffle: ShuffleId,
}

crate::ship!(impl[R: Ship, M: Ship] MapTask<R, M> { rdd, side; values shuffle });

impl<R: Rdd, M: MapSide<R::Item>> StageProgram for MapTask<R, M> {
    fn run(&self, task: &TaskContext, form: Form) -> TaskOutput {
        let rows = self.rdd.compute(task.partition(), task);
        let (dealt, records) = self.side.deal(rows, task).finish();
        let place = MapPlace::of(self.shuffle, task);
        let KeptOutput { sizes, content } = match task.environment().shuffles.keep(place, dealt, form) {
            Ok(kept) => kept,
            Err(error) => abort_storage(&error),
        };
        task.count_shuffle_written(records, sizes.iter().sum());
        let sizes = BlockSizes::from_bytes(&sizes, &SizeLimits::default());
        TaskOutput::Map(MapOutput { sizes, checksum: content.map(ContentSum::value) })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ShipError> {
        freeze_program(self)
    }
}
