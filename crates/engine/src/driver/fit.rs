//! Whether a narrow dependency names partitions that are there.

use firesteel_types::{NarrowMap, PartitionId};

/// The first partition among `partitions` for which `map` names a partition that its parent, with `parents`, does not
/// have.
///
/// The operators of this crate always fit; an RDD of the user's own may not.
pub(super) fn first_misfit(map: &NarrowMap, partitions: u32, parents: u32) -> Option<u32> {
    match map {
        NarrowMap::OneToOne => (partitions > parents).then_some(parents),
        NarrowMap::Range { parent_start, child_start, len } => {
            let end = parent_start.checked_add(*len);
            end.is_none_or(|end| end > parents).then_some(*child_start)
        }
        NarrowMap::Divide(_) | NarrowMap::Modulo(_) | NarrowMap::Runs(_) | NarrowMap::Listed(_) => {
            let fits = |child: u32| map.parents(PartitionId(child)).all(|parent| parent.0 < parents);
            (0..partitions).find(|child| !fits(*child))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_fits_as_long_as_every_partition_that_it_names_is_there() {
        let listed = NarrowMap::Listed([vec![0, 2], vec![3]].into());
        let range = NarrowMap::Range { parent_start: 1, child_start: 4, len: 2 };

        assert_eq!(first_misfit(&NarrowMap::OneToOne, 3, 3), None);
        assert_eq!(first_misfit(&NarrowMap::OneToOne, 3, 2), Some(2));
        assert_eq!(first_misfit(&listed, 2, 4), None);
        assert_eq!(first_misfit(&listed, 2, 3), Some(1));
        assert_eq!(first_misfit(&range, 6, 3), None);
        assert_eq!(first_misfit(&range, 6, 2), Some(4));
        assert_eq!(first_misfit(&NarrowMap::Divide(2), 6, 3), None);
        assert_eq!(first_misfit(&NarrowMap::Modulo(4), 6, 3), Some(3));
    }
}
