//! Every operator with a shuffle, over data eight times as large as the budget.

use firesteel::{Conf, HashPartitioner, Order, prelude::*};

use crate::child::{BESIDE, BUDGET, in_child, peak_resident_bytes, tight_to};

/// Rows of 16 bytes that are 32 MiB together.
const ROWS: u64 = 2 << 20;

/// Numbers that look random, each once.
fn scattered(ctx: &Context) -> impl Rdd<Item = u64> + use<> {
    ctx.range_into(0..ROWS, 8).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A quarter of that, for a quarter of the budget.
const SOME: u64 = ROWS / 4;

fn some(ctx: &Context) -> impl Rdd<Item = u64> + use<> {
    ctx.range_into(0..SOME, 8).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Runs `case` in a child, serialized and not, and checks what it needed.
fn case(test: &str, run: fn(&Context)) {
    case_with(test, BUDGET, run);
}

/// The same with a quarter of the budget.
fn smaller_case(test: &str, run: fn(&Context)) {
    case_with(test, BUDGET / 4, run);
}

fn case_with(test: &str, budget: u64, run: fn(&Context)) {
    let peak = in_child(test, || {
        for shipped in [false, true] {
            run(&tight_to(budget, shipped));
        }
    });
    if let Some(peak) = peak {
        assert!(peak <= BUDGET + BESIDE, "{test} took {} MiB", peak >> 20);
    }
}

#[test]
fn reduce_by_key_of_many_keys() {
    case("operators::reduce_by_key_of_many_keys", |ctx| {
        let sums = scattered(ctx).map(|x| (x >> 1, 1_u64)).reduce_by_key(|a, b| a + b);
        let (keys, rows) = sums.map(|(_, n)| (1_u64, n)).reduce(|a, b| (a.0 + b.0, a.1 + b.1)).unwrap();

        assert_eq!(rows, ROWS);
        assert!(keys > ROWS / 2);
    });
}

/// Rows that do not fit, in tables that are cut into pieces before they are spilled.
#[test]
fn reduce_by_key_of_large_tables() {
    const BUDGET: u64 = 96 << 20;
    const KEYS: u64 = 600_000;
    let test = "operators::reduce_by_key_of_large_tables";
    let peak = in_child(test, || {
        for shipped in [false, true] {
            let ctx = tight_to(BUDGET, shipped);
            let rows = ctx.range_into(0..2 * KEYS, 2).map(|x| (x % KEYS, [x; 30]));
            let sums = rows.reduce_by_key_into(4, |one, two| std::array::from_fn(|i| one[i] + two[i]));

            assert_eq!(sums.filter(|(key, sum)| *sum == [2 * key + KEYS; 30]).count().unwrap(), KEYS);
        }
    });
    if let Some(peak) = peak {
        assert!(peak <= BUDGET + BESIDE, "{} MiB", peak >> 20);
    }
}

#[test]
fn group_by_key_of_many_keys() {
    case("operators::group_by_key_of_many_keys", |ctx| {
        let groups = scattered(ctx).map(|x| (x % (ROWS / 4 + 1), x)).group_by_key();
        let wrong = groups.filter(|(key, values)| values.iter().any(|x| x % (ROWS / 4 + 1) != *key)).count();
        let rows = groups.map(|(_, values)| values.len() as u64).reduce(|a, b| a + b);

        assert_eq!((wrong.unwrap(), rows.unwrap()), (0, ROWS));
    });
}

#[test]
fn group_by_key_of_one_huge_key() {
    case("operators::group_by_key_of_one_huge_key", |ctx| {
        let groups =
            ctx.range_into(0..ROWS, 8).map(|x| (if x % 1000 == 0 { x } else { 7 }, x)).group_by_key();
        let (keys, sum) = groups
            .map(|(_, values)| (1_u64, values.into_iter().fold(0_u64, u64::wrapping_add)))
            .reduce(|a, b| (a.0 + b.0, a.1.wrapping_add(b.1)))
            .unwrap();

        assert_eq!((keys, sum), (ROWS.div_ceil(1000) + 1, ROWS * (ROWS - 1) / 2));
    });
}

/// Values that own nothing and are large, so that what is made of them counts more than what finds them.
#[test]
fn group_by_key_of_one_key_with_large_values() {
    case("operators::group_by_key_of_one_key_with_large_values", |ctx| {
        // Some of these just fit, and some just do not.
        for rows in (2_000..20_000).step_by(2_000) {
            let groups = ctx.range_into(0..rows, 4).map(|x| (7_u8, [x; 30])).group_by_key();
            let values = groups.flat_map(|(_, values)| values.into_iter());
            let sums = values.map(|x| (x[0] % 100, x[29])).reduce_by_key(|a, b| a + b);

            assert_eq!(sums.values().reduce(|a, b| a + b).unwrap(), rows * (rows - 1) / 2);
        }
    });
}

#[test]
fn sort_by_key() {
    case("operators::sort_by_key", |ctx| {
        let sorted = scattered(ctx).map(|x| (x, !x)).sort_by_key(Order::Ascending).unwrap();
        let parts = sorted.map_partitions(|rows| {
            let (mut first, mut last, mut n, mut in_order) = (None, None, 0_u64, true);
            for (key, value) in rows {
                assert_eq!(key, !value);
                in_order &= last <= Some(key);
                first = first.or(Some(key));
                last = Some(key);
                n += 1;
            }
            Rows::new([(first, last, n, in_order)])
        });
        let parts = parts.collect().unwrap();

        assert_eq!(parts.iter().map(|part| part.2).sum::<u64>(), ROWS);
        assert!(parts.iter().all(|part| part.3), "{parts:?}");
        assert!(parts.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{parts:?}");
    });
}

#[test]
fn join() {
    smaller_case("operators::join", |ctx| {
        let left = some(ctx).map(|x| (x, 1_u64));
        let right = some(ctx).filter(|x| x % 2 == 0).map(|x| (x, x));
        let joined = left.join(&right).filter(|(key, (one, same))| *one == 1 && key == same).count().unwrap();
        let left_only =
            left.left_outer_join(&right).filter(|(_, (_, right))| right.is_none()).count().unwrap();

        assert_eq!((joined, left_only), (SOME / 2, SOME / 2));
    });
}

#[test]
fn cogroup() {
    smaller_case("operators::cogroup", |ctx| {
        let pairs = some(ctx).map(|x| (x >> 2, x));
        let grouped = pairs.cogroup(&pairs);
        let rows = grouped
            .map(|(key, (left, right))| {
                assert!(left.iter().chain(&right).all(|x| x >> 2 == key));
                (left.len() + right.len()) as u64
            })
            .reduce(|a, b| a + b);

        assert_eq!(rows.unwrap(), 2 * SOME);
    });
}

#[test]
fn distinct_subtract_and_intersection() {
    smaller_case("operators::distinct_subtract_and_intersection", |ctx| {
        let rows = some(ctx);
        let even = rows.filter(|x| x % 2 == 0);

        assert_eq!(rows.union(&even).distinct().count().unwrap(), SOME);
        assert_eq!(rows.subtract(&even).count().unwrap(), SOME / 2);
        assert_eq!(rows.intersection(&even).count().unwrap(), SOME / 2);
    });
}

#[test]
fn repartition_and_partition_by() {
    case("operators::repartition_and_partition_by", |ctx| {
        let rows = scattered(ctx);
        let sum = |a: u64, b: u64| a.wrapping_add(b);
        let expected = (0..ROWS).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15)).fold(0, u64::wrapping_add);

        assert_eq!(rows.repartition(3).fold(0, sum).unwrap(), expected);
        let dealt = rows.map(|x| (x, x)).partition_by(HashPartitioner::new(5));
        assert_eq!(dealt.map(|(_, x)| x).fold(0, sum).unwrap(), expected);
    });
}

#[test]
fn rows_that_own_memory() {
    case("operators::rows_that_own_memory", |ctx| {
        let words =
            ctx.range_into(0..ROWS / 4, 8).map(|x| (format!("word number {:040}", x % (ROWS / 8)), 1_u64));
        let counts = words.reduce_by_key(|a, b| a + b);
        assert_eq!(counts.filter(|(_, n)| *n == 2).count().unwrap(), ROWS / 8);
        let emitted = words.map_reduce(|(word, n), emit| emit.pair(word.as_str(), *n), |a, b| a + b);
        assert_eq!(emitted.filter(|(_, n)| *n == 2).count().unwrap(), ROWS / 8);

        let sorted = words.sort_by_key(Order::Ascending).unwrap().map(|(word, _)| word);
        let ordered = sorted.map_partitions(|words| {
            let mut last = String::new();
            Rows::new(words.filter(move |word| std::mem::replace(&mut last, word.clone()) > *word))
        });
        assert_eq!(ordered.count().unwrap(), 0);
    });
}

#[test]
fn aggregate_fold_and_combine_by_key() {
    smaller_case("operators::aggregate_fold_and_combine_by_key", |ctx| {
        let pairs = some(ctx).map(|x| (x >> 1, x));
        let total = |rows: (u64, u64), row: (u64, u64)| (rows.0 + row.0, rows.1.wrapping_add(row.1));
        let sum = (0..SOME).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15)).fold(0, u64::wrapping_add);

        let aggregated = pairs.aggregate_by_key(
            (0_u64, 0_u64),
            |(n, sum), x| (n + 1, sum.wrapping_add(x)),
            |a, b| (a.0 + b.0, a.1.wrapping_add(b.1)),
        );
        assert_eq!(aggregated.map(|(_, found)| found).reduce(total).unwrap(), (SOME, sum));
        let folded = pairs.fold_by_key(0, u64::wrapping_add).map(|(_, sum)| sum).reduce(u64::wrapping_add);
        assert_eq!(folded.unwrap(), sum);
        // States that own memory, which grows as values come.
        let combined = pairs.combine_by_key(
            |x| vec![x],
            |mut all: Vec<u64>, x| {
                all.push(x);
                all
            },
            |mut all, more| {
                all.extend(more);
                all
            },
        );
        let combined =
            combined.map(|(_, all)| (all.len() as u64, all.into_iter().fold(0, u64::wrapping_add)));
        assert_eq!(combined.reduce(total).unwrap(), (SOME, sum));
    });
}

