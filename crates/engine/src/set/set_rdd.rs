//! The transformations that compare whole rows.

use std::hash::Hash;

use super::{Intersection, Subtract};
use crate::{data::Data, partitioner::KeyPartitioner, rdd::Rdd};

/// What two RDDs with rows of one type have in common, or not.
///
/// Both are shuffled by their whole rows. The order of the result is not defined, and it has no partitioner:
/// that would speak of keys.
pub trait SetRdd: Rdd<Item: Hash + Eq> {
    /// The rows that both have, each once, in as many partitions as the larger one has.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let common = ctx.parallelize(vec![1, 2, 2, 3]).intersection(&ctx.parallelize(vec![2, 2, 3, 4]));
    /// let mut common = common.collect()?;
    /// common.sort();
    /// assert_eq!(common, [2, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn intersection(&self, other: &impl Rdd<Item = Self::Item>) -> Intersection<Self::Item> {
        let larger = self.num_partitions().max(other.num_partitions()).max(1);
        let configured = self.handle().driver().configured_parallelism();
        self.intersection_into(other, configured.unwrap_or(larger))
    }

    /// [`intersection`](SetRdd::intersection) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let common = ctx.range(0..6).intersection_into(&ctx.range(5..9), 3);
    /// assert_eq!((common.num_partitions(), common.collect()?), (3, vec![5]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn intersection_into(
        &self,
        other: &impl Rdd<Item = Self::Item>,
        partitioner: impl Into<KeyPartitioner<Self::Item>>,
    ) -> Intersection<Self::Item> {
        Intersection::new(self, other, &partitioner.into())
    }

    /// The rows that `other` does not have, as often as they are here, in as many partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mut rest = ctx.parallelize(vec![1, 1, 2, 3]).subtract(&ctx.parallelize(vec![2, 4])).collect()?;
    /// rest.sort();
    /// assert_eq!(rest, [1, 1, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn subtract(&self, other: &impl Rdd<Item = Self::Item>) -> Subtract<Self::Item> {
        self.subtract_into(other, self.num_partitions().max(1))
    }

    /// [`subtract`](SetRdd::subtract) into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rest = ctx.range(0..3).subtract_into(&ctx.range(1..9), 3);
    /// assert_eq!((rest.num_partitions(), rest.collect()?), (3, vec![0]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn subtract_into(
        &self,
        other: &impl Rdd<Item = Self::Item>,
        partitioner: impl Into<KeyPartitioner<Self::Item>>,
    ) -> Subtract<Self::Item> {
        Subtract::new(self, other, &partitioner.into())
    }
}

impl<T: Data + Hash + Eq, R: Rdd<Item = T>> SetRdd for R {}
