//! Keys of every shape in so little memory that tables split, split again and put single keys aside, against a plain map.

use std::{collections::BTreeMap, fmt::Debug};

use firesteel::prelude::*;

use crate::support::each_backend_with;

const ROWS: u64 = 20_000;
const KEYS: u64 = 6_000;

/// How keys are spread over the rows.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    /// One key has the first half of the rows.
    HeavyAtHead,
    /// One key has the last half of the rows, after it came up once among all others.
    HeavyAtTail,
    /// One key has nine rows in ten.
    Giant,
    AllAlike,
}

const SHAPES: [Shape; 5] =
    [Shape::Uniform, Shape::HeavyAtHead, Shape::HeavyAtTail, Shape::Giant, Shape::AllAlike];

impl Shape {
    /// The pair at one place. The code tells the shape, since a function that is shipped captures nothing.
    fn pair(code: u64, row: u64) -> (u64, u64) {
        let key = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) % KEYS;
        let is_heavy = match SHAPES[code as usize] {
            Self::Uniform => false,
            Self::HeavyAtHead => row < ROWS / 2,
            Self::HeavyAtTail => row >= ROWS / 2,
            Self::Giant => !row.is_multiple_of(10),
            Self::AllAlike => true,
        };
        (if is_heavy { 0 } else { key }, row)
    }

    fn pairs(self) -> impl Iterator<Item = (u64, u64)> {
        (0..ROWS).map(move |row| Self::pair(self as u64, row))
    }

    fn rdd(self, ctx: &Context, partitions: u32) -> impl Rdd<Item = (u64, u64)> + use<> {
        ctx.range_into(0..ROWS, partitions).with(self as u64).map(|code, row| Self::pair(*code, row))
    }
}

/// The values of one key in short: how many, and one number that tells their order.
fn in_order(values: impl IntoIterator<Item = u64>) -> (u64, u64) {
    values.into_iter().fold((0, 0), |(n, digest), value| {
        (n + 1, digest.wrapping_mul(0x0100_0000_01B3).wrapping_add(value + 1))
    })
}

/// The same, regardless of their order.
fn in_any_order(values: impl IntoIterator<Item = u64>) -> (u64, u64) {
    values.into_iter().fold((0, 0), |(n, sum), value| (n + 1, sum.wrapping_add((value + 1) * (value + 7))))
}

fn model(pairs: impl Iterator<Item = (u64, u64)>) -> BTreeMap<u64, Vec<u64>> {
    let mut groups = BTreeMap::<u64, Vec<u64>>::new();
    pairs.for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

/// Asserts that an RDD has these rows, in any order, each once.
fn assert_rows<T: Data + Ord + Debug>(rdd: &impl Rdd<Item = T>, expected: impl Iterator<Item = T>, of: &str) {
    let (mut rows, mut expected) = (rdd.collect().unwrap(), expected.collect::<Vec<_>>());
    rows.sort();
    expected.sort();
    let differs = rows.iter().zip(&expected).find(|(row, expected)| row != expected);
    assert!(
        differs.is_none() && rows.len() == expected.len(),
        "{of}: {} rows instead of {}, the first that differs and what it should be: {differs:?}",
        rows.len(),
        expected.len(),
    );
}

/// Runs `test` for each shape on each backend, with budgets that make a table split once, several times and at every turn.
fn for_shapes(test: impl Fn(&Context, Shape, &str)) {
    for budget in ["64k", "512k"] {
        let set =
            |builder: firesteel::ContextBuilder| builder.set("firesteel.memory.budget", budget).unwrap();
        each_backend_with(set, |ctx| {
            for shape in SHAPES {
                test(&ctx, shape, &format!("{shape:?} in {budget}"));
            }
        });
    }
}

#[test]
fn every_key_is_grouped_once_with_its_values_in_order() {
    for_shapes(|ctx, shape, case| {
        let groups = shape.rdd(ctx, 1).group_by_key_into(1).map_values(in_order);
        assert_rows(
            &groups,
            model(shape.pairs()).into_iter().map(|(key, values)| (key, in_order(values))),
            case,
        );
        let groups = shape.rdd(ctx, 4).group_by_key_into(3).map_values(in_any_order);
        let expected = || model(shape.pairs()).into_iter().map(|(key, values)| (key, in_any_order(values)));
        assert_rows(&groups, expected(), case);
        let in_place = shape.rdd(ctx, 4).map(|pair| pair).partition_by(3).group_by_key();
        assert_rows(&in_place.map_values(in_any_order), expected(), case);
    });
}

#[test]
fn every_key_is_combined_once_with_its_values_in_order() {
    for_shapes(|ctx, shape, case| {
        let sums = shape
            .rdd(ctx, 3)
            .map_values(|value| (1_u64, value))
            .reduce_by_key_into(2, |a, b| (a.0 + b.0, a.1 + b.1));
        let expected = model(shape.pairs()).into_iter();
        let expected =
            expected.map(|(key, values)| (key, (values.len() as u64, values.into_iter().sum::<u64>())));
        assert_rows(&sums, expected, case);
        let keys = shape.rdd(ctx, 3).keys().distinct_into(2);
        assert_rows(&keys, model(shape.pairs()).into_keys(), case);
    });
}

#[test]
fn every_key_is_joined_and_cogrouped_once() {
    for_shapes(|ctx, shape, case| {
        let (pairs, few) = (shape.rdd(ctx, 3), Shape::Uniform.rdd(ctx, 2));
        let (left, right) = (model(shape.pairs()), model(Shape::Uniform.pairs()));
        let both = || {
            let keys: std::collections::BTreeSet<u64> = left.keys().chain(right.keys()).copied().collect();
            let of = |side: &BTreeMap<u64, Vec<u64>>, key: &u64| {
                in_any_order(side.get(key).cloned().unwrap_or_default())
            };
            keys.into_iter().map(|key| (key, (of(&left, &key), of(&right, &key)))).collect::<Vec<_>>()
        };

        let grouped =
            pairs.cogroup(&few).map_values(|(left, right)| (in_any_order(left), in_any_order(right)));
        assert_rows(&grouped, both().into_iter(), case);
        let joined = pairs.join(&few).map_values(|(left, right)| left ^ (right << 20));
        let counts = joined.map_values(|_| 1_u64).reduce_by_key(|a, b| a + b);
        let expected =
            both().into_iter().map(|(key, (left, right))| (key, left.0 * right.0)).filter(|(_, n)| *n > 0);
        assert_rows(&counts, expected, case);
        let without = few.subtract_by_key(&pairs);
        let expected = Shape::Uniform.pairs().filter(|(key, _)| !left.contains_key(key));
        assert_rows(&without, expected, case);
        let common = pairs.keys().intersection(&few.keys());
        assert_rows(&common, left.keys().filter(|key| right.contains_key(key)).copied(), case);
    });
}
