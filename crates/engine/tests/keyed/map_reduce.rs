//! Pairs that rows emit, and that borrow from them.

use std::collections::BTreeMap;

use firesteel::prelude::*;

use crate::{harness::assert_in_place, support::each_backend};

/// A line of `x % 40` words, so that some lines emit nothing.
fn line(x: u64) -> String {
    let words: Vec<String> = (0..x % 40).map(|at| format!("w{}", x * at % 97)).collect();
    words.join(" ")
}

fn model() -> BTreeMap<String, Vec<u64>> {
    let mut words: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in (0..500).map(line) {
        for word in line.split_whitespace() {
            words.entry(word.to_owned()).or_default().push(line.len() as u64);
        }
    }
    words
}

#[test]
fn emitted_values_are_combined_by_key() {
    each_backend(|ctx| {
        let lines = ctx.range_into(0..500, 5).map(line);

        let counts = lines.map_reduce_into(
            3,
            |line, emit| line.split_whitespace().for_each(|word| emit.pair(word, 1_u64)),
            |a, b| a + b,
        );
        // Values that own memory go another way into the table.
        let lengths = lines.with(1_u64).map_reduce(
            |factor, line, emit| {
                let length = line.len() as u64 * factor;
                line.split_whitespace().for_each(|word| emit.pair(word, vec![length]));
            },
            |_, mut one, mut two| {
                one.append(&mut two);
                one
            },
        );

        let expected = model();
        let counts: BTreeMap<String, u64> = counts.collect().unwrap().into_iter().collect();
        assert_eq!(counts, expected.iter().map(|(word, all)| (word.clone(), all.len() as u64)).collect());
        let mut lengths: BTreeMap<String, Vec<u64>> = lengths.collect().unwrap().into_iter().collect();
        for all in lengths.values_mut() {
            all.sort_unstable();
        }
        let sorted = expected.into_iter().map(|(word, mut all)| {
            all.sort_unstable();
            (word, all)
        });
        assert_eq!(lengths, sorted.collect());
    });
}

#[test]
fn the_result_is_partitioned_by_its_keys() {
    each_backend(|ctx| {
        let counts = ctx.parallelize(vec![vec![3_u64, 4], vec![4, 5]]).map_reduce_into(
            2,
            |row, emit| row.iter().for_each(|number| emit.pair(number, 1_u32)),
            |a, b| a + b,
        );

        assert_eq!((counts.lookup(&4).unwrap(), counts.num_partitions()), (vec![2], 2));
        assert_in_place(&counts);
    });
}

#[test]
fn one_row_may_emit_very_many_pairs() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..2, 2).map(|_| (0..100_000_u64).collect::<Vec<_>>());

        let counts = rows
            .map_reduce(|row, emit| row.iter().for_each(|number| emit.pair(number, *number)), |a, b| a + b);

        assert_eq!(counts.filter(|(key, sum)| *sum == 2 * key).count().unwrap(), 100_000);
    });
}

#[test]
fn a_panic_in_either_function_names_the_operator() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..4_u64, 1).map(|x| vec![x]);
        let of_emit = rows.map_reduce(
            |row, emit| {
                assert!(row[0] < 3, "no more");
                emit.pair(&row[0], 1_u32);
            },
            |a, b| a + b,
        );
        let of_reduce = rows.map(|_| vec![7_u64]).map_reduce(
            |row, emit| row.iter().for_each(|number| emit.pair(number, 1_u32)),
            |_, _| panic!("no sum"),
        );

        for (error, text) in [(of_emit.count(), "no more"), (of_reduce.count(), "no sum")] {
            let error = error.unwrap_err();
            assert!(
                error.to_string().contains(text) && error.to_string().contains("map_reduce at "),
                "{error}"
            );
        }
    });
}
