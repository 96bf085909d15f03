//! Operators over two RDDs.

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use super::Built;
use crate::{
    case::Pairing,
    functions::{digest, paired, present},
    kind::{Kind, Row},
    model::cogrouped,
};

/// The RDD behind an operator.
pub(super) fn build<K: Kind>(pairing: Pairing, left: &Built<K>, right: &Built<K>) -> BoxRdd<Row<K>> {
    let (one, two) = (&left.rdd, &right.rdd);
    match pairing {
        Pairing::Union => one.union(two).boxed(),
        Pairing::Join { partitions } => {
            one.join_into(two, partitions).map(|(key, (l, r))| joined::<K>(key, Some(l), Some(r))).boxed()
        }
        Pairing::LeftOuterJoin { partitions } => {
            one.left_outer_join_into(two, partitions).map(|(key, (l, r))| joined::<K>(key, Some(l), r)).boxed()
        }
        Pairing::RightOuterJoin { partitions } => {
            one.right_outer_join_into(two, partitions).map(|(key, (l, r))| joined::<K>(key, l, Some(r))).boxed()
        }
        Pairing::FullOuterJoin { partitions } => {
            one.full_outer_join_into(two, partitions).map(|(key, (l, r))| joined::<K>(key, l, r)).boxed()
        }
        Pairing::SubtractByKey { partitions } => one.subtract_by_key_into(two, partitions).boxed(),
        Pairing::Intersection { partitions } => one.intersection_into(two, partitions).boxed(),
        Pairing::Subtract { partitions } => one.subtract_into(two, partitions).boxed(),
        Pairing::Cogroup { .. } | Pairing::Cogroup3 { .. } | Pairing::Cogroup4 { .. } => {
            cogroup::<K>(pairing, left, right)
        }
        Pairing::Cartesian => one.cartesian(two).map(|(l, r)| crossed::<K>(&l, &r)).boxed(),
        Pairing::ZipPartitions => {
            let zipped = one.zip_partitions(two, |left, right| {
                Rows::new(left.zip(right).map(|(l, r)| zipped::<K>(&l, &r)))
            });
            zipped.boxed()
        }
    }
}

fn cogroup<K: Kind>(pairing: Pairing, left: &Built<K>, right: &Built<K>) -> BoxRdd<Row<K>> {
    let (one, two) = (&left.rdd, &right.rdd);
    let sides =
        Sides { pairing, left: left.model.known.orders_values(), right: right.model.known.orders_values() };
    match pairing {
        Pairing::Cogroup3 { partitions } => {
            let groups = one.cogroup3_into(two, one, partitions).with(sides);
            let digests = groups.map(|sides, (key, (left, right, again))| {
                assert!(is_same::<K>(&left, again), "both readings of a side have the same values");
                sides.row::<K>(key, &left, &right)
            });
            digests.boxed()
        }
        Pairing::Cogroup4 { partitions } => {
            let groups = one.cogroup4_into(two, one, two, partitions).with(sides);
            let digests = groups.map(|sides, (key, (left, right, left_again, right_again))| {
                assert!(is_same::<K>(&left, left_again), "both readings of a side have the same values");
                assert!(is_same::<K>(&right, right_again), "both readings of a side have the same values");
                sides.row::<K>(key, &left, &right)
            });
            digests.boxed()
        }
        Pairing::Cogroup { partitions } => {
            let groups = one.cogroup_into(two, partitions).with(sides);
            groups.map(|sides, (key, (left, right))| sides.row::<K>(key, &left, &right)).boxed()
        }
        _ => one.clone(),
    }
}

/// What is known of the sides of a cogroup.
#[derive(Clone, Serialize, Deserialize)]
struct Sides {
    pairing: Pairing,
    left: bool,
    right: bool,
}

impl Sides {
    fn row<K: Kind>(&self, key: K::Key, left: &[K::Value], right: &[K::Value]) -> Row<K> {
        let digest_of = |is_ordered, values: &[K::Value]| digest(is_ordered, values.iter().map(K::value_code));
        let digests = (digest_of(self.left, left), digest_of(self.right, right));
        (key, K::value(cogrouped(self.pairing, digests) & K::VALUE_BITS))
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
