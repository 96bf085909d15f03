//! Each operator against the model, over random rows that come in all ways: shuffled, in place, from no
//! partitions.

use std::fmt::Debug;

use firesteel::prelude::*;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::{
    model::{self, Pairs, sorted},
    support::each_backend,
};

/// One input of an operator.
#[derive(Clone, Debug)]
struct Side {
    rows: Pairs<u16>,
    placement: Placement,
}

/// How an input comes to an operator.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// In so many partitions; its rows are shuffled.
    Plain(u32),
    /// Dealt like the result; its rows are read in place.
    InPlace,
}

/// Values that can also come out of a join, which is how duplicates get to where their keys belong.
type Value = (bool, u16);

impl Side {
    fn rows(&self) -> Pairs<Value> {
        match self.placement {
            Placement::Plain(0) => Vec::new(),
            Placement::Plain(_) | Placement::InPlace => {
                self.rows.iter().map(|(key, value)| (*key, (true, *value))).collect()
            }
        }
    }

    fn rdd(&self, ctx: &Context, partitions: u32) -> BoxRdd<(u8, Value)> {
        match self.placement {
            Placement::Plain(0) => ctx.empty_rdd().boxed(),
            Placement::Plain(partitions) => ctx.parallelize_into(self.rows(), partitions).boxed(),
            Placement::InPlace => {
                let rows = ctx.parallelize_into(self.rows.clone(), 3);
                let keys = rows.map(|(key, _)| (key, true)).reduce_by_key_into(partitions, |one, _| one);
                keys.join_into(&rows, partitions).boxed()
            }
        }
    }

    fn keys(&self) -> Vec<u8> {
        self.rows().into_iter().map(|(key, _)| key).collect()
    }
}

fn side() -> impl Strategy<Value = Side> {
    let few = prop::collection::vec((0..6_u8, 0..4_u16), 0..12);
    let spread = prop::collection::vec((any::<u8>(), any::<u16>()), 0..60);
    let skewed = (0..60_u16).prop_map(|rows| (0..rows).map(|value| (7, value)).collect());
    let rows = prop_oneof![3 => few, 2 => spread, 1 => skewed];
    let placement = prop_oneof![
        1 => Just(Placement::Plain(0)),
        4 => (1..20_u32).prop_map(Placement::Plain),
        3 => Just(Placement::InPlace),
    ];
    (rows, placement).prop_map(|(rows, placement)| Side { rows, placement })
}

/// Runs `check` with random inputs and numbers of partitions on each backend.
fn on_random<S: Strategy>(inputs: impl Fn() -> S, check: impl Fn(&Context, S::Value))
where
    S::Value: Debug,
{
    each_backend(|ctx| {
        let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
        let checked = TestRunner::new(config).run(&inputs(), |input| {
            check(ctx, input);
            Ok(())
        });
        if let Err(error) = checked {
            panic!("{error}");
        }
    });
}

fn collected<T: Data + Ord>(rdd: &impl Rdd<Item = T>) -> Vec<T> {
    sorted(rdd.collect().unwrap())
}

/// Behaviours: RDD-005, RDD-007.
#[test]
fn joins_give_all_pairs_of_a_key_and_mark_missing_sides() {
    on_random(
        || (side(), side(), 1..6_u32),
        |ctx, (left, right, partitions)| {
            let all = model::full_outer(&left.rows(), &right.rows());
            let (l, r) = (left.rdd(ctx, partitions), right.rdd(ctx, partitions));

            let full = collected(&l.full_outer_join_into(&r, partitions));
            assert_eq!(full, sorted(all.clone()));

            let inner = collected(&l.join_into(&r, partitions));
            let pairs = all.iter().filter_map(|&(key, (left, right))| Some((key, (left?, right?))));
            assert_eq!(inner, sorted(pairs.collect()));

            let left_outer = collected(&l.left_outer_join_into(&r, partitions));
            let pairs = all.iter().filter_map(|&(key, (left, right))| Some((key, (left?, right))));
            assert_eq!(left_outer, sorted(pairs.collect()));

            let right_outer = collected(&l.right_outer_join_into(&r, partitions));
            let pairs = all.iter().filter_map(|&(key, (left, right))| Some((key, (left, right?))));
            assert_eq!(right_outer, sorted(pairs.collect()));
        },
    );
}

