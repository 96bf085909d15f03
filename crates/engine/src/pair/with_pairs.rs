//! Closures with an environment over keys and values.

use std::hash::Hash;

use super::{Combined, Combiner, Reduce, default_partitioner};
use crate::{
    data::Data,
    partitioner::KeyPartitioner,
    rdd::{Rdd, With},
    ship::Func,
};

impl<R, E, K, V> With<R, E>
where
    R: Rdd<Item = (K, V)>,
    E: Data,
    K: Data + Hash + Eq,
    V: Data,
{
    /// Combines the values of each key two by two. See [`PairRdd::reduce_by_key`](crate::PairRdd::reduce_by_key).
    #[track_caller]
    pub fn reduce_by_key<F>(self, f: F) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.reduce_by_key_into(partitioner, f)
    }

    /// The same into given partitions.
    #[track_caller]
    pub fn reduce_by_key_into<F>(
        self,
        partitioner: impl Into<KeyPartitioner<K>>,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        Combined::new(&rdd, "reduce_by_key", &partitioner.into(), |id| Reduce(Func::new(env, f, id)))
    }
}
