//! Everything that combines the values of a key.

use std::collections::{BTreeMap, HashMap};

use firesteel::prelude::*;

use crate::{
    harness::{assert_in_place, for_cases, shuffles, sorted},
    support::each_backend,
};

#[test]
fn values_are_reduced_by_key() {
    for_cases(|ctx, case| {
        let (rdd, sums) = (case.rdd(ctx), case.sums().into_iter().collect::<Vec<_>>());

        let reduced = rdd.reduce_by_key(|a, b| a + b);
        assert_eq!(sorted(&reduced), sums);
        assert_eq!(reduced.num_partitions(), case.inputs);

        let reduced = rdd.reduce_by_key_into(case.outputs, |a, b| a + b);
        assert_eq!(sorted(&reduced), sums);
        assert_eq!(reduced.num_partitions(), case.outputs);
        assert_in_place(&reduced);

        let most = rdd.with(50).reduce_by_key_into(case.outputs, |most, a, b| (a + b).min(*most));
        let keys: Vec<_> = sorted(&most.keys());
        assert_eq!(keys, sums.iter().map(|sum| sum.0).collect::<Vec<_>>());
        assert_eq!(sorted(&rdd.with(0).reduce_by_key(|zero, a, b| a + b + zero)), sums);
    });
}

#[test]
fn keys_and_values_that_own_memory_are_combined_too() {
    each_backend(|ctx| {
        let words = ["a", "b", "a", "c", "a", "b"].map(|word| (word.to_owned(), word.to_owned()));
        let joined = ctx.parallelize_into(words.to_vec(), 3).reduce_by_key_into(2, |a, b| a + &b);

        let expected = [("a", "aaa"), ("b", "bb"), ("c", "c")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(sorted(&joined), expected);
    });
}

/// Combined values that are so large that the tables of map tasks are cut into pieces; every key comes often in each task.
#[test]
fn large_tables_combine_like_small_ones() {
    const KEYS: u64 = 20_000;
    const TIMES: u64 = 8;
    each_backend(|ctx| {
        let rows = ctx.range_into(0..KEYS * TIMES, 2).map(|x| (x % KEYS, x));

        // Of the list of a key: a digest that tells the order too, and the power by which a digest before it is moved.
        let digests = rows.aggregate_by_key_into(
            3,
            [[0; 32], [1; 32]],
            |[digest, power], x| {
                [digest.map(|digest| append(digest, x)), power.map(|power| append(power, 0))]
            },
            |[one, moved], [two, power]| {
                let joined = |i: usize| one[i].wrapping_mul(power[i]).wrapping_add(two[i]);
                [std::array::from_fn(joined), moved.map(|moved| moved.wrapping_mul(power[0]))]
            },
        );
        let most = rows.map_values(|x| [[x; 32]; 2]).reduce_by_key_into(3, Ord::max);
        let twice = ctx.range_into(0..4 * KEYS, 2).map(|x| [[x % KEYS; 32]; 2]);

        let in_order = digests.filter(|(key, [digest, _])| {
            let list = (0..TIMES).map(|time| key + time * KEYS);
            *digest == [list.fold(0, append); 32]
        });
        assert_eq!((digests.count().unwrap(), in_order.count().unwrap()), (KEYS, KEYS));
        let right = most.filter(|(key, most)| *most == [[key + (TIMES - 1) * KEYS; 32]; 2]);
        assert_eq!((most.count().unwrap(), right.count().unwrap()), (KEYS, KEYS));
        assert_eq!(twice.distinct().count().unwrap(), KEYS);
    });
}

fn append(digest: u64, x: u64) -> u64 {
    digest.wrapping_mul(31).wrapping_add(x)
}

/// Map tasks with small and with large tables, in any order of their ends, in one process or in two.
#[test]
fn combined_rows_come_in_the_same_order_wherever_and_whenever_tasks_run() {
    let order = |master: &str| {
        // Reduce tasks do not wait for the executor where most of their rows are.
        let ctx = Context::builder().master(master).set("firesteel.locality.wait", "0s").unwrap();
        let ctx = ctx.start().unwrap();
        let keys = ctx.range_into(0..4_u64, 4).flat_map(|part| {
            let keys = if part.is_multiple_of(2) { 20_000 } else { 50_000 };
            (0..keys).map(move |x| x * x % 50_021 + part * 25_000)
        });
        let large = keys.map(|key| (key, [1_u64; 32]));
        let named = keys.map(|key| (key.to_string(), 1_u64));
        (
            large.reduce_by_key_into(4, |a, b| if a < b { b } else { a }).keys().collect().unwrap(),
            named.reduce_by_key_into(4, |a, b| a + b).collect().unwrap(),
            keys.distinct().collect().unwrap(),
        )
    };

    assert!(order("local[1]") == order("local[4]"), "threads");
    assert!(order("local-cluster[1,2,1024]") == order("local-cluster[2,1,1024]"), "processes");
}

#[test]
fn values_are_folded_and_aggregated_by_key() {
    for_cases(|ctx, case| {
        let (rdd, sums) = (case.rdd(ctx), case.sums().into_iter().collect::<Vec<_>>());
        let model: Vec<_> = case
            .groups()
            .into_iter()
            .map(|(key, mut values)| {
                values.sort_unstable();
                (key, values)
            })
            .collect();

        assert_eq!(sorted(&rdd.fold_by_key(0, |a, b| a + b)), sums);
        assert_eq!(sorted(&rdd.fold_by_key_into(case.outputs, 0, |a, b| a + b)), sums);
        assert_eq!(sorted(&rdd.with(1).fold_by_key(0, |one, a, b| a + b * one)), sums);
        let push = |mut values: Vec<i64>, value| {
            values.push(value);
            values
        };
        let all = rdd.aggregate_by_key_into(case.outputs, Vec::new(), push, |a, b| [a, b].concat());
        assert_eq!(
            sorted(&all.map_values(|mut values| {
                values.sort_unstable();
                values
            })),
            model
        );
        assert_eq!(all.num_partitions(), case.outputs);
        let counts = rdd.with(2_usize).aggregate_by_key(0_usize, |two, n, _| n + two, |_, a, b| a + b);
        let doubled: Vec<_> =
            case.groups().into_iter().map(|(key, values)| (key, values.len() * 2)).collect();
        assert_eq!(sorted(&counts), doubled);
    });
}

/// How often each function was called for a key: for the first value, for another one, for two combined ones.
type Calls = (u32, u32, u32);

/// Behaviours: RDD-006, SHUF-006.
#[test]
fn values_are_combined_in_map_tasks_before_they_are_shuffled() {
    for_cases(|ctx, case| {
        let calls = case.rdd(ctx).combine_by_key_into(
            case.outputs,
            |_| (1, 0, 0),
            |(first, more, both): Calls, _| (first, more + 1, both),
            |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2 + 1),
        );

        // One row for each key and each input partition that has it goes through the shuffle; the rest is added before.
        let slices = case.rdd(ctx).map(|(key, _)| (key, TaskContext::current().unwrap().partition().0));
        let mut model = BTreeMap::<u32, (u32, Vec<u32>)>::new();
        for (key, slice) in slices.collect().unwrap() {
            let (rows, slices) = model.entry(key).or_default();
            *rows += 1;
            slices.push(slice);
            slices.dedup();
        }
        let model: Vec<(u32, Calls)> = model
            .into_iter()
            .map(|(key, (rows, slices))| {
                let maps = slices.len() as u32;
                (key, (maps, rows - maps, maps - 1))
            })
            .collect();
        assert_eq!(sorted(&calls), model);
    });
}

