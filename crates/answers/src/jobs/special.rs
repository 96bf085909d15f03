//! Jobs that need more than a comparison of rows.

use std::thread;

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Setting, Trouble, orders::part_of, same};
use crate::{
    case::{Act, Fault, Files, Narrow, Op, Pairing, Plan, RowByRow, Shuffle},
    faults,
    kind::{Kind, Row},
    ops,
    shape::mixed,
};

/// A row whose `drop` panics on the driver.
#[derive(Clone, Serialize, Deserialize)]
struct Grumpy(u64);

impl Drop for Grumpy {
    fn drop(&mut self) {
        // A second panic while a first one unwinds would end the process.
        let may_panic = TaskContext::current().is_none() && !thread::panicking();
        assert!(!may_panic || !self.0.is_multiple_of(5), "a row does not want to be dropped");
    }
}

/// Ends, with rows or with an error; that is all that is asked.
pub(super) fn take_rows_that_panic<K: Kind>(setting: &Setting<'_, K>, most: usize) {
    let rows = setting.node.rdd.map(|row| Grumpy(mixed(K::code(&row).1)));
    if let Ok(rows) = rows.take(most) {
        rows.into_iter().for_each(std::mem::forget);
    }
}

/// Samples by key and shuffles the sample, while something is lost. All of the sample must be of one run.
///
/// The same share of every key is drawn, so how many rows are drawn depends on how many there are in each partition and
/// not on their order. A mixture of two runs over rows in different orders has another number of rows, or some twice.
pub(super) fn sample<K: Kind>(
    setting: &Setting<'_, K>,
    percent: u8,
    seed: u64,
    partitions: u32,
) -> Result<(), Trouble> {
    let (ctx, node) = (setting.ctx, setting.node);
    let drawn = |rdd: &BoxRdd<Row<K>>| {
        let keys: std::collections::BTreeSet<u64> = node.model.rows().map(|row| row.0).collect();
        let fractions = keys.into_iter().map(|key| (K::key(key), f64::from(percent) / 100.0));
        rdd.sample_by_key(Replacement::Without, fractions, seed)
    };
    let by_value = drawn(&node.rdd)?.map(|row| (mixed(K::code(&row).1), row));
    let dealt = by_value.partition_by(partitions).map(|(_, row)| row).boxed();
    let act = [Act::KillSelf, Act::KillPeer, Act::Remove(Files::Outputs)][(seed % 3) as usize];
    // Not in the first partition, whose rows have to be of the same run as those of the others.
    let fault = Fault { id: 1_000, partition: partitions / 2, row: 3, act };
    let found = faults::build::<K>(ctx, &dealt, &fault, setting.case.backend, setting.folder).collect()?;
    part_of(&node.model, found.iter().map(K::code).collect())?;

    let Some(expected) = reference_len(setting, &drawn)? else { return Ok(()) };
    same("how many rows are sampled", &expected, &found.len())
}

/// How many rows are drawn where nothing fails, unless partitions have other sizes each time.
fn reference_len<K: Kind>(
    setting: &Setting<'_, K>,
    drawn: &dyn Fn(&BoxRdd<Row<K>>) -> firesteel::Result<firesteel::SampleByKey<BoxRdd<Row<K>>, K::Key>>,
) -> Result<Option<usize>, Trouble> {
    if same_partitions(setting.case.plan.nodes()[setting.place]) == Same::Nothing {
        return Ok(None);
    }
    let mut case = setting.case.clone();
    case.plan = without_faults(&case.plan);
    let ctx = Context::builder()
        .master("local[2]")
        .set("firesteel.ui.enabled", false)?
        .set("firesteel.checkpoint.dir", setting.folder.join("reference").display())?
        .start()?;
    let nodes = ops::build::<K>(&ctx, &case, setting.folder)
        .map_err(|error| Trouble::Wrong(format!("the reference cannot be built: {error:#}")))?;
    // Faults are nodes of their own, so the place of the node is another one without them.
    let place = place_without_faults(&setting.case.plan, setting.place);
    Ok(Some(drawn(&nodes[place].rdd)?.count()? as usize))
}

/// What is the same of the partitions of an RDD each time it is computed, whatever order rows come in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    /// How many rows each has, and which.
    Rows,
    /// How many rows each has.
    Sizes,
    /// All rows together.
    Nothing,
}

fn same_partitions(plan: &Plan) -> Same {
    match plan {
        Plan::One(op, parent) => {
            let parent = same_partitions(parent);
            match op {
                Op::Narrow(Narrow::Rows(op)) if changes_sizes(*op) && parent == Same::Sizes => Same::Nothing,
                // By where things are, or by a sample of the rows.
                Op::Narrow(Narrow::Coalesce { .. })
                | Op::Shuffle {
                    op: Shuffle::SortByKey { .. } | Shuffle::SortByRow { .. } | Shuffle::FilterByRange { .. },
                    ..
                } => Same::Nothing,
                Op::Shuffle { op: Shuffle::Repartition, .. } => parent.max(Same::Sizes),
                // By key.
                Op::Shuffle { .. } => Same::Rows,
                Op::Narrow(_) | Op::Keep(_) | Op::Fault(_) => parent,
            }
        }
        Plan::Two(Pairing::Union | Pairing::Cartesian | Pairing::ZipPartitions, left, right) => {
            same_partitions(left).max(same_partitions(right))
        }
        Plan::Source(_) | Plan::Two(..) => Same::Rows,
    }
}

/// Whether it makes more or fewer of some rows than of others.
fn changes_sizes(op: RowByRow) -> bool {
    match op {
        RowByRow::Filter { .. } | RowByRow::FlatMap { .. } | RowByRow::FlatMapValues { .. } => true,
        RowByRow::Map { .. } | RowByRow::MapValues { .. } | RowByRow::Swap | RowByRow::Boxed { .. } => false,
    }
}

fn without_faults(plan: &Plan) -> Plan {
    match plan {
        Plan::Source(_) => plan.clone(),
        Plan::One(Op::Fault(_), parent) => without_faults(parent),
        Plan::One(op, parent) => Plan::One(op.clone(), Box::new(without_faults(parent))),
        Plan::Two(pairing, left, right) => {
            Plan::Two(*pairing, Box::new(without_faults(left)), Box::new(without_faults(right)))
        }
    }
}

/// Where a node is in [`without_faults`]; a fault is where its parent is.
fn place_without_faults(plan: &Plan, place: usize) -> usize {
    let nodes = plan.nodes();
    nodes[..place].iter().filter(|node| !matches!(node, Plan::One(Op::Fault(_), _))).count()
}
