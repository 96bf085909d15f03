//! What operators over two RDDs make of their rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Model, one::groups};
use crate::{
    case::Pairing,
    functions::{digest, paired, present},
    kind::Bits,
    shape::Code,
};

/// The most rows that a case may have anywhere.
const ROWS_MAX: usize = 60_000;

/// Whether the answer is determined and not too large.
pub(crate) fn fits_pairing(pairing: Pairing, left: &Model, right: &Model) -> bool {
    let places = |model: &Model| model.is_steady && model.known == Known::Places;
    match pairing {
        Pairing::ZipPartitions => {
            places(left) && places(right) && left.partitions.len() == right.partitions.len()
        }
        Pairing::Cartesian => left.len() * right.len() <= ROWS_MAX / 4,
        Pairing::Join { .. }
        | Pairing::LeftOuterJoin { .. }
        | Pairing::RightOuterJoin { .. }
        | Pairing::FullOuterJoin { .. } => {
            let (left, right) = (groups(left), groups(right));
            let pairs = |(key, values): (&u64, &Vec<u64>)| values.len() * right.get(key).map_or(1, Vec::len);
            left.iter().map(pairs).sum::<usize>() <= ROWS_MAX
        }
        Pairing::Union
        | Pairing::SubtractByKey { .. }
        | Pairing::Cogroup { .. }
        | Pairing::Cogroup3 { .. }
        | Pairing::Cogroup4 { .. }
        | Pairing::Intersection { .. }
        | Pairing::Subtract { .. } => left.len() + right.len() <= ROWS_MAX,
    }
}

/// The rows behind an operator.
pub(crate) fn after_pairing(pairing: Pairing, left: &Model, right: &Model, bits: Bits) -> Model {
    let is_steady = left.is_steady && right.is_steady;
    if let Some(narrow) = narrow(pairing, left, right, bits) {
        return Model { is_steady, ..narrow };
    }
    let (lefts, rights) = (groups(left), groups(right));
    let none = Vec::new();
    let keys: BTreeSet<u64> = lefts.keys().chain(rights.keys()).copied().collect();
    let of = |groups: &BTreeMap<u64, Vec<u64>>, key: u64| groups.get(&key).unwrap_or(&none).clone();
    let in_right: BTreeSet<Code> = right.rows().collect();
    let mut known = Known::Rows;
    let rows: Vec<Code> = match pairing {
        Pairing::Join { .. }
        | Pairing::LeftOuterJoin { .. }
        | Pairing::RightOuterJoin { .. }
        | Pairing::FullOuterJoin { .. } => {
            keys.iter().flat_map(|key| joined(pairing, *key, &of(&lefts, *key), &of(&rights, *key))).collect()
        }
        Pairing::SubtractByKey { .. } => left.rows().filter(|row| !rights.contains_key(&row.0)).collect(),
        Pairing::Subtract { .. } => left.rows().filter(|row| !in_right.contains(row)).collect(),
        Pairing::Intersection { .. } => {
            let in_left: BTreeSet<Code> = left.rows().collect();
            in_left.intersection(&in_right).copied().collect()
        }
        Pairing::Cogroup { .. } | Pairing::Cogroup3 { .. } | Pairing::Cogroup4 { .. } => {
            known = Known::PerKey;
            let digest_of =
                |model: &Model, values: Vec<u64>| digest(model.known.orders_values(), values.into_iter());
            let row = |key: &u64| {
                let sides = (digest_of(left, of(&lefts, *key)), digest_of(right, of(&rights, *key)));
                (*key, cogrouped(pairing, sides))
            };
            keys.iter().map(row).collect()
        }
        Pairing::Union | Pairing::Cartesian | Pairing::ZipPartitions => Vec::new(),
    };
    let rows = rows.into_iter().map(|row| bits.clip(row)).collect();
    Model { partitions: vec![rows], known, is_steady, streams: false }
}

/// What is made of the digests of both sides; with three and four sides the left one comes again.
pub(crate) fn cogrouped(pairing: Pairing, (left, right): (u64, u64)) -> u64 {
    match pairing {
        Pairing::Cogroup3 { .. } => paired(paired(left, right), left),
        Pairing::Cogroup4 { .. } => paired(paired(paired(left, right), left), right),
        _ => paired(left, right),
    }
}

fn joined(pairing: Pairing, key: u64, left: &[u64], right: &[u64]) -> Vec<Code> {
    let options = |values: &[u64], is_outer: bool| -> Vec<Option<u64>> {
        if values.is_empty() && is_outer { vec![None] } else { values.iter().copied().map(Some).collect() }
    };
    let (left_outer, right_outer) = match pairing {
        Pairing::LeftOuterJoin { .. } => (false, true),
        Pairing::RightOuterJoin { .. } => (true, false),
        Pairing::FullOuterJoin { .. } => (true, true),
        _ => (false, false),
    };
    let right = options(right, right_outer);
    let pair = |left: Option<u64>, right: Option<u64>| (key, paired(present(left), present(right)));
    options(left, left_outer)
        .into_iter()
        .flat_map(|left| right.iter().map(move |right| pair(left, *right)))
        .collect()
}

/// Operators that leave rows in their partitions.
fn narrow(pairing: Pairing, left: &Model, right: &Model, bits: Bits) -> Option<Model> {
    let is_placed = |model: &Model| model.known == Known::Places;
    let known = if is_placed(left) && is_placed(right) { Known::Places } else { Known::Rows };
    let partitions = match pairing {
        Pairing::Union => left.partitions.iter().chain(&right.partitions).cloned().collect(),
        Pairing::Cartesian => {
            let pairs = |left: &[Code], right: &[Code]| -> Vec<Code> {
                let pair = |l: Code, r: Code| bits.clip((l.0, paired(l.1, paired(r.0, r.1))));
                left.iter().flat_map(|l| right.iter().map(move |r| pair(*l, *r))).collect()
            };
            let of = |l: &Vec<Code>| right.partitions.iter().map(|r| pairs(l, r)).collect::<Vec<_>>();
            left.partitions.iter().flat_map(of).collect()
        }
        Pairing::ZipPartitions => {
            let pair = |l: &Code, r: &Code| bits.clip((l.0, paired(l.1, r.1)));
            let zip = |l: &Vec<Code>, r: &Vec<Code>| l.iter().zip(r).map(|(l, r)| pair(l, r)).collect();
            left.partitions.iter().zip(&right.partitions).map(|(l, r)| zip(l, r)).collect()
        }
        _ => return None,
    };
    let streams = left.streams && right.streams && pairing == Pairing::Union;
    Some(Model { partitions, known, is_steady: true, streams })
}
