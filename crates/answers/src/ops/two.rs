//! Operators over two RDDs.

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use super::Built;
use crate::{
    case::{JoinName, Next, Pairing, Placed, Sides},
    functions::{digest, paired, present},
    kind::{Kind, Row},
    model::cogrouped,
};

/// The RDD behind an operator.
pub(super) fn build<K: Kind>(pairing: Pairing, left: &Built<K>, right: &Built<K>) -> BoxRdd<Row<K>> {
    let (one, two) = (&left.rdd, &right.rdd);
    match pairing {
        Pairing::Union => one.union(two).boxed(),
        Pairing::Join { kind, partitions, placed: which, next } => {
            let (one, two) = placed::<K>(which, partitions, left, right);
            join::<K>(kind, partitions, next, &one, &two)
        }
        Pairing::Cogroup { sides, partitions, placed: which } => {
            let (one, two) = placed::<K>(which, partitions, left, right);
            let orders = Orders {
                sides,
                left: left.model.known.orders_values(),
                right: right.model.known.orders_values(),
            };
            cogroup::<K>(orders, partitions, &one, &two)
        }
        Pairing::SubtractByKey { partitions, placed: which } => {
            let (one, two) = placed::<K>(which, partitions, left, right);
            one.subtract_by_key_into(&two, partitions).boxed()
        }
        Pairing::Intersection { partitions } => one.intersection_into(two, partitions).boxed(),
        Pairing::Subtract { partitions } => one.subtract_into(two, partitions).boxed(),
        Pairing::Cartesian => one.cartesian(two).map(|(l, r)| crossed::<K>(&l, &r)).boxed(),
        Pairing::ZipPartitions => {
            let zipped = one.zip_partitions(two, |left, right| {
                Rows::new(left.zip(right).map(|(l, r)| zipped::<K>(&l, &r)))
            });
            zipped.boxed()
        }
    }
}

/// Both sides, with the keys of some where the operator wants them.
fn placed<K: Kind>(
    which: Placed,
    partitions: u32,
    left: &Built<K>,
    right: &Built<K>,
) -> (BoxRdd<Row<K>>, BoxRdd<Row<K>>) {
    let place = |side: &Built<K>, is_placed: bool| {
        if is_placed { side.rdd.partition_by(partitions).boxed() } else { side.rdd.clone() }
    };
    let (is_left, is_right) = match which {
        Placed::Neither => (false, false),
        Placed::Left => (true, false),
        Placed::Right => (false, true),
        Placed::Both => (true, true),
    };
    (place(left, is_left), place(right, is_right))
}

fn join<K: Kind>(
    kind: JoinName,
    partitions: u32,
    next: Next,
    one: &BoxRdd<Row<K>>,
    two: &BoxRdd<Row<K>>,
) -> BoxRdd<Row<K>> {
    match kind {
        JoinName::Inner => {
            let pairs = one.join_into(two, partitions);
            taken::<K>(next, partitions, &pairs.map(|(key, (l, r))| joined::<K>(key, Some(l), Some(r))))
        }
        JoinName::LeftOuter => {
            let pairs = one.left_outer_join_into(two, partitions);
            taken::<K>(next, partitions, &pairs.map(|(key, (l, r))| joined::<K>(key, Some(l), r)))
        }
        JoinName::RightOuter => {
            let pairs = one.right_outer_join_into(two, partitions);
            taken::<K>(next, partitions, &pairs.map(|(key, (l, r))| joined::<K>(key, l, Some(r))))
        }
        JoinName::FullOuter => {
            let pairs = one.full_outer_join_into(two, partitions);
            taken::<K>(next, partitions, &pairs.map(|(key, (l, r))| joined::<K>(key, l, r)))
        }
    }
}

/// The rows of a join, by what takes them.
fn taken<K: Kind>(next: Next, partitions: u32, pairs: &impl Rdd<Item = Row<K>>) -> BoxRdd<Row<K>> {
    match next {
        Next::Boxed => pairs.boxed(),
        Next::Fused => pairs.partition_by(partitions).boxed(),
    }
}

fn cogroup<K: Kind>(
    orders: Orders,
    partitions: u32,
    one: &BoxRdd<Row<K>>,
    two: &BoxRdd<Row<K>>,
) -> BoxRdd<Row<K>> {
    match orders.sides {
        Sides::Two => {
            let groups = one.cogroup_into(two, partitions).with(orders);
            groups.map(|orders, (key, (left, right))| orders.row::<K>(key, &left, &right)).boxed()
        }
        Sides::Three => {
            let groups = one.cogroup3_into(two, one, partitions).with(orders);
            let digests = groups.map(|orders, (key, (left, right, again))| {
                assert!(is_same::<K>(&left, again), "both readings of a side have the same values");
                orders.row::<K>(key, &left, &right)
            });
            digests.boxed()
        }
        Sides::Four => {
            let groups = one.cogroup4_into(two, one, two, partitions).with(orders);
            let digests = groups.map(|orders, (key, (left, right, left_again, right_again))| {
                assert!(is_same::<K>(&left, left_again), "both readings of a side have the same values");
                assert!(is_same::<K>(&right, right_again), "both readings of a side have the same values");
                orders.row::<K>(key, &left, &right)
            });
            digests.boxed()
        }
    }
}

/// What is known of the order of values on both sides of a cogroup.
#[derive(Clone, Serialize, Deserialize)]
struct Orders {
    sides: Sides,
    left: bool,
    right: bool,
}

impl Orders {
    fn row<K: Kind>(&self, key: K::Key, left: &[K::Value], right: &[K::Value]) -> Row<K> {
        let digest_of =
            |is_ordered, values: &[K::Value]| digest(is_ordered, values.iter().map(K::value_code));
        let digests = (digest_of(self.left, left), digest_of(self.right, right));
        (key, K::value(cogrouped(self.sides, digests) & K::VALUE_BITS))
    }
}

/// Whether two lists have the same values, in any order.
fn is_same<K: Kind>(values: &[K::Value], mut again: Vec<K::Value>) -> bool {
    let mut values = values.to_vec();
    values.sort();
    again.sort();
    values == again
}

fn joined<K: Kind>(key: K::Key, left: Option<K::Value>, right: Option<K::Value>) -> Row<K> {
    let code = |value: Option<K::Value>| present(value.as_ref().map(K::value_code));
    (key, K::value(paired(code(left), code(right)) & K::VALUE_BITS))
}

fn crossed<K: Kind>(left: &Row<K>, right: &Row<K>) -> Row<K> {
    let ((key, value), (other_key, other_value)) = (K::code(left), K::code(right));
    K::row((key, paired(value, paired(other_key, other_value))))
}

fn zipped<K: Kind>(left: &Row<K>, right: &Row<K>) -> Row<K> {
    let ((key, value), (_, other)) = (K::code(left), K::code(right));
    K::row((key, paired(value, other)))
}
