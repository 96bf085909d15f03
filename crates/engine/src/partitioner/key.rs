//! Partitioners for keys of one type, the user's own among them.

use std::{any::Any, fmt, hash::Hash, marker::PhantomData, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{AnyPartitioner, HashPartitioner, hash_of};
use crate::ship::{Entry, Frozen, Ship, ShipError, Thaw, Thawing};

/// A rule of the user's own that deals keys to partitions.
///
/// ```
/// use firesteel::{Partitioner, prelude::*};
///
/// #[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct ByParity;
///
/// impl Partitioner<u64> for ByParity {
///     fn num_partitions(&self) -> u32 {
///         2
///     }
///     fn partition(&self, key: &u64) -> u32 {
///         (key % 2) as u32
///     }
/// }
///
/// let ctx = Context::local(2)?;
/// let pairs = ctx.range(0..6).map(|x| (x, x * x)).partition_by(KeyPartitioner::custom(ByParity));
/// assert_eq!(pairs.keys().glom().collect()?, [vec![0, 2, 4], vec![1, 3, 5]]);
/// # Ok::<(), firesteel::Error>(())
/// ```
pub trait Partitioner<K>: PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// How many partitions there are.
    fn num_partitions(&self) -> u32;

    /// The partition of `key`, below [`num_partitions`](Partitioner::num_partitions).
    fn partition(&self, key: &K) -> u32;
}

/// Any rule that deals keys of type `K` to partitions.
///
/// A number stands for a hash partitioner with so many partitions.
#[must_use = "a partitioner does nothing until an operator uses it"]
pub struct KeyPartitioner<K: 'static> {
    rule: Rule<K>,
    /// Builds it again on the other side; kept from where the abilities of `K` were known.
    thaw: Entry<Self>,
}

enum Rule<K> {
    Hash(HashPartitioner, fn(&K) -> u64),
    Custom { partitions: u32, deal: Arc<dyn DealKeys<K>> },
}

impl<K: 'static> fmt::Debug for KeyPartitioner<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::Hash(hash, _) => hash.fmt(out),
            Rule::Custom { partitions, deal } => write!(out, "{}({partitions})", deal.name()),
        }
    }
}

/// A user's partitioner, without its type.
trait DealKeys<K>: Any + Send + Sync {
    fn partition(&self, key: &K) -> u32;
    fn name(&self) -> &'static str;
    fn equals(&self, other: &dyn Any) -> bool;
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError>;
}

impl<K: 'static, P: Partitioner<K>> DealKeys<K> for P {
    fn partition(&self, key: &K) -> u32 {
        Partitioner::partition(self, key)
    }

    fn name(&self) -> &'static str {
        std::any::type_name::<P>()
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<P>().is_some_and(|other| self == other)
    }

    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(self)
    }
}

/// Builds a partitioner by hash.
struct ThawHash;

impl<K: Hash + 'static> Thaw<KeyPartitioner<K>> for ThawHash {
    fn thaw(input: &mut Thawing<'_>) -> Result<KeyPartitioner<K>, ShipError> {
        Ok(KeyPartitioner::hash(input.value()?))
    }
}

/// Builds a partitioner by a rule of the user's own.
struct ThawCustom<P>(PhantomData<P>);

impl<K: 'static, P: Partitioner<K>> Thaw<KeyPartitioner<K>> for ThawCustom<P> {
    fn thaw(input: &mut Thawing<'_>) -> Result<KeyPartitioner<K>, ShipError> {
        Ok(KeyPartitioner::custom(input.value::<P>()?))
    }
}

