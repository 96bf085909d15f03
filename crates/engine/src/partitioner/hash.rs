//! The hash partitioner.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

/// The hash of a key: the same in every process of the application.
#[inline]
pub(crate) fn hash_of<K: Hash + ?Sized>(key: &K) -> u64 {
    FixedState::default().hash_one(key)
}

/// Deals keys to `n` partitions by their hash.
///
/// Two are equal if they have the same number of partitions.
///
/// ```
/// use firesteel::HashPartitioner;
///
/// let four = HashPartitioner::new(4);
/// assert_eq!(four.partition_of(&"key"), HashPartitioner::new(4).partition_of(&"key"));
/// assert!(four.partition_of(&"key") < 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HashPartitioner(u32);

impl HashPartitioner {
    /// A partitioner with `partitions` partitions. With none it is good for nothing: an RDD that is dealt by it is refused
    /// by its first action.
    ///
    /// ```
    /// # use firesteel::{HashPartitioner, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..4).map(|x| (x, x));
    /// assert!(pairs.partition_by(HashPartitioner::new(0)).count().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub const fn new(partitions: u32) -> Self {
        Self(partitions)
    }

    /// How many partitions there are.
    ///
    /// ```
    /// # use firesteel::HashPartitioner;
    /// assert_eq!(HashPartitioner::new(4).num_partitions(), 4);
    /// ```
    pub const fn num_partitions(self) -> u32 {
        self.0
    }

    /// The partition of `key`.
    ///
    /// ```
    /// # use firesteel::HashPartitioner;
    /// let four = HashPartitioner::new(4);
    /// assert!((0..100).all(|key| four.partition_of(&key) < 4));
    /// assert!((0..4).all(|part| (0..100).any(|key| four.partition_of(&key) == part)));
    /// ```
    #[inline]
    pub fn partition_of<K: Hash + ?Sized>(self, key: &K) -> u32 {
        self.of_hash(hash_of(key))
    }

    /// The partition of a key with this hash.
    ///
    /// Scales the middle bits of the hash: a hash table finds its slot by the lowest and its tag by the highest ones,
    /// and the keys of one partition must not agree in those.
    #[inline]
    pub(crate) const fn of_hash(self, hash: u64) -> u32 {
        let middle = (hash >> 20) as u32;
        ((middle as u64 * self.0 as u64) >> 32) as u32
    }
}
