//! What a second run of each operator may give, as the scheduler sees it.

use std::fmt;

use firesteel_scheduler::{Event, Scheduler, SchedulerConfig};
use firesteel_types::{Determinism, Timestamp};

use crate::{
    HashPartitioner, Order, Replacement,
    driver::walk,
    prelude::*,
    rdd::{Rdd, RddHandle},
};

use Determinism::{Indeterminate, Unordered};

/// The level of an RDD in a scheduler that knows its lineage and nothing else.
fn level(rdd: &RddHandle) -> Determinism {
    let mut nodes = Vec::new();
    walk(rdd, |handle| {
        nodes.push(handle.node());
        true
    });
    let mut scheduler = Scheduler::new(SchedulerConfig::default()).unwrap();
    scheduler.handle(Timestamp::from_secs(1), Event::RddsRegistered(nodes));
    scheduler.determinism(rdd.id()).unwrap()
}

/// Operators with their levels, one a line.
struct Table(Vec<(&'static str, Determinism)>);

impl Table {
    fn row(&mut self, name: &'static str, rdd: &impl Rdd) {
        self.0.push((name, level(rdd.handle())));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, level)| writeln!(out, "{name}: {level:?}"))
    }
}

/// Every operator on rows whose order may change from run to run.
///
/// Behaviours: DAG-049.
#[test]
fn what_depends_on_the_order_of_rows_is_indeterminate_where_the_order_may_change() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    ctx.set_checkpoint_dir(folder.path().to_str().unwrap()).unwrap();
    let pairs = ctx.range_into(0..100_u64, 4).map(|x| (x, x)).partition_by(HashPartitioner::new(4));
    let other = ctx.range_into(0..100_u64, 4).map(|x| (x, x));
    let rows = pairs.values();
    let numbers = other.values();
    let mut table = Table(Vec::new());

    narrow(&mut table, &rows, &numbers);
    let in_order = table.0.len();
    keyed(&mut table, &pairs, &other);
    let keyed_end = table.0.len();
    sensitive(&mut table, &pairs, &numbers);

    assert!(table.0[..in_order].iter().all(|(_, level)| *level == Unordered), "{table}");
    assert!(table.0[in_order..keyed_end].iter().all(|(_, level)| *level == Unordered), "{table}");
    assert!(table.0[keyed_end..].iter().all(|(_, level)| *level == Indeterminate), "{table}");
}

/// Operators that give the same rows from rows in another order, as far as the engine knows: what a function of the user's
/// makes of the order is the user's business.
fn narrow(table: &mut Table, rows: &impl Rdd<Item = u64>, numbers: &impl Rdd<Item = u64>) {
    table.row("map", &rows.map(|x| x + 1));
    table.row("filter", &rows.filter(|x| *x > 1));
    table.row("flat_map", &rows.flat_map(|x| [x, x]));
    table.row("key_by", &rows.key_by(|x| *x));
    table.row("map_partitions", &rows.map_partitions(|rows| rows));
    table.row("map_partitions_with_index", &rows.map_partitions_with_index(|_, rows| rows));
    table.row("union", &rows.union(numbers));
    table.row("cartesian", &rows.cartesian(numbers));
    table.row("zip_partitions", &rows.zip_partitions(numbers, |left, _| left));
    table.row("coalesce", &rows.coalesce(2));
    table.row("prune_partitions", &rows.prune_partitions(|partition| partition > 0));
    table.row("pipe", &rows.pipe(["cat"]));
    table.row("boxed", &rows.boxed());
    table.row("cache", &rows.cache());
    table.row("checkpoint", &rows.checkpoint().unwrap());
    table.row("local_checkpoint", &rows.local_checkpoint());
}

fn keyed(table: &mut Table, pairs: &impl Rdd<Item = (u64, u64)>, other: &impl Rdd<Item = (u64, u64)>) {
    table.row("keys", &pairs.keys());
    table.row("values", &pairs.values());
    table.row("map_values", &pairs.map_values(|x| x + 1));
    table.row("flat_map_values", &pairs.flat_map_values(|x| [x]));
    table.row("partition_by", &pairs.partition_by(HashPartitioner::new(3)));
    table.row("reduce_by_key", &pairs.reduce_by_key(|a, b| a + b));
    table.row("group_by_key", &pairs.group_by_key());
    table.row("sort_by_key", &pairs.sort_by_key(Order::Ascending).unwrap());
    table.row("join", &pairs.join(other));
    table.row("cogroup", &pairs.cogroup(other));
    table.row("subtract_by_key", &pairs.subtract_by_key(other));
    table.row("distinct", &pairs.distinct());
    table.row("intersection", &pairs.intersection(other));
    table.row("subtract", &pairs.subtract(other));
}

/// Operators that give other rows, or deal them otherwise, from rows in another order.
fn sensitive(table: &mut Table, pairs: &impl Rdd<Item = (u64, u64)>, numbers: &impl Rdd<Item = u64>) {
    let (without, with) = (Replacement::Without, Replacement::With);
    table.row("sample", &pairs.sample(without, 0.5, 1));
    table.row("sample, with replacement", &pairs.sample(with, 0.5, 1));
    table.row("sample_by_key", &pairs.sample_by_key(without, [(1, 0.5)], 1).unwrap());
    table.row("sample_by_key, with replacement", &pairs.sample_by_key(with, [(1, 0.5)], 1).unwrap());
    table.row("random_split", &pairs.random_split(&[0.5, 0.5], 1)[0]);
    table.row("zip_with_index", &pairs.zip_with_index().unwrap());
    table.row("zip_with_unique_id", &pairs.zip_with_unique_id());
    table.row("zip, on its left", &pairs.zip(numbers));
    table.row("zip, on its right", &numbers.zip(pairs));
    table.row("glom", &pairs.glom());
    table.row("repartition", &pairs.repartition(3));
    table.row("what is read from it", &pairs.repartition(3).reduce_by_key(|a, b| a + b));
}

/// The same operators on rows in an order that does not change.
///
/// Behaviours: DAG-049.
#[test]
fn what_depends_on_an_order_that_does_not_change_is_determinate() {
    let ctx = Context::local(2).unwrap();
    let pairs = ctx.range_into(0..100_u64, 4).map(|x| (x, x));
    let numbers = ctx.range_into(0..100_u64, 4);
    let mut table = Table(Vec::new());

    sensitive(&mut table, &pairs, &numbers);

    let unordered: Vec<_> = table
        .0
        .iter()
        .filter(|(_, level)| *level != Determinism::Determinate)
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(unordered, ["repartition", "what is read from it"], "which read a shuffle");
    assert!(table.0.iter().all(|(_, level)| *level != Indeterminate), "{table}");
}
