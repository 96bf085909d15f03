//! The actions of pairs.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use firesteel_scheduler::Partitions;

use super::{
    collect::{Collect, concat},
    fold::FoldRows,
};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle, listed},
    narrow::Transform,
    pair::PairRdd,
    partitioner::AnyPartitioner,
    rdd::Rdd,
};

/// What makes an RDD of pairs of a key and a value run.
pub trait PairActions<K: Data, V: Data>: Rdd<Item = (K, V)> {
    /// How many rows each key has.
    ///
    /// Counts are added up in a shuffle; the different keys must fit into the driver's memory.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, x)).count_by_key()?;
    /// assert_eq!((counts.len(), counts[&0], counts[&1]), (3, 4, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_by_key(&self) -> Result<HashMap<K, u64>>
    where
        K: Hash + Eq,
    {
        self.count_by_key_async().wait()
    }

    /// How many rows each key has, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let counts = ctx.range(0..10).map(|x| (x % 3, x)).count_by_key_async();
    /// assert_eq!(counts.wait()?[&0], 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count_by_key_async(&self) -> JobHandle<HashMap<K, u64>>
    where
        K: Hash + Eq,
    {
        let counts = self.map(|(key, _)| (key, 1_u64)).reduce_by_key(|one, two| one + two);
        Call::new("count_by_key").run(&counts, Collect, |parts| Ok(parts.into_iter().flatten().collect()))
    }

    /// All pairs as a map. Of several values of one key the last one stays.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let squares = ctx.range(0..5).map(|x| (x, x * x)).collect_as_map()?;
    /// assert_eq!(squares[&4], 16);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect_as_map(&self) -> Result<HashMap<K, V>>
    where
        K: Hash + Eq,
    {
        self.collect_as_map_async().wait()
    }

    /// All pairs as a map, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let squares = ctx.range(0..5).map(|x| (x, x * x)).collect_as_map_async();
    /// assert_eq!(squares.wait()?[&4], 16);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn collect_as_map_async(&self) -> JobHandle<HashMap<K, V>>
    where
        K: Hash + Eq,
    {
        Call::new("collect_as_map").run(self, Collect, |parts| Ok(parts.into_iter().flatten().collect()))
    }

    /// The values of one key, in the order of the partitions.
    ///
    /// If the RDD is partitioned by key, only the partition of this key is computed.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).map(|x| (x % 4, x)).lookup(&1)?, [1, 5, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn lookup(&self, key: &K) -> Result<Vec<V>>
    where
        K: Hash + Eq,
    {
        self.lookup_async(key).wait()
    }

    /// The values of one key, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).map(|x| (x % 4, x)).lookup_async(&1).wait()?, [1, 5, 9]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn lookup_async(&self, key: &K) -> JobHandle<Vec<V>>
    where
        K: Hash + Eq,
    {
        let partitioner = self.handle().partitioner().and_then(AnyPartitioner::for_keys::<K>);
        let partitions =
            partitioner.map_or(Partitions::All, |partitioner| listed([partitioner.partition(key)]));
        let find = |key: &K, mut values: Vec<V>, (here, value): (K, V)| {
            if here == *key {
                values.push(value);
            }
            values
        };
        let find = FoldRows::new(self, Vec::new(), Arc::new(key.clone()), find);
        Call::new("lookup").run_on(self, partitions, find, |parts| Ok(concat(parts)))
    }
}

impl<K: Data, V: Data, R: Rdd<Item = (K, V)>> PairActions<K, V> for R {}
