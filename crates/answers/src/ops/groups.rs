//! What can be done with the values of a group: [`codes`].

use std::{
    cmp::Ordering,
    hash::{BuildHasher, RandomState},
};

use firesteel::Group;

use crate::{case::Reading, kind::Kind};

/// A group of more values is not written out as text.
const TEXT_VALUES_MAX: usize = 50;

/// The codes of the values, in their order.
pub(super) fn codes<K: Kind>(reading: Reading, mut group: Group<K::Value>) -> Vec<u64> {
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
    let (copy, fewer) = (group.clone(), Group::from_iter(values.iter().skip(1).cloned()));
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
