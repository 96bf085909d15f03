//! Closures with an environment over keys and values.

use std::{collections::HashMap, hash::Hash};

use super::{
    Aggregate, ByParts, Combined, Combiner, FlatMapValues, MapValues, Reduce, default_partitioner,
    locally::combine_locally,
};
use crate::{
    Result,
    action::{Call, JobHandle},
    data::Data,
    partitioner::KeyPartitioner,
    rdd::{Rdd, With},
    ship::Func,
};

impl<R, E, K, V> With<R, E>
where
    R: Rdd<Item = (K, V)>,
    E: Data,
    K: Data,
    V: Data,
{
    /// Applies `f` to every value. See [`PairRdd::map_values`](crate::PairRdd::map_values).
    #[track_caller]
    pub fn map_values<U: Data, F>(self, f: F) -> MapValues<R, E, F>
    where
        F: Fn(&E, V) -> U + Copy + Send + Sync + 'static,
    {
        let (parent, env) = self.into_parts();
        let handle = parent.handle();
        let handle = handle.derive("map_values").partitioner(handle.partitioner().cloned()).build();
        MapValues { function: Func::new(env, f, handle.id()), parent, handle }
    }

    /// Gives each key every value that `f` makes of its value. See
    /// [`PairRdd::flat_map_values`](crate::PairRdd::flat_map_values).
    #[track_caller]
    pub fn flat_map_values<I, F>(self, f: F) -> FlatMapValues<R, E, F>
    where
        I: IntoIterator<Item: Data> + 'static,
        F: Fn(&E, V) -> I + Copy + Send + Sync + 'static,
    {
        let (parent, env) = self.into_parts();
        let handle = parent.handle();
        let handle = handle.derive("flat_map_values").partitioner(handle.partitioner().cloned()).build();
        FlatMapValues { function: Func::new(env, f, handle.id()), parent, handle }
    }
}

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
        let reduce = |id| Reduce { function: Func::new(env, f, id) };
        Combined::new(&rdd, "reduce_by_key", &partitioner.into(), reduce)
    }

    /// Combines the values of each key into a map of the driver. See
    /// [`PairRdd::reduce_by_key_locally`](crate::PairRdd::reduce_by_key_locally).
    #[track_caller]
    pub fn reduce_by_key_locally<F>(self, f: F) -> Result<HashMap<K, V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        self.reduce_by_key_locally_async(f).wait()
    }

    /// The same in the background.
    #[track_caller]
    pub fn reduce_by_key_locally_async<F>(self, f: F) -> JobHandle<HashMap<K, V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let function = Func::new(env, f, rdd.handle().id());
        combine_locally(Call::new("reduce_by_key_locally"), &rdd, Reduce { function })
    }

    /// Brings the values of each key into a copy of `zero`. See [`PairRdd::fold_by_key`](crate::PairRdd::fold_by_key).
    #[track_caller]
    pub fn fold_by_key<F>(self, zero: V, f: F) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.fold_by_key_into(partitioner, zero, f)
    }

    /// The same into given partitions.
    #[track_caller]
    pub fn fold_by_key_into<F>(
        self,
        partitioner: impl Into<KeyPartitioner<K>>,
        zero: V,
        f: F,
    ) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let fold = |id| Aggregate { zero, functions: Func::new(env, (f, f), id) };
        Combined::new(&rdd, "fold_by_key", &partitioner.into(), fold)
    }

    /// Brings the values of each key into a copy of `zero`. See
    /// [`PairRdd::aggregate_by_key`](crate::PairRdd::aggregate_by_key).
    #[track_caller]
    pub fn aggregate_by_key<C: Data, A, M>(
        self,
        zero: C,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C>>
    where
        A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.aggregate_by_key_into(partitioner, zero, add, merge)
    }

    /// The same into given partitions.
    #[track_caller]
    pub fn aggregate_by_key_into<C: Data, A, M>(
        self,
        partitioner: impl Into<KeyPartitioner<K>>,
        zero: C,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C>>
    where
        A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let aggregate = |id| Aggregate { zero, functions: Func::new(env, (add, merge), id) };
        Combined::new(&rdd, "aggregate_by_key", &partitioner.into(), aggregate)
    }

    /// Combines the values of each key by three functions. See
    /// [`PairRdd::combine_by_key`](crate::PairRdd::combine_by_key).
    #[track_caller]
    pub fn combine_by_key<C: Data, F, A, M>(
        self,
        create: F,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C>>
    where
        F: Fn(&E, V) -> C + Copy + Send + Sync + 'static,
        A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.combine_by_key_into(partitioner, create, add, merge)
    }

    /// The same into given partitions.
    #[track_caller]
    pub fn combine_by_key_into<C: Data, F, A, M>(
        self,
        partitioner: impl Into<KeyPartitioner<K>>,
        create: F,
        add: A,
        merge: M,
    ) -> Combined<K, V, impl Combiner<V, Combined = C>>
    where
        F: Fn(&E, V) -> C + Copy + Send + Sync + 'static,
        A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
        M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
    {
        let (rdd, env) = self.into_parts();
        let parts = |id| ByParts { functions: Func::new(env, (create, add, merge), id) };
        Combined::new(&rdd, "combine_by_key", &partitioner.into(), parts)
    }
}