/// Behaviours: RDD-006.
#[test]
fn the_zero_is_copied_for_each_key_and_map_task() {
    each_backend(|ctx| {
        let pairs = ctx.parallelize_into(vec![('a', 1), ('b', 2), ('a', 3), ('a', 4)], 2);
        let push = |mut values: Vec<i32>, value| {
            values.push(value);
            values
        };

        let lists = pairs.aggregate_by_key(vec![0], push, |a, b| [a, b].concat());

        assert_eq!(sorted(&lists), [('a', vec![0, 1, 0, 3, 4]), ('b', vec![0, 2])]);
    });
}

#[test]
fn without_a_shuffle_values_are_added_and_never_merged() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..12, 4).map(|x| (x % 3, x)).partition_by(2);

        let sums = pairs.combine_by_key(
            |x| vec![x],
            |mut all, x| {
                all.push(x);
                all
            },
            |_, _| panic!("merged"),
        );

        assert_eq!(shuffles(&sums), 1);
        assert_eq!(sorted(&sums)[0], (0, vec![0, 3, 6, 9]));
        let same = pairs.with(1).combine_by_key(|one, x| x * one, |_, sum, x| sum + x, |_, a, b| a + b);
        assert_eq!(sorted(&same), [(0, 18), (1, 22), (2, 26)]);
    });
}

#[test]
fn the_driver_gets_a_map_of_reduced_values() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx);

        let sums: HashMap<_, _> = case.sums().into_iter().collect();
        assert_eq!(rdd.reduce_by_key_locally(|a, b| a + b).unwrap(), sums);
        assert_eq!(rdd.with(0).reduce_by_key_locally(|zero, a, b| a + b + zero).unwrap(), sums);
    });
}

#[test]
fn different_values_of_each_key_are_counted_about_right() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..40_000_u64, 4).map(|x| (x % 2, if x % 2 == 0 { x } else { x % 10 }));

        let counts = sorted(&pairs.count_approx_distinct_by_key_into(3, 0.05).unwrap());

        assert_eq!(counts[1], (1, 5), "few values are counted exactly");
        assert_eq!(counts[0].0, 0);
        assert!((17_000..23_000).contains(&counts[0].1), "{counts:?}");
        assert!(pairs.count_approx_distinct_by_key(0.0).is_err());
    });
}

#[test]
fn a_function_that_panics_is_named_by_its_operator() {
    each_backend(|ctx| {
        let pairs = ctx.range(0..10).map(|x| (x % 2, x));

        let error = pairs.reduce_by_key(|_, _| panic!("no sum")).count().unwrap_err().to_string();
        assert!(error.contains("no sum") && error.contains("reduce_by_key at "), "{error}");
        let error = pairs.map_values(|x| 1 / (x - 5)).count().unwrap_err().to_string();
        assert!(error.contains("map_values at "), "{error}");
    });
}
