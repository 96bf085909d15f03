//! Sources of rows, one of which gives them in another order each time.

use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use firesteel::{Determinism, PartitionId, RddHandle, prelude::*, ship};
use firesteel_types::Rng;

use crate::{
    case::{From, Source},
    kind::{Kind, Row},
    shape,
};

/// The RDD of a source.
pub(crate) fn build<K: Kind>(ctx: &Context, source: &Source) -> BoxRdd<Row<K>> {
    match source.from {
        From::Parallelize => {
            let rows = (0..source.rows).map(|place| K::row(shape::row(source, place))).collect();
            ctx.parallelize_into(rows, source.partitions).boxed()
        }
        From::Range => {
            let places = ctx.range_into(0..source.rows, source.partitions).with(source.clone());
            places.map(|source, place| K::row(shape::row(source, place))).boxed()
        }
        From::Unordered => {
            let handle = ctx.new_rdd("unordered", source.partitions).determinism(Determinism::Unordered);
            Unordered::<K> { handle: handle.build(), source: source.clone(), kind: PhantomData }.boxed()
        }
    }
}

/// The rows of a source, in another order each time they are computed.
struct Unordered<K> {
    handle: RddHandle,
    source: Source,
    kind: PhantomData<fn() -> K>,
}

ship!(impl[K: 'static] Unordered<K> { handle; values source, kind });

impl<K> Clone for Unordered<K> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), source: self.source.clone(), kind: PhantomData }
    }
}

impl<K: Kind> Rdd for Unordered<K> {
    type Item = Row<K>;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        _: &'a TaskContext,
    ) -> impl Iterator<Item = Row<K>> + 'a {
        let start = |partition| shape::slice_start(self.source.rows, self.source.partitions, partition);
        let mut places: Vec<u64> = (start(partition.0)..start(partition.0 + 1)).collect();
        let mut rng = Rng::new(fresh_seed());
        for place in (1..places.len()).rev() {
            places.swap(place, rng.below(place + 1));
        }
        places.into_iter().map(|place| K::row(shape::row(&self.source, place)))
    }
}

/// A number that no other computation of any process has.
fn fresh_seed() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    shape::mixed(since ^ u64::from(std::process::id()) << 32) ^ RUNS.fetch_add(1, Ordering::Relaxed)
}
