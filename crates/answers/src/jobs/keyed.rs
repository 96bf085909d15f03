//! Actions that give something for each key.

use std::collections::BTreeMap;

use firesteel::prelude::*;

use super::{Setting, Trouble, equal, same};
use crate::{case::KeyedAction, functions::reduced, kind::Kind, shape::Code};

pub(super) fn check<K: Kind>(setting: &Setting<'_, K>, action: KeyedAction) -> Result<(), Trouble> {
    let (rdd, model) = (&setting.node.rdd, &setting.node.model);
    let mut groups = BTreeMap::<u64, Vec<u64>>::new();
    model.rows().for_each(|(key, value)| groups.entry(key).or_default().push(value));
    match action {
        KeyedAction::CountByKey => {
            let found: BTreeMap<u64, u64> =
                rdd.count_by_key()?.into_iter().map(|(key, count)| (K::key_code(&key), count)).collect();
            same(
                "count_by_key",
                &groups.iter().map(|(key, values)| (*key, values.len() as u64)).collect(),
                &found,
            )
        }
        KeyedAction::CountByValue => {
            let mut expected = BTreeMap::<Code, u64>::new();
            model.rows().for_each(|row| *expected.entry(row).or_default() += 1);
            let found =
                rdd.count_by_value()?.into_iter().map(|(row, count)| (K::code(&row), count)).collect();
            same("count_by_value", &expected, &found)
        }
        KeyedAction::ReduceByKeyLocally => {
            let found: BTreeMap<u64, u64> = rdd
                .reduce_by_key_locally(merged_values::<K>)?
                .iter()
                .map(|(key, value)| (K::key_code(key), K::value_code(value)))
                .collect();
            let sum = |values: &Vec<u64>| values.iter().copied().fold(0, reduced) & K::VALUE_BITS;
            same(
                "reduce_by_key_locally",
                &groups.iter().map(|(key, values)| (*key, sum(values))).collect(),
                &found,
            )
        }
        KeyedAction::Lookup { key } => {
            let key = key & K::KEY_BITS;
            let mut found: Vec<u64> = rdd.lookup(&K::key(key))?.iter().map(K::value_code).collect();
            let mut expected = groups.remove(&key).unwrap_or_default();
            if !model.known.orders_values() {
                found.sort_unstable();
                expected.sort_unstable();
            }
            equal("lookup", &expected, &found)
        }
        KeyedAction::CollectAsMap => {
            let found = rdd.collect_as_map()?;
            let is_there = |(key, value): (&K::Key, &K::Value)| {
                groups.get(&K::key_code(key)).is_some_and(|values| values.contains(&K::value_code(value)))
            };
            same("keys of collect_as_map", &groups.len(), &found.len())?;
            same("collect_as_map has values of their keys", &true, &found.iter().all(is_there))
        }
    }
}

fn merged_values<K: Kind>(one: K::Value, two: K::Value) -> K::Value {
    K::value(reduced(K::value_code(&one), K::value_code(&two)) & K::VALUE_BITS)
}
