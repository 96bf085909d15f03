//! Connected components: which nodes of a graph can reach each other.
//!
//! Every node takes the smallest number it hears of, until nothing changes.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::time::Instant;

use firesteel::prelude::*;

const CHAINS: u64 = 1000;
const CHAIN_LENGTH: u64 = 20;

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let start = Instant::now();
    // Chains of nodes whose numbers are spread, and nothing between the chains.
    let edges = ctx.range(0..CHAINS * (CHAIN_LENGTH - 1)).flat_map(|x| {
        let (chain, step) = (x % CHAINS, x / CHAINS);
        let node = |step: u64| step * CHAINS + (chain + step * 7) % CHAINS;
        [(node(step), node(step + 1)), (node(step + 1), node(step))]
    });
    let neighbours = edges.group_by_key().cache();
    let mut labels = neighbours.map(|(node, _)| (node, node)).boxed();
    // Without a word a union would have the partitions of both sides, and so twice as many in every round.
    let partitions = neighbours.num_partitions();
    let mut rounds = 0;
    loop {
        let heard = neighbours.join(&labels).flat_map(|(_, (targets, label))| {
            targets.into_iter().map(move |to| (to, label)).collect::<Vec<_>>()
        });
        let next = labels.union(&heard).reduce_by_key_into(partitions, u64::min).local_checkpoint();
        let changed = next.join(&labels).filter(|(_, (after, before))| after != before).count()?;
        labels = next.boxed();
        rounds += 1;
        if changed == 0 {
            break;
        }
    }
    let sizes = labels.map(|(_, label)| (label, 1_u64)).reduce_by_key(|a, b| a + b);
    println!("{} components, the largest has {} nodes", sizes.count()?, sizes.values().max()?);
    println!("{rounds} rounds in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}
