//! Rows do not come again: what is stored of RDDs and shuffles behind them goes, in whichever job it was made.

use firesteel_types::{RddId, RddNode};

use super::{lineage::Behind, scheduler::DagScheduler};
use crate::{effect::Effect, shared::Shared};

impl DagScheduler {
    /// Discards the cached partitions of these RDDs, and those outputs of these shuffles that no active stage answers for.
    ///
    /// The generation of every RDD counts up, cached or not: a task that still runs may store a partition later. The rules
    /// are in `executors/blocks.rs`.
    pub(super) fn discard_stored(&self, cx: &mut Shared, behind: &Behind) {
        for shuffle in &behind.shuffles {
            if !self.map_stages.contains_key(shuffle) && cx.map_outputs.available(*shuffle) > 0 {
                // It is registered, or it would have no outputs.
                let _ = cx.map_outputs.unregister_all_outputs(*shuffle);
            }
        }
        let mut rdds = Vec::new();
        for &rdd in &behind.rdds {
            let is_persisted = self.lineage.get(rdd).is_some_and(|node| node.storage.is_persisted());
            let may_be_stored = is_persisted || cx.blocks.has_any(rdd);
            let generation = cx.blocks.discard(rdd);
            if may_be_stored {
                rdds.push((rdd, generation));
            }
        }
        if !rdds.is_empty() {
            cx.out.push(Effect::RemoveStaleBlocks { rdds });
        }
    }

    /// Takes in new RDDs and changes of known ones.
    ///
    /// A checkpoint has the rows of the run that its job saw. Where there was more than one, what is computed from it
    /// may be stored from another: a job that began before may have had the rows made again after they were written.
    pub(crate) fn on_rdds_registered(&mut self, cx: &mut Shared, nodes: Vec<RddNode>) {
        let is_cut = |node: &&RddNode| cx.blocks.generation(node.id) > 0 && self.cuts_lineage(node);
        let cut: Vec<RddId> = nodes.iter().filter(is_cut).map(|node| node.id).collect();
        if let Err(why) = self.lineage.register(nodes) {
            return cx.ignore(why);
        }
        for rdd in cut {
            self.discard_stored(cx, &self.lineage.behind_rdd(rdd));
        }
    }

    /// Whether the change of an RDD is that it was checkpointed, reliably or not.
    fn cuts_lineage(&self, node: &RddNode) -> bool {
        self.lineage.get(node.id).is_some_and(|known| {
            let is_cut = |node: &RddNode| node.checkpointed || node.dependencies.is_empty();
            is_cut(node) && !is_cut(known)
        })
    }
}