/// Behaviours: RDD-005, RDD-007.
#[test]
fn subtract_by_key_keeps_duplicates_and_ignores_the_values_on_the_right() {
    on_random(
        || (side(), side(), 1..6_u32),
        |ctx, (left, right, partitions)| {
            let (l, r) = (left.rdd(ctx, partitions), right.rdd(ctx, partitions));

            let rest = collected(&l.subtract_by_key_into(&r, partitions));

            let taken = right.keys();
            let expected = left.rows().into_iter().filter(|(key, _)| !taken.contains(key)).collect();
            assert_eq!(rest, sorted(expected));
        },
    );
}

/// Behaviours: RDD-007.
#[test]
fn intersection_gives_common_rows_once_and_subtract_keeps_duplicates_of_the_left() {
    on_random(
        || (side(), side(), 1..6_u32),
        |ctx, (left, right, partitions)| {
            let (l, r) = (left.rdd(ctx, partitions), right.rdd(ctx, partitions));
            let (left, right) = (left.rows(), right.rows());

            let mut common: Vec<_> = left.iter().filter(|row| right.contains(row)).copied().collect();
            common.sort_unstable();
            common.dedup();
            assert_eq!(collected(&l.intersection_into(&r, partitions)), common);

            let rest = left.into_iter().filter(|row| !right.contains(row)).collect();
            assert_eq!(collected(&l.subtract_into(&r, partitions)), sorted(rest));
        },
    );
}

/// Behaviours: RDD-005.
#[test]
fn cogroup_has_every_key_once_with_all_its_values_of_each_side() {
    on_random(
        || (side(), side(), 1..6_u32),
        |ctx, (left, right, partitions)| {
            let groups = left.rdd(ctx, partitions).cogroup_into(&right.rdd(ctx, partitions), partitions);
            let groups = groups.map(|(key, (one, two))| (key, (ordered(one), ordered(two))));

            let keys = model::keys(&[left.keys(), right.keys()]);
            let (left, right) = (left.rows(), right.rows());
            let expected = keys.into_iter();
            let expected = expected.map(|key| (key, (model::values(&left, key), model::values(&right, key))));
            assert_eq!(collected(&groups), expected.collect::<Vec<_>>());
        },
    );
}

fn ordered(values: Vec<Value>) -> Vec<Value> {
    sorted(values)
}

#[test]
fn cogroups_of_three_and_four_have_the_values_of_each_side_in_its_place() {
    on_random(
        || (side(), side(), side(), side(), 1..6_u32),
        |ctx, (one, two, three, four, partitions)| {
            let sides = [&one, &two, &three, &four];
            let [first, second, third, fourth] = sides.map(|side| side.rdd(ctx, partitions));
            let rows = sides.map(Side::rows);
            let value = |side: usize, key| model::values(&rows[side], key);

            let groups = first.cogroup3_into(&second, &third, partitions);
            let groups = groups.map(|(key, (a, b, c))| (key, (ordered(a), ordered(b), ordered(c))));
            let keys = model::keys(&[one.keys(), two.keys(), three.keys()]).into_iter();
            let expected = keys.map(|key| (key, (value(0, key), value(1, key), value(2, key))));
            assert_eq!(collected(&groups), expected.collect::<Vec<_>>());

            let groups = first.cogroup4_into(&second, &third, &fourth, partitions);
            let groups =
                groups.map(|(key, (a, b, c, d))| (key, (ordered(a), ordered(b), ordered(c), ordered(d))));
            let keys = model::keys(&sides.map(Side::keys)).into_iter();
            let expected =
                keys.map(|key| (key, (value(0, key), value(1, key), value(2, key), value(3, key))));
            assert_eq!(collected(&groups), expected.collect::<Vec<_>>());
        },
    );
}
