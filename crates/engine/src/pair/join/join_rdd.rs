//! The transformations of several RDDs of pairs.

use std::hash::Hash;

use super::{FullOuter, Inner, Join, LeftOuter, RightOuter, SubtractByKey};
use crate::{
    data::Data,
    pair::{Cogroup, Cogroup3, Cogroup4, default_partitioner},
    partitioner::{AnyPartitioner, KeyPartitioner},
    rdd::Rdd,
};

/// What brings the rows of several RDDs with the same key together.
///
/// Each parent that has the result's partitioner already is read in place; any other one is shuffled. Without
/// a word the result takes the largest partitioner that a parent has, unless that has far too few partitions,
/// else one partition for each of the largest parent; the twin ending in `_into` takes a number of partitions
/// or a partitioner. The result keeps the partitioner, so that the next operator over the same keys does not
/// shuffle.
pub trait JoinRdd<K: Data + Hash + Eq, V: Data>: Rdd<Item = (K, V)> {
    /// Pairs each value with each value that `other` has for the same key.
    ///
    /// Streams: the pairs of a key are never all in memory. Their order is not defined.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let ages = ctx.parallelize(vec![(2, 50), (2, 51), (3, 60)]);
    /// let mut joined = names.join(&ages).collect()?;
    /// joined.sort();
    /// assert_eq!(joined, [(2, ('b', 50)), (2, ('b', 51))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn join<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> Join<K, V, W, Inner> {
        self.join_into(other, default_partitioner(&[self.handle(), other.handle()]))
    }

    /// [`join`](JoinRdd::join) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let joined = names.join_into(&ctx.parallelize(vec![(2, 50), (3, 60)]), 3);
    /// assert_eq!((joined.num_partitions(), joined.collect()?), (3, vec![(2, ('b', 50))]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn join_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Join<K, V, W, Inner> {
        Join::new(self, other, "join", &partitioner.into())
    }

    /// [`join`](JoinRdd::join) that keeps rows for whose key `other` has none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let ages = ctx.parallelize(vec![(2, 50), (3, 60)]);
    /// let mut joined = names.left_outer_join(&ages).collect()?;
    /// joined.sort();
    /// assert_eq!(joined, [(1, ('a', None)), (2, ('b', Some(50)))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn left_outer_join<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> Join<K, V, W, LeftOuter> {
        self.left_outer_join_into(other, default_partitioner(&[self.handle(), other.handle()]))
    }

    /// [`left_outer_join`](JoinRdd::left_outer_join) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let joined = names.left_outer_join_into(&ctx.parallelize(vec![(2, 50)]), 3);
    /// assert_eq!((joined.num_partitions(), joined.lookup(&1)?), (3, vec![('a', None)]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn left_outer_join_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Join<K, V, W, LeftOuter> {
        Join::new(self, other, "left_outer_join", &partitioner.into())
    }

    /// [`join`](JoinRdd::join) that keeps rows of `other` for whose key this RDD has none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let ages = ctx.parallelize(vec![(2, 50), (3, 60)]);
    /// let mut joined = names.right_outer_join(&ages).collect()?;
    /// joined.sort();
    /// assert_eq!(joined, [(2, (Some('b'), 50)), (3, (None, 60))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn right_outer_join<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> Join<K, V, W, RightOuter> {
        self.right_outer_join_into(other, default_partitioner(&[self.handle(), other.handle()]))
    }

    /// [`right_outer_join`](JoinRdd::right_outer_join) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a')]);
    /// let joined = names.right_outer_join_into(&ctx.parallelize(vec![(1, 40), (2, 50)]), 3);
    /// assert_eq!((joined.num_partitions(), joined.lookup(&2)?), (3, vec![(None, 50)]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn right_outer_join_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Join<K, V, W, RightOuter> {
        Join::new(self, other, "right_outer_join", &partitioner.into())
    }

    /// [`join`](JoinRdd::join) that keeps the rows of both sides whose key the other side does not have.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let ages = ctx.parallelize(vec![(2, 50), (3, 60)]);
    /// let mut joined = names.full_outer_join(&ages).collect()?;
    /// joined.sort();
    /// assert_eq!(joined, [(1, (Some('a'), None)), (2, (Some('b'), Some(50))), (3, (None, Some(60)))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn full_outer_join<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> Join<K, V, W, FullOuter> {
        self.full_outer_join_into(other, default_partitioner(&[self.handle(), other.handle()]))
    }

    /// [`full_outer_join`](JoinRdd::full_outer_join) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let joined = names.full_outer_join_into(&ctx.parallelize(vec![(2, 50), (3, 60)]), 4);
    /// assert_eq!((joined.num_partitions(), joined.count()?), (4, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn full_outer_join_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Join<K, V, W, FullOuter> {
        Join::new(self, other, "full_outer_join", &partitioner.into())
    }

    /// Keeps the rows for whose key `other` has none. Its values are ignored; equal rows stay as many as they
    /// are.
    ///
    /// Without a word the result has this RDD's partitioner or number of partitions: however large `other`
    /// is, the result is no larger than this RDD.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let visits = ctx.parallelize(vec![('a', 1), ('b', 2), ('a', 3)]);
    /// let blocked = ctx.parallelize(vec![('b', ())]);
    /// let mut rest = visits.subtract_by_key(&blocked).collect()?;
    /// rest.sort();
    /// assert_eq!(rest, [('a', 1), ('a', 3)]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn subtract_by_key<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> SubtractByKey<K, V, W> {
        let own = self.handle().partitioner().and_then(AnyPartitioner::for_keys);
        self.subtract_by_key_into(
            other,
            own.unwrap_or_else(|| KeyPartitioner::hash(self.num_partitions().max(1))),
        )
    }

    /// [`subtract_by_key`](JoinRdd::subtract_by_key) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rest = ctx.parallelize(vec![(1, 'a'), (2, 'b')]).subtract_by_key_into(&ctx.parallelize(vec![(2, ())]), 3);
    /// assert_eq!((rest.num_partitions(), rest.collect()?), (3, vec![(1, 'a')]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn subtract_by_key_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> SubtractByKey<K, V, W> {
        SubtractByKey::new(self, other, &partitioner.into())
    }

    /// Brings all values of each key together, one vector for each RDD; empty where an RDD has none.
    ///
    /// The values of one key must fit into memory: [`join`](JoinRdd::join) if all you want are pairs.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let ages = ctx.parallelize(vec![(2, 50), (2, 51)]);
    /// let mut groups = names.cogroup(&ages).collect()?;
    /// groups.sort();
    /// assert_eq!(groups, [(1, (vec!['a'], vec![])), (2, (vec!['b'], vec![50, 51]))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup<W: Data>(&self, other: &impl Rdd<Item = (K, W)>) -> Cogroup<K, V, W> {
        self.cogroup_into(other, default_partitioner(&[self.handle(), other.handle()]))
    }

    /// [`cogroup`](JoinRdd::cogroup) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let groups = names.cogroup_into(&ctx.parallelize(vec![(2, 50), (2, 51)]), 3);
    /// assert_eq!((groups.num_partitions(), groups.lookup(&2)?), (3, vec![(vec!['b'], vec![50, 51])]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup_into<W: Data>(
        &self,
        other: &impl Rdd<Item = (K, W)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Cogroup<K, V, W> {
        Cogroup::new(self, other, "cogroup", &partitioner.into())
    }

    /// [`cogroup`](JoinRdd::cogroup) with two others.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![(1, 'a')]);
    /// let groups = pairs.cogroup3(&pairs, &ctx.parallelize(vec![(1, 5), (1, 6)])).collect()?;
    /// assert_eq!(groups, [(1, (vec!['a'], vec!['a'], vec![5, 6]))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup3<W: Data, X: Data>(
        &self,
        second: &impl Rdd<Item = (K, W)>,
        third: &impl Rdd<Item = (K, X)>,
    ) -> Cogroup3<K, V, W, X> {
        let partitioner = default_partitioner(&[self.handle(), second.handle(), third.handle()]);
        self.cogroup3_into(second, third, partitioner)
    }

    /// [`cogroup3`](JoinRdd::cogroup3) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let groups = pairs.cogroup3_into(&pairs, &ctx.parallelize(vec![(1, 5)]), 3);
    /// assert_eq!((groups.num_partitions(), groups.lookup(&2)?), (3, vec![(vec!['b'], vec!['b'], vec![])]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup3_into<W: Data, X: Data>(
        &self,
        second: &impl Rdd<Item = (K, W)>,
        third: &impl Rdd<Item = (K, X)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Cogroup3<K, V, W, X> {
        Cogroup3::new(self, second, third, "cogroup3", &partitioner.into())
    }

    /// [`cogroup`](JoinRdd::cogroup) with three others.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![(1, 'a')]);
    /// let groups = pairs.cogroup4(&pairs, &pairs, &ctx.parallelize(vec![(1, 5)])).collect()?;
    /// assert_eq!(groups, [(1, (vec!['a'], vec!['a'], vec!['a'], vec![5]))]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup4<W: Data, X: Data, Y: Data>(
        &self,
        second: &impl Rdd<Item = (K, W)>,
        third: &impl Rdd<Item = (K, X)>,
        fourth: &impl Rdd<Item = (K, Y)>,
    ) -> Cogroup4<K, V, W, X, Y> {
        let parents = [self.handle(), second.handle(), third.handle(), fourth.handle()];
        self.cogroup4_into(second, third, fourth, default_partitioner(&parents))
    }

    /// [`cogroup4`](JoinRdd::cogroup4) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.parallelize(vec![(1, 'a'), (2, 'b')]);
    /// let groups = pairs.cogroup4_into(&pairs, &pairs, &ctx.parallelize(vec![(3, 5)]), 4);
    /// assert_eq!((groups.num_partitions(), groups.count()?), (4, 3));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn cogroup4_into<W: Data, X: Data, Y: Data>(
        &self,
        second: &impl Rdd<Item = (K, W)>,
        third: &impl Rdd<Item = (K, X)>,
        fourth: &impl Rdd<Item = (K, Y)>,
        partitioner: impl Into<KeyPartitioner<K>>,
    ) -> Cogroup4<K, V, W, X, Y> {
        Cogroup4::new(self, second, third, fourth, "cogroup4", &partitioner.into())
    }
}

impl<K: Data + Hash + Eq, V: Data, R: Rdd<Item = (K, V)>> JoinRdd<K, V> for R {}
