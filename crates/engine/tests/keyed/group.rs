//! All values of a key side by side.

use firesteel::{Group, prelude::*};

use crate::{
    harness::{assert_in_place, for_cases, same_partitioner, sorted},
    support::each_backend,
};

fn as_groups<K>(model: impl IntoIterator<Item = (K, Vec<i64>)>) -> Vec<(K, Group<i64>)> {
    model.into_iter().map(|(key, values)| (key, Group::from(values))).collect()
}

#[test]
fn values_that_own_memory_are_grouped_like_others() {
    for_cases(|ctx, case| {
        let numbers = case.rdd(ctx).group_by_key_into(case.outputs);
        let texts = case.rdd(ctx).map_values(|x| x.to_string()).group_by_key_into(case.outputs);

        let numbers = numbers.map_values(|group| group.iter().map(i64::to_string).collect::<Vec<_>>());
        assert_eq!(sorted(&texts.map_values(|group| group.to_vec())), sorted(&numbers));
    });
}

#[test]
fn values_are_grouped_by_key_in_the_order_they_have() {
    for_cases(|ctx, case| {
        let (rdd, groups) = (case.rdd(ctx), as_groups(case.groups()));

        let grouped = rdd.group_by_key_into(case.outputs);
        assert_eq!(sorted(&grouped), groups);
        assert_in_place(&grouped);
        assert_eq!(sorted(&rdd.group_by_key()), groups);
        assert_eq!(
            sorted(&rdd.partition_by(case.outputs).group_by_key()),
            groups,
            "without a second shuffle"
        );
    });
}

#[test]
fn rows_are_grouped_by_what_a_function_gives() {
    for_cases(|ctx, case| {
        let rdd = case.rdd(ctx).values();
        let mut model = std::collections::BTreeMap::<i64, Vec<i64>>::new();
        case.pairs.iter().for_each(|&(_, value)| model.entry(value % 4).or_default().push(value));
        let model = as_groups(model);

        assert_eq!(sorted(&rdd.group_by(|x| x % 4)), model);
        assert_eq!(sorted(&rdd.group_by_into(case.outputs, |x| x % 4)), model);
        assert_eq!(sorted(&rdd.with(4).group_by(|four, x| x % four)), model);
        assert_eq!(sorted(&rdd.with(4).group_by_into(case.outputs, |four, x| x % four)), model);
    });
}

#[test]
fn keys_that_own_memory_are_grouped_too() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..30_u32, 4).map(|x| (format!("key {}", x % 3), format!("{x}")));

        let sizes = pairs.group_by_key_into(2).map_values(|values| values.len());

        assert_eq!(sorted(&sizes), [0, 1, 2].map(|key| (format!("key {key}"), 10)));
        let narrow = pairs.partition_by(2);
        assert_eq!(sorted(&narrow.group_by_key().map_values(|values| values.len())), sorted(&sizes));
        assert!(same_partitioner(&narrow, &sizes));
    });
}