#[test]
fn join_of_one_huge_key() {
    smaller_case("operators::join_of_one_huge_key", |ctx| {
        let pairs = ctx.range_into(0..SOME, 8).map(|x| (if x % 1000 == 0 { x } else { 7 }, x));
        let few = ctx.range_into(0..3_u64, 1).map(|x| (7_u64, x));

        assert_eq!(pairs.join(&few).count().unwrap(), 3 * (SOME - SOME.div_ceil(1000)));
        assert_eq!(few.join(&pairs).count().unwrap(), 3 * (SOME - SOME.div_ceil(1000)));
    });
}

#[test]
fn full_outer_join_and_subtract_by_key() {
    smaller_case("operators::full_outer_join_and_subtract_by_key", |ctx| {
        let left = some(ctx).filter(|x| x % 3 != 0).map(|x| (x, x));
        let right = some(ctx).filter(|x| x % 3 != 1).map(|x| (x, x));
        let count =
            |rest| (0..SOME).filter(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 3 == rest).count() as u64;

        let (both, one) = left
            .full_outer_join(&right)
            .map(|(_, (left, right))| if left == right { (1_u64, 0_u64) } else { (0, 1) })
            .reduce(|a, b| (a.0 + b.0, a.1 + b.1))
            .unwrap();
        assert_eq!((both, one), (count(2), count(0) + count(1)));
        assert_eq!(left.subtract_by_key(&right).count().unwrap(), count(1));
    });
}