impl<K: 'static> KeyPartitioner<K> {
    /// Deals by hash to `partitions` partitions.
    ///
    /// ```
    /// # use firesteel::KeyPartitioner;
    /// assert!(KeyPartitioner::<u64>::hash(4) == KeyPartitioner::from(4));
    /// ```
    pub fn hash(partitions: u32) -> Self
    where
        K: Hash,
    {
        let rule = Rule::Hash(HashPartitioner::new(partitions), hash_of::<K>);
        Self { rule, thaw: Entry::of::<ThawHash>() }
    }

    /// Deals by a rule of the user's own.
    ///
    /// ```
    /// # use firesteel::{KeyPartitioner, Order, RangePartitioner};
    /// let ranges = KeyPartitioner::custom(RangePartitioner::new(vec![10, 20], Order::Ascending));
    /// assert_eq!([5, 15, 25].map(|key| ranges.partition(&key)), [0, 1, 2]);
    /// ```
    pub fn custom<P: Partitioner<K>>(partitioner: P) -> Self {
        let partitions = partitioner.num_partitions();
        let rule = Rule::Custom { partitions, deal: Arc::new(partitioner) };
        Self { rule, thaw: Entry::of::<ThawCustom<P>>() }
    }

    /// How many partitions there are.
    ///
    /// ```
    /// # use firesteel::KeyPartitioner;
    /// assert_eq!(KeyPartitioner::<String>::hash(4).num_partitions(), 4);
    /// ```
    pub fn num_partitions(&self) -> u32 {
        match &self.rule {
            Rule::Hash(hash, _) => hash.num_partitions(),
            Rule::Custom { partitions, .. } => *partitions,
        }
    }

    /// The partition of `key`.
    ///
    /// ```
    /// # use firesteel::{HashPartitioner, KeyPartitioner};
    /// assert_eq!(KeyPartitioner::hash(4).partition(&'x'), HashPartitioner::new(4).partition_of(&'x'));
    /// ```
    #[inline]
    pub fn partition(&self, key: &K) -> u32 {
        match &self.rule {
            Rule::Hash(hash, of) => hash.of_hash(of(key)),
            Rule::Custom { partitions, deal } => checked(&**deal, key, *partitions),
        }
    }

    /// The partition of `key`, with its hash compiled into the caller's loop.
    #[inline]
    pub(crate) fn partition_inline(&self, key: &K) -> u32
    where
        K: Hash,
    {
        match &self.rule {
            Rule::Hash(hash, _) => hash.partition_of(key),
            Rule::Custom { partitions, deal } => checked(&**deal, key, *partitions),
        }
    }

    /// The user's own rule, if it is of type `P`.
    pub(crate) fn rule<P: Partitioner<K>>(&self) -> Option<&P> {
        match &self.rule {
            Rule::Hash(..) => None,
            Rule::Custom { deal, .. } => {
                let deal: &dyn Any = &**deal;
                deal.downcast_ref()
            }
        }
    }

    /// The same rule without the type of its keys.
    ///
    /// ```
    /// # use firesteel::KeyPartitioner;
    /// assert_eq!(KeyPartitioner::<u64>::hash(4).erased(), KeyPartitioner::<String>::hash(4).erased());
    /// ```
    pub fn erased(&self) -> AnyPartitioner {
        match &self.rule {
            Rule::Hash(hash, _) => AnyPartitioner::hash(*hash),
            Rule::Custom { partitions, .. } => AnyPartitioner::custom(*partitions, Arc::new(self.clone())),
        }
    }
}

/// The partition of `key` by the user's rule, which may be wrong.
#[inline]
fn checked<K: 'static>(deal: &dyn DealKeys<K>, key: &K, partitions: u32) -> u32 {
    let partition = deal.partition(key);
    assert!(
        partition < partitions,
        "partitioner {} gave partition {partition} for a key, but has {partitions} partitions: `partition` must be \
         below `num_partitions`",
        deal.name()
    );
    partition
}

impl<K: 'static> Clone for KeyPartitioner<K> {
    fn clone(&self) -> Self {
        let rule = match &self.rule {
            Rule::Hash(hash, of) => Rule::Hash(*hash, *of),
            Rule::Custom { partitions, deal } => Rule::Custom { partitions: *partitions, deal: deal.clone() },
        };
        Self { rule, thaw: self.thaw }
    }
}

impl<K: 'static> PartialEq for KeyPartitioner<K> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.rule, &other.rule) {
            (Rule::Hash(one, _), Rule::Hash(two, _)) => one == two,
            (Rule::Custom { deal: one, .. }, Rule::Custom { deal: two, .. }) => {
                let two: &dyn Any = &**two;
                one.equals(two)
            }
            (Rule::Hash(..), Rule::Custom { .. }) | (Rule::Custom { .. }, Rule::Hash(..)) => false,
        }
    }
}

impl<K: 'static> Ship for KeyPartitioner<K> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.thaw.freeze(out)?;
        match &self.rule {
            Rule::Hash(hash, _) => out.value(&hash.num_partitions()),
            Rule::Custom { deal, .. } => deal.freeze(out),
        }
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Entry::<Self>::thaw(input)?.build(input)
    }
}

impl<K: Hash + 'static> From<HashPartitioner> for KeyPartitioner<K> {
    fn from(hash: HashPartitioner) -> Self {
        Self::hash(hash.num_partitions())
    }
}

macro_rules! hash_from {
    ($($number:ty),*) => {$(
        /// So many partitions, by hash. An RDD that is dealt to none, or to less, is refused by its first action.
        impl<K: Hash + 'static> From<$number> for KeyPartitioner<K> {
            fn from(partitions: $number) -> Self {
                Self::hash(u32::try_from(partitions).unwrap_or(if partitions < 1 { 0 } else { u32::MAX }))
            }
        }
    )*};
}

hash_from!(u32, usize, i32);
