//! A partitioner without the type of its keys, as a lineage knows it.

use std::{any::Any, fmt, hash::Hash, sync::Arc};

use super::{HashPartitioner, KeyPartitioner, Partitioner};

/// How the keys of an RDD are dealt to partitions: enough to see whether two RDDs are dealt alike.
#[derive(Clone)]
pub struct AnyPartitioner(Kind);

#[derive(Clone)]
enum Kind {
    Hash(HashPartitioner),
    /// A `KeyPartitioner<K>` and how to compare it with another one.
    Custom {
        partitions: u32,
        keys: Arc<dyn Any + Send + Sync>,
        equals: fn(&dyn Any, &dyn Any) -> bool,
    },
}

impl AnyPartitioner {
    pub(crate) const fn hash(hash: HashPartitioner) -> Self {
        Self(Kind::Hash(hash))
    }

    pub(crate) fn custom<K: 'static>(partitions: u32, keys: Arc<KeyPartitioner<K>>) -> Self {
        let equals = |one: &dyn Any, two: &dyn Any| match (one.downcast_ref(), two.downcast_ref()) {
            (Some(one), Some(two)) => KeyPartitioner::<K>::eq(one, two),
            (Some(_), None) | (None, _) => false,
        };
        Self(Kind::Custom { partitions, keys, equals })
    }

    /// How many partitions there are.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..6).map(|x| (x, x)).partition_by(3);
    /// assert_eq!(pairs.handle().partitioner().unwrap().num_partitions(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn num_partitions(&self) -> u32 {
        match &self.0 {
            Kind::Hash(hash) => hash.num_partitions(),
            Kind::Custom { partitions, .. } => *partitions,
        }
    }

    /// How many partitions there are, if keys are dealt by their hash.
    pub(crate) fn hash_partitions(&self) -> Option<u32> {
        match &self.0 {
            Kind::Hash(hash) => Some(hash.num_partitions()),
            Kind::Custom { .. } => None,
        }
    }

    /// The same rule for keys of type `K`; none if it is a rule for keys of another type.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..6_i32).map(|x| (x, x)).partition_by(3);
    /// let rule = pairs.handle().partitioner().unwrap().for_keys::<i32>().unwrap();
    /// assert!(pairs.keys().collect_partitions()?[rule.partition(&4) as usize].contains(&4));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn for_keys<K: Hash + 'static>(&self) -> Option<KeyPartitioner<K>> {
        match &self.0 {
            Kind::Hash(hash) => Some(KeyPartitioner::from(*hash)),
            Kind::Custom { keys, .. } => keys.downcast_ref::<KeyPartitioner<K>>().cloned(),
        }
    }

    /// The user's own rule for keys of type `K`, if it is of type `P`.
    pub(crate) fn rule<K: 'static, P: Partitioner<K>>(&self) -> Option<&P> {
        match &self.0 {
            Kind::Hash(_) => None,
            Kind::Custom { keys, .. } => keys.downcast_ref::<KeyPartitioner<K>>()?.rule(),
        }
    }
}

impl PartialEq for AnyPartitioner {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Hash(one), Kind::Hash(two)) => one == two,
            (Kind::Custom { keys: one, equals, .. }, Kind::Custom { keys: two, .. }) => {
                equals(&**one, &**two)
            }
            (Kind::Hash(_), Kind::Custom { .. }) | (Kind::Custom { .. }, Kind::Hash(_)) => false,
        }
    }
}

impl fmt::Debug for AnyPartitioner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Hash(hash) => hash.fmt(out),
            Kind::Custom { partitions, .. } => write!(out, "CustomPartitioner({partitions})"),
        }
    }
}