/// How many rows are larger than the one before them in their partition, and how many there are.
fn disorder<R: Rdd<Item = u64>>(descending: &R) -> (u64, u64) {
    let found = descending.map_partitions(|rows| {
        let (mut last, mut wrong, mut n) = (None, 0_u64, 0_u64);
        rows.for_each(|x| {
            wrong += u64::from(last.is_some_and(|last| last < x));
            last = Some(x);
            n += 1;
        });
        Rows::new([(wrong, n)])
    });
    found.reduce(|a, b| (a.0 + b.0, a.1 + b.1)).unwrap()
}

#[test]
fn sort_by_and_sort_within_partitions() {
    smaller_case("operators::sort_by_and_sort_within_partitions", |ctx| {
        let sorted = some(ctx).sort_by(|x| !*x, Order::Ascending).unwrap();
        assert_eq!(disorder(&sorted), (0, SOME));

        let pairs = some(ctx).map(|x| (!x, ()));
        let within = pairs.repartition_and_sort_within_partitions(HashPartitioner::new(3));
        assert_eq!(disorder(&within.map(|(x, ())| !x)), (0, SOME));
    });
}

/// What is on its way from other executors is not in the budget (`firesteel.reducer.maxSizeInFlight`).
const IN_FLIGHT: u64 = 48 << 20;

#[test]
fn executors_of_a_cluster_need_no_more() {
    let test = "operators::executors_of_a_cluster_need_no_more";
    let _ = in_child(test, || {
        let conf = Conf::new().set("firesteel.memory.budget", (BUDGET / 4).to_string() + "b").unwrap();
        let ctx = Context::builder().master("local-cluster[2,1,1024]").conf(conf).start().unwrap();
        let sums = some(&ctx).map(|x| (x >> 1, 1_u64)).reduce_by_key(|a, b| a + b);
        assert_eq!(sums.map(|(_, n)| n).reduce(|a, b| a + b).unwrap(), SOME);
        assert_eq!(disorder(&some(&ctx).sort_by(|x| !*x, Order::Ascending).unwrap()), (0, SOME));
        let groups = ctx.range_into(0..SOME, 8).map(|x| (x & 1, x)).group_by_key();
        let values = groups.map(|(_, values)| values.into_iter().count() as u64).reduce(|a, b| a + b);
        assert_eq!(values.unwrap(), SOME);

        let peaks = ctx.range_into(0..8_u64, 8).map(|_| (std::process::id(), peak_resident_bytes()));
        for (pid, peak) in peaks.collect().unwrap() {
            assert!(peak <= BUDGET / 4 + IN_FLIGHT + BESIDE, "process {pid} took {} MiB", peak >> 20);
        }
    });
}
