//! Groups of the values of a key, and what can be done with them: [`build`].

use std::{
    cmp::Ordering,
    hash::{BuildHasher, RandomState},
};

use firesteel::{Group, prelude::*};

use super::Built;
use crate::{
    case::Reading,
    functions::digest,
    kind::{Kind, Row},
};

/// A group of more values is not written out as text.
const TEXT_VALUES_MAX: usize = 50;

/// The digest of the values of each key, read from their group.
pub(super) fn build<K: Kind>(reading: Reading, partitions: u32, parent: &Built<K>) -> BoxRdd<Row<K>> {
    let groups = parent.rdd.group_by_key_into(partitions);
    let env = (reading, parent.model.known.orders_values());
    let row = |(reading, is_ordered): &(Reading, bool), (key, group): (K::Key, Group<K::Value>)| {
        let len = group.len();
        let codes = codes::<K>(*reading, group);
        assert_eq!(codes.len(), len, "a group has as many values as it says");
        (key, K::value(digest(*is_ordered, codes.into_iter()) & K::VALUE_BITS))
    };
    match reading {
        Reading::Ship => groups.map(|group| group).partition_by(partitions).with(env).map(row).boxed(),
        Reading::Iterate | Reading::Slice | Reading::Vector | Reading::Sort | Reading::Compare => {
            groups.with(env).map(row).boxed()
        }
    }
}

/// The codes of the values, in their order.
fn codes<K: Kind>(reading: Reading, mut group: Group<K::Value>) -> Vec<u64> {
    match reading {
        Reading::Iterate | Reading::Ship => group.into_iter().map(|value| K::value_code(&value)).collect(),
        Reading::Slice => (&group).into_iter().map(K::value_code).collect(),
        Reading::Vector => Vec::from(group).iter().map(K::value_code).collect(),
        Reading::Compare => {
            let values: Vec<K::Value> = group.to_vec();
            compare(&group, &values);
            values.iter().map(K::value_code).collect()
        }
        Reading::Sort => {
            let before: Vec<u64> = group.clone().into_iter().map(|value| K::value_code(&value)).collect();
            group.sort();
            assert!(group.is_sorted(), "a group that is sorted is in order");
            let mut sorted = before.clone();
            sorted.sort_unstable();
            assert!(group.iter().map(K::value_code).eq(sorted), "a group that is sorted has the same values");
            before
        }
    }
}

/// A group is what its values are.
fn compare<V: firesteel::Data + Ord + std::hash::Hash + std::fmt::Debug>(group: &Group<V>, values: &Vec<V>) {
    let (copy, fewer) = (group.clone(), values.iter().skip(1).cloned().collect::<Group<_>>());
    assert!(!group.is_empty() && *group == copy && *group == *values && *group == values[..]);
    assert_ne!(*group, []);
    assert_eq!(group.cmp(&copy), Ordering::Equal);
    assert_eq!(group.partial_cmp(&fewer), values.partial_cmp(&values[1..].to_vec()));
    let hasher = RandomState::new();
    assert_eq!(hasher.hash_one(group), hasher.hash_one(values));
    if values.len() <= TEXT_VALUES_MAX {
        assert_eq!(format!("{group:?}"), format!("{values:?}"));
    }
}
