//! Numbers for rows, and partitions that are left out.

use std::path::Path;

use firesteel::{Accumulator, Collection, prelude::*};

use crate::support::each_backend;

/// Which partitions a test has computed.
type Computed = Accumulator<Collection<u32>>;

fn watched(ctx: &Context, computed: &Computed, partitions: u32) -> BoxRdd<i32> {
    let rows = ctx.range_into(0..12, partitions).with(computed.clone());
    let watched = rows.map_partitions_with_index(|computed, partition, rows| {
        computed.add(partition);
        rows
    });
    watched.boxed()
}

fn take(computed: &Computed) -> Vec<u32> {
    let mut partitions = computed.value().0;
    computed.reset();
    partitions.sort_unstable();
    partitions
}

/// Behaviours: RDD-016, RDD-025.
#[test]
fn only_the_partitions_that_are_needed_are_computed() {
    each_backend(|ctx| {
        let computed = ctx.collection_accumulator("computed");
        let indexed = watched(ctx, &computed, 4).zip_with_index().unwrap();
        assert_eq!(take(&computed), [0, 1, 2], "all but the last are counted");
        assert!(indexed.collect().unwrap().into_iter().eq((0..12).zip(0..)));
        assert_eq!(take(&computed), [0, 1, 2, 3]);

        assert!(watched(ctx, &computed, 1).zip_with_index().is_ok());
        assert!(take(&computed).is_empty(), "one partition begins at 0");

        let pruned =
            watched(ctx, &computed, 6).prune_partitions(|partition| partition == 1 || partition == 4);
        assert_eq!(pruned.collect().unwrap(), [2, 3, 8, 9]);
        assert_eq!(take(&computed), [1, 4]);
    });
}

/// Behaviours: RDD-016.
#[test]
fn rows_are_numbered_through_uneven_and_empty_partitions() {
    each_backend(|ctx| {
        let uneven = ctx.range_into(0..5, 5).flat_map(|x| vec![x; x as usize % 3]);

        let indexed = uneven.zip_with_index().unwrap().collect().unwrap();
        assert_eq!(indexed, [(1, 0), (2, 1), (2, 2), (4, 3)]);
        let ids = uneven.zip_with_unique_id().collect().unwrap();
        assert_eq!(ids, [(1, 1), (2, 2), (2, 7), (4, 4)]);
    });
}

/// Numbers from counts that do not hold would be there twice, or not at all.
#[test]
fn rows_that_are_more_than_were_counted_are_not_numbered() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("counted");
        let rows = ctx.range_into(0..20_u64, 4).with(marker.to_str().unwrap().to_owned());
        let more = rows.flat_map(|marker, x| vec![x; 1 + usize::from(Path::new(marker).exists())]);
        let indexed = more.zip_with_index().unwrap();
        assert!(indexed.values().collect().unwrap().into_iter().eq(0..20));
        std::fs::write(&marker, "").unwrap();

        let error = indexed.collect().unwrap_err().to_string();

        assert!(error.contains("had 5 rows when zip_with_index counted them and has 10 now"), "{error}");
        assert_eq!(
            indexed.take(3).unwrap(),
            [(0, 0), (0, 1), (1, 2)],
            "what is not read to its end is not compared"
        );
    });
}

#[test]
fn a_failed_count_is_the_error_of_zip_with_index() {
    each_backend(|ctx| {
        let error = ctx.range_into(0..4, 2).map(|x| 1 / x).zip_with_index().err().unwrap().to_string();

        assert!(error.contains("zip_with_index at ") && error.contains("divide by zero"), "{error}");
    });
}
