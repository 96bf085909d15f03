//! What a map task does: compute its partition and deal the rows to reduce partitions.

use std::{marker::PhantomData, sync::Arc};

use firesteel_scheduler::{
    MapOutput,
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_types::ShuffleId;

use super::{Buckets, store::MapBlocks};
use crate::{
    data::Data,
    executor::{Abort, TaskContext, abort_task},
    partitioner::KeyPartitioner,
    rdd::Rdd,
    ship,
    ship::{Ship, ShipError},
    stage::{Form, StageProgram, TaskOutput, freeze_program},
};

/// How the rows of a map task become the rows that are shuffled: as they are, or combined by key.
pub(crate) trait MapSide<T>: Ship + Send + Sync + 'static {
    /// A row that is shuffled.
    type Row: Data;

    /// Puts all rows into buckets.
    fn deal(&self, rows: impl Iterator<Item = T>, task: &TaskContext) -> Buckets<Self::Row>;
}

/// Deals rows as they are.
pub(crate) struct Deal<K, V> {
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

    fn deal(&self, rows: impl Iterator<Item = (K, V)>, _task: &TaskContext) -> Buckets<(K, V)> {
        let mut buckets = Buckets::new(self.partitioner.num_partitions());
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
        let buckets = self.side.deal(rows, task);
        let records: usize = buckets.iter().map(<[_]>::len).sum();
        let (blocks, sizes) = blocks_of(buckets, form);
        let written: u64 = sizes.iter().sum();
        task.count_shuffle_written(records as u64, written);
        task.environment().shuffles.put(self.shuffle, task.partition(), task.num_partitions(), blocks);
        let sizes = BlockSizes::from_bytes(&sizes, &SizeLimits::default());
        TaskOutput::Map(MapOutput { sizes, checksum: None })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ShipError> {
        freeze_program(self)
    }
}

/// The buckets in the form they are kept in, and the size of each in bytes.
fn blocks_of<T: Data>(buckets: Buckets<T>, form: Form) -> (MapBlocks, Vec<u64>) {
    match form {
        Form::Typed => {
            let sizes = buckets.iter().map(|rows| size_of_val(rows) as u64).collect();
            (MapBlocks::Typed(Arc::new(buckets)), sizes)
        }
        Form::Shipped => {
            let encode = |rows: &[T]| match postcard::to_stdvec(rows) {
                Ok(bytes) if rows.is_empty() => bytes[..0].to_vec(),
                Ok(bytes) => bytes,
                Err(error) => {
                    let message = format!("a row of the shuffle cannot be serialized: {error}");
                    abort_task(Abort::Failed { message, operator: None })
                }
            };
            let blocks: Vec<Vec<u8>> = buckets.iter().map(encode).collect();
            let sizes = blocks.iter().map(|block| block.len() as u64).collect();
            (MapBlocks::Bytes(Arc::new(blocks)), sizes)
        }
    }
}
