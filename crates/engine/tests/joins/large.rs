//! Joins of so many plain rows that a partition is cut into parts.

use std::collections::BTreeMap;

use firesteel::prelude::*;

use crate::support::each_backend;

const ROWS: u64 = 60_000;

/// Two rows for most keys below 30,000.
fn left(x: u64) -> (u64, u64) {
    (x * 7_919 % 30_000, x)
}

/// Three rows for each key from 20,000 on.
fn right(x: u64) -> (u64, u64) {
    (20_000 + x % 20_000, x)
}

/// How many rows each key has, and the sum of their values.
fn by_key(row: fn(u64) -> (u64, u64)) -> BTreeMap<u64, (u64, u64)> {
    (0..ROWS).map(row).fold(BTreeMap::new(), |mut keys, (key, value)| {
        let (rows, sum) = keys.entry(key).or_default();
        (*rows, *sum) = (*rows + 1, *sum + value);
        keys
    })
}

/// What comes out: the number of rows, the sum of the values on the left, and of those on the right.
type Sums = (u64, u64, u64);

fn sums(rdd: &impl Rdd<Item = (u64, (Option<u64>, Option<u64>))>) -> Sums {
    let sums = rdd.map(|(_, (left, right))| (1, left.unwrap_or(0), right.unwrap_or(0)));
    sums.fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2)).unwrap()
}

fn expected(keeps_left: bool, keeps_right: bool) -> Sums {
    let (lefts, rights) = (by_key(left), by_key(right));
    let mut sums = (0, 0, 0);
    let mut add = |(rows, left, right): Sums| sums = (sums.0 + rows, sums.1 + left, sums.2 + right);
    for (key, (rows, sum)) in &lefts {
        match rights.get(key) {
            Some((others, of_others)) => add((rows * others, sum * others, of_others * rows)),
            None if keeps_left => add((*rows, *sum, 0)),
            None => {}
        }
    }
    let alone = rights.iter().filter(|(key, _)| keeps_right && !lefts.contains_key(*key));
    alone.for_each(|(_, (rows, sum))| add((*rows, 0, *sum)));
    sums
}

#[test]
fn every_kind_of_join_has_each_pair_once_however_many_rows_there_are() {
    each_backend(|ctx| {
        let lefts = ctx.range_into(0..ROWS, 2).map(left);
        let rights = ctx.range_into(0..ROWS, 3).map(right);

        let inner = lefts.join_into(&rights, 1).map_values(|(left, right)| (Some(left), Some(right)));
        let to_left = lefts.left_outer_join_into(&rights, 1).map_values(|(left, right)| (Some(left), right));
        let to_right =
            lefts.right_outer_join_into(&rights, 1).map_values(|(left, right)| (left, Some(right)));

        assert_eq!(sums(&inner), expected(false, false));
        assert_eq!(sums(&to_left), expected(true, false));
        assert_eq!(sums(&to_right), expected(false, true));
        assert_eq!(sums(&lefts.full_outer_join_into(&rights, 1)), expected(true, true));
    });
}
