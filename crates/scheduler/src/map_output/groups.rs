//! The map partitions of one shuffle, grouped by where their outputs are.

use std::hash::Hash;

use firesteel_types::PartitionId;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Map partitions in groups; each is in one group at most.
///
/// Adding and removing cost the same regardless of the size of the group, so that losing an executor costs what it held
/// and not what the shuffle has.
#[derive(Clone, Debug)]
pub(super) struct Groups<K> {
    members: IndexMap<K, Vec<PartitionId>, FxBuildHasher>,
    /// The place of each map partition in its group. Means nothing while it is in none.
    places: Vec<u32>,
}

impl<K: Hash + Eq> Groups<K> {
    pub(super) fn new(maps: u32) -> Self {
        Self { members: IndexMap::default(), places: vec![0; maps as usize] }
    }

    /// Puts `map`, which is in no group, into the group of `key`.
    pub(super) fn insert(&mut self, map: PartitionId, key: K) {
        let group = self.members.entry(key).or_default();
        self.places[map.index()] = group.len() as u32;
        group.push(map);
    }

    /// Takes `map` out of the group of `key`, where it is.
    pub(super) fn remove(&mut self, map: PartitionId, key: &K) {
        let group = self.members.get_mut(key).expect("an output is in the group of its place");
        let place = self.places[map.index()] as usize;
        let removed = group.swap_remove(place);
        assert_eq!(removed, map, "the recorded place is the map's own");
        if let Some(moved) = group.get(place) {
            self.places[moved.index()] = place as u32;
        }
        if group.is_empty() {
            self.members.swap_remove(key);
        }
    }

    /// The members of the group of `key`, in no particular order.
    pub(super) fn members(&self, key: &K) -> &[PartitionId] {
        self.members.get(key).map_or(&[], Vec::as_slice)
    }

    /// How many map partitions are in any group.
    pub(super) fn total(&self) -> usize {
        self.members.values().map(Vec::len).sum()
    }

    /// Whether `map` is in the group of `key` at its recorded place, and the group is not empty.
    pub(super) fn is_at_its_place(&self, map: PartitionId, key: &K) -> bool {
        self.members(key).get(self.places[map.index()] as usize) == Some(&map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_member_takes_the_place_of_the_removed_one() {
        let mut groups = Groups::new(3);
        for map in 0..3 {
            groups.insert(PartitionId(map), "a");
        }

        groups.remove(PartitionId(0), &"a");
        groups.remove(PartitionId(2), &"a");

        assert_eq!(groups.members(&"a"), [PartitionId(1)]);
        assert!(groups.is_at_its_place(PartitionId(1), &"a"));
        groups.remove(PartitionId(1), &"a");
        assert_eq!((groups.members(&"a"), groups.members.len()), (&[][..], 0));
    }
}
