//! Closures with an environment over keys and values.

use std::{collections::HashMap, hash::Hash};

use super::{
    Aggregate, ByParts, Combined, Combiner, FlatMapValues, MapValues, Reduce, default_partitioner,
    locally::combine_locally,
};
use crate::{
    Result,
    data::Data,
    job::{Call, JobHandle},
    narrow::With,
    partitioner::KeyPartitioner,
    rdd::Rdd,
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 1), ('b', 2)]).with(10).map_values(|factor, x| x * *factor);
    /// assert_eq!(pairs.collect()?, [('a', 10), ('b', 20)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 1), ('b', 9)]).with(3);
    /// let pairs = pairs.flat_map_values(|limit, x| (x < *limit).then_some(x));
    /// assert_eq!(pairs.collect()?, [('a', 1)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let capped = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(21_u32).reduce_by_key(|cap, a, b| (a + b).min(*cap));
    /// assert_eq!(capped.lookup(&1)?, [21]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_by_key<F>(self, f: F) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.reduce_by_key_into(partitioner, f)
    }

    /// The same into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(21_u32);
    /// let capped = pairs.reduce_by_key_into(3, |cap, a, b| (a + b).min(*cap));
    /// assert_eq!((capped.num_partitions(), capped.lookup(&0)?), (3, vec![20]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(21_u32);
    /// assert_eq!(pairs.reduce_by_key_locally(|cap, a, b| (a + b).min(*cap))?[&1], 21);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_by_key_locally<F>(self, f: F) -> Result<HashMap<K, V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        self.reduce_by_key_locally_async(f).wait()
    }

    /// The same in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(7_u32);
    /// let sums = pairs.reduce_by_key_locally_async(|modulus, a, b| (a + b) % modulus);
    /// assert_eq!(sums.wait()?[&1], 4);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(7_u32);
    /// assert_eq!(pairs.fold_by_key(0, |modulus, a, b| (a + b) % modulus).lookup(&0)?, [6]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn fold_by_key<F>(self, zero: V, f: F) -> Combined<K, V, impl Combiner<V, Combined = V>>
    where
        F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner(&[self.rdd().handle()]);
        self.fold_by_key_into(partitioner, zero, f)
    }

    /// The same into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(7_u32);
    /// let sums = pairs.fold_by_key_into(3, 0, |modulus, a, b| (a + b) % modulus);
    /// assert_eq!((sums.num_partitions(), sums.lookup(&1)?), (3, vec![4]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(5_u32);
    /// let large = pairs.aggregate_by_key(0_u64, |from, n, x| n + u64::from(x >= *from), |_, a, b| a + b);
    /// assert_eq!(large.lookup(&0)?, [2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(5_u32);
    /// let large = pairs.aggregate_by_key_into(3, 0_u64, |from, n, x| n + u64::from(x >= *from), |_, a, b| a + b);
    /// assert_eq!((large.num_partitions(), large.lookup(&1)?), (3, vec![3]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![('a', 1), ('a', 2)]).with("-".to_owned());
    /// let add = |dash: &String, text: String, x: i32| format!("{text}{dash}{x}");
    /// let text = pairs.combine_by_key(|_, x| x.to_string(), add, |dash, a, b| a + dash + &b);
    /// assert_eq!(text.lookup(&'a')?, ["1-2"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..10_u32).map(|x| (x % 2, x)).with(100_u32);
    /// let sums = pairs.combine_by_key_into(3, |base, x| base + x, |_, sum, x| sum + x, |base, a, b| a + b - base);
    /// assert_eq!((sums.num_partitions(), sums.lookup(&0)?), (3, vec![120]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
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
