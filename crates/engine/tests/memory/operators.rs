//! Every operator with a shuffle, over data eight times as large as the budget.

use firesteel::{HashPartitioner, Order, prelude::*};

use crate::child::{BESIDE, BUDGET, in_child, tight};

/// Rows of 16 bytes that are 32 MiB together.
const ROWS: u64 = 2 << 20;

/// Numbers that look random, each once.
fn scattered(ctx: &Context) -> impl Rdd<Item = u64> + use<> {
    ctx.range_into(0..ROWS, 8).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Runs `case` in a child, serialized and not, and checks what it needed.
fn case(test: &str, run: fn(&Context)) {
    let peak = in_child(test, || {
        for shipped in [false, true] {
            run(&tight(shipped));
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
    case("operators::join", |ctx| {
        let left = scattered(ctx).map(|x| (x, 1_u64));
        let right = scattered(ctx).filter(|x| x % 2 == 0).map(|x| (x, x));
        let joined = left.join(&right).filter(|(key, (one, same))| *one == 1 && key == same).count().unwrap();
        let left_only =
            left.left_outer_join(&right).filter(|(_, (_, right))| right.is_none()).count().unwrap();

        assert_eq!((joined, left_only), (ROWS / 2, ROWS / 2));
    });
}

#[test]
fn cogroup() {
    case("operators::cogroup", |ctx| {
        let pairs = scattered(ctx).map(|x| (x >> 2, x));
        let grouped = pairs.cogroup(&pairs);
        let rows = grouped
            .map(|(key, (left, right))| {
                assert!(left.iter().chain(&right).all(|x| x >> 2 == key));
                (left.len() + right.len()) as u64
            })
            .reduce(|a, b| a + b);

        assert_eq!(rows.unwrap(), 2 * ROWS);
    });
}

#[test]
fn distinct_subtract_and_intersection() {
    case("operators::distinct_subtract_and_intersection", |ctx| {
        let rows = scattered(ctx);
        let even = rows.filter(|x| x % 2 == 0);

        assert_eq!(rows.union(&even).distinct().count().unwrap(), ROWS);
        assert_eq!(rows.subtract(&even).count().unwrap(), ROWS / 2);
        assert_eq!(rows.intersection(&even).count().unwrap(), ROWS / 2);
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

        let sorted = words.sort_by_key(Order::Ascending).unwrap().map(|(word, _)| word);
        let ordered = sorted.map_partitions(|words| {
            let mut last = String::new();
            Rows::new(words.filter(move |word| std::mem::replace(&mut last, word.clone()) > *word))
        });
        assert_eq!(ordered.count().unwrap(), 0);
    });
}
