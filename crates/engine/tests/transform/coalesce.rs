//! Fewer partitions without a shuffle.

use firesteel::{Error, PartitionId, PreferredLocations, TaskLocation, prelude::*};

use crate::{custom::Countdown, support::each_backend};

/// Behaviours: RDD-013.
#[test]
fn ten_partitions_become_groups_of_three_three_and_four_neighbours() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..10, 10);

        let sizes = rows.coalesce(3).glom().map(|rows| rows.len()).collect().unwrap();
        assert_eq!(sizes, [3, 3, 4]);
        assert_eq!(rows.coalesce(3).collect().unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(rows.coalesce(20).num_partitions(), 10, "never more than before");
        assert_eq!(rows.coalesce(1).glom().collect().unwrap(), [(0..10).collect::<Vec<_>>()]);
    });
}

/// Behaviours: RDD-013.
#[test]
fn no_groups_at_all_are_an_error() {
    each_backend(|ctx| {
        let error = ctx.range(0..10).coalesce(0).count().unwrap_err();

        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("coalesce at "), "{error}");
    });
}

/// Behaviours: RDD-013.
#[test]
fn partitions_that_prefer_the_same_host_go_together() {
    each_backend(|ctx| {
        let hosts = ["a", "b", "a", "b", "a", "b"].map(|host| vec![TaskLocation::from(host)]);
        let handle =
            ctx.new_rdd("located", 6).preferred(PreferredLocations::PerPartition(hosts.to_vec().into()));
        let located = Countdown { handle: handle.build(), from: 0 };
        let placed = located.map_partitions_with_index(|partition, _| Rows::new([partition]));

        let grouped = placed.coalesce(2);

        assert_eq!(grouped.glom().collect().unwrap(), [[0, 2, 4], [1, 3, 5]]);
        assert_eq!(grouped.handle().preferred_places(PartitionId(0)), ["a".into()]);
        assert_eq!(grouped.handle().preferred_places(PartitionId(1)), ["b".into()]);
    });
}
