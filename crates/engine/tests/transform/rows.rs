//! Operators with functions: environments, endless iterators, blame, what is kept of the partitioner.

use firesteel::{Replacement, StorageLevel, prelude::*};

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

/// Iterators that end and would begin anew if they were asked again, each made in its own way.
fn ends_at_three(ctx: &Context) -> Vec<(&'static str, BoxRdd<i32>)> {
    let rows = ctx.range_into(0..10, 1);
    let map_while = rows.map_partitions(|rows| Rows::new(rows.map_while(|x| (x != 3).then_some(x))));
    let scan = rows.map_partitions(|rows| Rows::new(rows.scan((), |(), x| (x != 3).then_some(x))));
    let from_fn = rows.map_partitions(|_| {
        let mut next = -1;
        Rows::new(std::iter::from_fn(move || {
            next += 1;
            (next != 3).then_some(next)
        }))
    });
    let zipped = rows.zip_partitions(&rows, |left, right| {
        Rows::new(left.zip(right).map_while(|(x, y)| (x != 3).then_some(x.max(y))))
    });
    let indexed =
        rows.map_partitions_with_index(|_, rows| Rows::new(rows.map_while(|x| (x != 3).then_some(x))));
    let flat = ctx.range_into(0..1, 1).flat_map(|_| (0..10).map_while(|x| (x != 3).then_some(x)));
    vec![
        ("map_while", map_while.boxed()),
        ("scan", scan.boxed()),
        ("from_fn", from_fn.boxed()),
        ("zip_partitions", zipped.boxed()),
        ("map_partitions_with_index", indexed.boxed()),
        ("flat_map", flat.boxed()),
    ]
}

#[test]
fn an_iterator_that_has_ended_is_not_asked_again() {
    each_backend(|ctx| {
        for (name, rows) in ends_at_three(ctx) {
            assert_eq!(rows.collect().unwrap(), [0, 1, 2], "{name}");
            assert_eq!(rows.count().unwrap(), 3, "{name}");
            assert_eq!(rows.take(100).unwrap(), [0, 1, 2], "{name}");
            assert_eq!(rows.run_job(|rows| rows.last()).unwrap(), [Some(2)], "{name}");
            assert_eq!(rows.glom().collect().unwrap(), [[0, 1, 2]], "{name}");
            assert_eq!(rows.map_partitions(|rows| rows).boxed().collect().unwrap(), [0, 1, 2], "{name}");
            assert_eq!(rows.zip(&rows).count().unwrap(), 3, "{name}");
            assert_eq!(rows.cartesian(&rows).count().unwrap(), 9, "{name}");
            assert_eq!(rows.union(&rows).coalesce(1).collect().unwrap(), [0, 1, 2, 0, 1, 2], "{name}");
            assert_eq!(rows.repartition(2).count().unwrap(), 3, "{name}");
            for level in [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_ONLY_SER, StorageLevel::DISK_ONLY] {
                let kept = rows.map(|x| x).persist(level);
                assert_eq!([kept.count().unwrap(), kept.count().unwrap()], [3, 3], "{name} at {level:?}");
            }
        }
    });
}
