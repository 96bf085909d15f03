//! Builds the RDDs of a plan, each with what it must hold: [`build`].

use anyhow::Result;
use firesteel::prelude::*;

use super::{narrow, shuffles, two};
use crate::{
    case::{Case, Op, Plan},
    faults::{self, Folder},
    kind::{Bits, Kind, Row},
    model::{self, Model},
    source,
};

/// An RDD with what it must hold.
pub(crate) struct Built<K: Kind> {
    pub(crate) rdd: BoxRdd<Row<K>>,
    pub(crate) model: Model,
}

impl<K: Kind> Clone for Built<K> {
    fn clone(&self) -> Self {
        Self { rdd: self.rdd.clone(), model: self.model.clone() }
    }
}

/// Builds the RDDs of a case, in the order of [`Plan::nodes`].
pub(crate) fn build<K: Kind>(ctx: &Context, case: &Case, folder: &Folder) -> Result<Vec<Built<K>>> {
    let mut nodes = Vec::new();
    build_node::<K>(ctx, case, folder, &case.plan, &mut nodes)?;
    Ok(nodes)
}

fn build_node<K: Kind>(
    ctx: &Context,
    case: &Case,
    folder: &Folder,
    plan: &Plan,
    nodes: &mut Vec<Built<K>>,
) -> Result<()> {
    let bits = Bits::of::<K>();
    let place = nodes.len();
    let built = match plan {
        Plan::Source(source) => {
            Built { rdd: source::build::<K>(ctx, source), model: Model::of_source(source, bits) }
        }
        Plan::One(op, parent) => {
            build_node::<K>(ctx, case, folder, parent, nodes)?;
            let parent = &nodes[place];
            let rdd = match op {
                Op::Narrow(op) => narrow::build::<K>(*op, parent)?,
                Op::Shuffle { op, partitions } => shuffles::build::<K>(*op, *partitions, parent)?,
                Op::Keep(keep) => narrow::keep::<K>(keep, parent)?,
                Op::Fault(fault) => faults::build::<K>(ctx, &parent.rdd, fault, case.backend, folder),
            };
            Built { rdd, model: model::after(op, &parent.model, bits) }
        }
        Plan::Two(pairing, left, right) => {
            build_node::<K>(ctx, case, folder, left, nodes)?;
            let right_place = nodes.len();
            build_node::<K>(ctx, case, folder, right, nodes)?;
            let (left, right) = (&nodes[place], &nodes[right_place]);
            let rdd = two::build::<K>(*pairing, left, right);
            Built { rdd, model: model::after_pairing(*pairing, &left.model, &right.model, bits) }
        }
    };
    nodes.insert(place, built);
    Ok(())
}
