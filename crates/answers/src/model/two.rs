//! What operators over two RDDs make of their rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Model, one::groups};
use crate::{
    case::{JoinName, Pairing, Sides},
    functions::{digest, paired, present},
    kind::Bits,
    shape::Code,
};

/// The most rows that both sides, or all of their pairs, may have.
const ROWS_MAX: usize = 60_000;

/// Whether the answer is determined and not too large.
pub(crate) fn fits_pairing(pairing: Pairing, left: &Model, right: &Model) -> bool {
    let is_placed = |model: &Model| model.is_steady && model.known == Known::Places;
    match pairing {
        Pairing::ZipPartitions => {
            is_placed(left) && is_placed(right) && left.partitions.len() == right.partitions.len()
        }
        Pairing::Cartesian => left.len() * right.len() <= ROWS_MAX / 4,
        Pairing::Join { .. } => {
            let (left, right) = (groups(left), groups(right));
            let pairs = |(key, values): (&u64, &Vec<u64>)| values.len() * right.get(key).map_or(1, Vec::len);
            left.iter().map(pairs).sum::<usize>() <= ROWS_MAX
        }
        Pairing::Union
        | Pairing::SubtractByKey { .. }
        | Pairing::Cogroup { .. }
        | Pairing::Intersection { .. }
        | Pairing::Subtract { .. } => left.len() + right.len() <= ROWS_MAX,
    }
}

/// The rows behind an operator.
pub(crate) fn after_pairing(pairing: Pairing, left: &Model, right: &Model, bits: Bits) -> Model {
    let is_steady = left.is_steady && right.is_steady;
    let (lefts, rights) = (groups(left), groups(right));
    let keys: BTreeSet<u64> = lefts.keys().chain(rights.keys()).copied().collect();
    let of = |groups: &BTreeMap<u64, Vec<u64>>, key: u64| groups.get(&key).cloned().unwrap_or_default();
    let (in_left, in_right): (BTreeSet<Code>, BTreeSet<Code>) =
        (left.rows().collect(), right.rows().collect());
    let dealt = |known, rows: Vec<Code>| {
        let rows = rows.into_iter().map(|row| bits.clip(row)).collect();
        Model { partitions: vec![rows], known, is_steady, streams: false }
    };
    match pairing {
        Pairing::Union => {
            let partitions = left.partitions.iter().chain(&right.partitions).cloned().collect();
            let streams = left.streams && right.streams;
            Model { partitions, known: both_placed(left, right), is_steady, streams }
        }
        Pairing::Cartesian => {
            let partitions = crossed(left, right, bits);
            Model { partitions, known: both_placed(left, right), is_steady, streams: false }
        }
        Pairing::ZipPartitions => {
            let pair = |l: &Code, r: &Code| bits.clip((l.0, paired(l.1, r.1)));
            let zip = |l: &Vec<Code>, r: &Vec<Code>| l.iter().zip(r).map(|(l, r)| pair(l, r)).collect();
            let partitions = left.partitions.iter().zip(&right.partitions).map(|(l, r)| zip(l, r)).collect();
            Model { partitions, known: both_placed(left, right), is_steady, streams: false }
        }
        Pairing::Join { kind, .. } => {
            let of_key = |key: &u64| joined(kind, *key, &of(&lefts, *key), &of(&rights, *key));
            dealt(Known::Rows, keys.iter().flat_map(of_key).collect())
        }
        Pairing::Cogroup { sides, .. } => {
            let digest_of =
                |model: &Model, values: Vec<u64>| digest(model.known.orders_values(), values.into_iter());
            let row = |key: &u64| {
                let digests = (digest_of(left, of(&lefts, *key)), digest_of(right, of(&rights, *key)));
                (*key, cogrouped(sides, digests))
            };
            dealt(Known::PerKey, keys.iter().map(row).collect())
        }
        Pairing::SubtractByKey { .. } => {
            dealt(Known::Rows, left.rows().filter(|row| !rights.contains_key(&row.0)).collect())
        }
        Pairing::Subtract { .. } => {
            dealt(Known::Rows, left.rows().filter(|row| !in_right.contains(row)).collect())
        }
        Pairing::Intersection { .. } => {
            dealt(Known::Rows, in_left.intersection(&in_right).copied().collect())
        }
    }
}

/// What is known of rows that stay in the partitions of two RDDs.
fn both_placed(left: &Model, right: &Model) -> Known {
    match (left.known, right.known) {
        (Known::Places, Known::Places) => Known::Places,
        (Known::Places | Known::Order | Known::PerKey | Known::KeysInOrder { .. } | Known::Rows, _) => {
            Known::Rows
        }
    }
}

fn crossed(left: &Model, right: &Model, bits: Bits) -> Vec<Vec<Code>> {
    let pairs = |left: &[Code], right: &[Code]| -> Vec<Code> {
        let pair = |l: Code, r: Code| bits.clip((l.0, paired(l.1, paired(r.0, r.1))));
        left.iter().flat_map(|l| right.iter().map(move |r| pair(*l, *r))).collect()
    };
    let of = |l: &Vec<Code>| right.partitions.iter().map(|r| pairs(l, r)).collect::<Vec<_>>();
    left.partitions.iter().flat_map(of).collect()
}

/// What is made of the digests of both sides.
pub(crate) fn cogrouped(sides: Sides, (left, right): (u64, u64)) -> u64 {
    match sides {
        Sides::Two => paired(left, right),
        Sides::Three => paired(paired(left, right), left),
        Sides::Four => paired(paired(paired(left, right), left), right),
    }
}

fn joined(kind: JoinName, key: u64, left: &[u64], right: &[u64]) -> Vec<Code> {
    let options = |values: &[u64], is_outer: bool| -> Vec<Option<u64>> {
        if values.is_empty() && is_outer { vec![None] } else { values.iter().copied().map(Some).collect() }
    };
    let (left_may_lack, right_may_lack) = match kind {
        JoinName::Inner => (false, false),
        JoinName::LeftOuter => (false, true),
        JoinName::RightOuter => (true, false),
        JoinName::FullOuter => (true, true),
    };
    let right = options(right, right_may_lack);
    let pair = |left: Option<u64>, right: Option<u64>| (key, paired(present(left), present(right)));
    options(left, left_may_lack)
        .into_iter()
        .flat_map(|left| right.iter().map(move |right| pair(left, *right)))
        .collect()
}
