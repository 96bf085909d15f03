//! Operators with functions: environments, endless iterators, blame, what is kept of the partitioner.

use firesteel::{prelude::*, sampling::Replacement};

use crate::{
    gate::{Gate, assert_both_slots_work},
    support::each_backend,
};

/// A chain that borrows nothing of the RDDs on its way can be returned.
fn odd_squares(ctx: &Context) -> impl Rdd<Item = i32> {
    let squares = ctx.range(0..6).map(|x| x * x).flat_map(Some).map_partitions(|rows| rows);
    squares.key_by(|x| x % 2).filter(|(odd, _)| *odd == 1).map(|(_, x)| x)
}

#[test]
fn a_function_of_the_users_own_makes_an_rdd() {
    each_backend(|ctx| assert_eq!(odd_squares(ctx).collect().unwrap(), [1, 9, 25]));
}

#[test]
fn functions_get_their_environment() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..4, 2);

        assert_eq!(rdd.with(2).flat_map(|n, x| vec![x; *n]).collect().unwrap(), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(rdd.with(3).key_by(|n, x| x % n).collect().unwrap(), [(0, 0), (1, 1), (2, 2), (0, 3)]);
        let offset = vec![10];
        let moved =
            rdd.with(offset.clone()).map_partitions(|offset, rows| Rows::new(rows.map(|x| x + offset[0])));
        assert_eq!(moved.collect().unwrap(), [10, 11, 12, 13]);
        let kept = rdd.with(1).map_partitions_keeping_partitioner(|n, rows| Rows::new(rows.skip(*n)));
        assert_eq!(kept.collect().unwrap(), [1, 3]);
        let placed =
            rdd.with(100_u32).map_partitions_with_index(|n, i, rows| Rows::new(rows.map(move |_| n + i)));
        assert_eq!(placed.collect().unwrap(), [100, 100, 101, 101]);
        let zipped = rdd
            .with(offset)
            .zip_partitions(&rdd, |offset, a, b| Rows::new([a.sum::<i32>() * offset[0], b.sum()]));
        assert_eq!(zipped.collect().unwrap(), [10, 1, 50, 5]);
    });
}

/// Behaviours: RDD-004.
#[test]
fn the_partitioner_is_kept_where_keys_stay_in_their_partition_and_lost_elsewhere() {
    each_backend(|ctx| {
        let pairs = ctx.range(0..10).map(|x| (x % 4, x)).reduce_by_key(|a, b| a + b);
        let partitioner = pairs.handle().partitioner();
        assert!(partitioner.is_some());

        assert_eq!(pairs.filter(|(key, _)| *key > 1).handle().partitioner(), partitioner);
        assert_eq!(pairs.sample(Replacement::With, 0.5, 1).handle().partitioner(), partitioner);
        assert_eq!(pairs.random_split(&[1.0, 1.0], 1)[1].handle().partitioner(), partitioner);
        assert_eq!(pairs.map_partitions_keeping_partitioner(|rows| rows).handle().partitioner(), partitioner);
        assert_eq!(pairs.map(|pair| pair).handle().partitioner(), None);
        assert_eq!(pairs.flat_map(Some).handle().partitioner(), None);
        assert_eq!(pairs.key_by(|pair| pair.0).handle().partitioner(), None);
        assert_eq!(pairs.map_partitions(|rows| rows).handle().partitioner(), None);
        assert_eq!(pairs.map_partitions_with_index(|_, rows| rows).handle().partitioner(), None);
        assert_eq!(pairs.glom().handle().partitioner(), None);
        assert_eq!(pairs.coalesce(1).handle().partitioner(), None);
    });
}

#[test]
fn an_endless_iterator_of_a_row_or_a_partition_sees_a_kill() {
    fn endless(started: &Gate) -> impl Iterator<Item = u64> + use<> {
        let started = started.clone();
        (0_u64..).inspect(move |x| {
            if *x == 0 {
                started.arrive();
            }
        })
    }
    let makers: [fn(&Context, Gate) -> BoxRdd<u64>; 2] = [
        |ctx, gate| ctx.range_into(0..1, 1).with(gate).flat_map(|gate, _| endless(gate)).boxed(),
        |ctx, gate| {
            ctx.range_into(0..1, 1).with(gate).map_partitions(|gate, _| Rows::new(endless(gate))).boxed()
        },
    ];
    each_backend(|ctx| {
        for make in makers {
            let started = Gate::new();
            let job = make(ctx, started.clone()).filter(|_| false).count_async();
            started.until_reached();
            job.cancel();

            assert!(job.wait().is_err());
            assert_both_slots_work(ctx, "a kill");
        }
    });
}

#[test]
fn a_panic_inside_of_a_lazy_iterator_names_the_operator_that_it_belongs_to() {
    each_backend(|ctx| {
        let error = |rdd: BoxRdd<i32>| rdd.count().unwrap_err().to_string();
        let rows = ctx.range_into(0..4, 1);
        let divided = rows.map_partitions(|rows| Rows::new(rows.map(|x| 6 / (x - 2))));
        let flat = rows.flat_map(|x| (x..x + 2).map(|x| 6 / (x - 2)));
        let behind = rows.flat_map(|x| 0..x).map_partitions(|rows| Rows::new(rows.map(|x| 6 / (x - 1))));

        assert!(error(divided.boxed()).contains("map_partitions at "), "{}", error(divided.boxed()));
        assert!(error(flat.boxed()).contains("flat_map at "), "{}", error(flat.boxed()));
        assert!(!error(behind.boxed()).contains("flat_map at "), "{}", error(behind.boxed()));
    });
}
