//! `PageRank`: a join and an aggregation in each of ten rounds, over cached links.

use std::path::Path;

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload, rows::PARTS};
use crate::{
    checksum::Checksum,
    data::keys::edge,
    hand::{Groups, THREADS, Table, both, bucket_of, exchange, share},
};

pub(super) const PAGERANK: Workload = Workload {
    name: "pagerank",
    what: "10 rounds over 2 M edges between 200,000 nodes",
    unit: "edges",
    sizes,
    units: |sizes| (sizes.of("edges") * sizes.of("rounds")) as f64,
    engine,
    limit: Some(limit),
    runs: 3,
    targets: Targets::spark(15.0, 10.0).limit(2.5),
    ..Workload::PLAIN
};

pub(super) fn sizes(scale: f64) -> Sizes {
    Sizes::default().scaled("edges", 2_000_000, scale).scaled("nodes", 200_000, scale).with("rounds", 10)
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, sizes) = (setup.ctx.clone(), setup.sizes.clone());
    let (checked, same) = (ctx.clone(), sizes.clone());
    Job::new(
        move || Ok(Outcome::real(sum_of_ranks(&ctx, &sizes)?)),
        move || Ok(Checksum::real(sum_of_ranks(&checked, &same)?)),
    )
}

/// The whole job: links, rounds, and the sum of the ranks.
pub(super) fn sum_of_ranks(ctx: &Context, sizes: &Sizes) -> Result<f64> {
    let links = ctx
        .range_into(0..sizes.of("edges"), PARTS)
        .with(sizes.of("nodes"))
        .map(|nodes, x| edge(x, *nodes))
        .group_by_key_into(PARTS)
        .cache();
    let mut ranks = links.map_values(|_| 1.0_f64).boxed();
    for _ in 0..sizes.of("rounds") {
        let given = links.join_into(&ranks, PARTS).flat_map(|(_, (targets, rank))| {
            let share = rank / targets.len() as f64;
            targets.into_iter().map(move |target| (target, share))
        });
        ranks = given.reduce_by_key_into(PARTS, |a, b| a + b).map_values(|sum| 0.15 + 0.85 * sum).boxed();
    }
    let sum = ranks.values().sum()?;
    links.unpersist();
    Ok(sum)
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (sizes, same) = (sizes.clone(), sizes.clone());
    Job::new(move || Ok(Outcome::real(rank_by_hand(&sizes))), move || Ok(Checksum::real(rank_by_hand(&same))))
}

/// Links of one thread, by source: nodes have numbers in place of their names.
struct Links {
    /// The source, and where its targets end.
    sources: Vec<(u32, u32)>,
    targets: Vec<u32>,
}

fn rank_by_hand(sizes: &Sizes) -> f64 {
    let (links, nodes) = number_nodes(&group_links(sizes));
    // Zero is no rank, as in a join: a node without incoming links has none after the first round.
    let mut ranks = vec![0.0; nodes];
    for (source, _) in links.iter().flat_map(|links| &links.sources) {
        ranks[*source as usize] = 1.0;
    }
    for _ in 0..sizes.of("rounds") {
        let [one, two] = both(|thread| give(&links[thread], &ranks));
        let rank = |sum: f64| if sum > 0.0 { 0.15 + 0.85 * sum } else { 0.0 };
        ranks = one.iter().zip(&two).map(|(one, two)| rank(one + two)).collect();
    }
    ranks.iter().sum()
}

/// What the sources of one thread give to each node.
fn give(links: &Links, ranks: &[f64]) -> Vec<f64> {
    let mut given = vec![0.0; ranks.len()];
    let mut start = 0;
    for (source, end) in &links.sources {
        let targets = &links.targets[start as usize..*end as usize];
        start = *end;
        let share = ranks[*source as usize] / targets.len() as f64;
        for target in targets {
            given[*target as usize] += share;
        }
    }
    given
}

fn group_links(sizes: &Sizes) -> Vec<Groups> {
    let (edges, nodes) = (sizes.of("edges"), sizes.of("nodes"));
    let fill = |thread, buckets: &mut [Vec<(u64, u64)>]| {
        for x in share(edges, thread) {
            let edge = edge(x, nodes);
            buckets[bucket_of(edge.0, THREADS)].push(edge);
        }
    };
    exchange(THREADS, edges / 4, fill, |_, pieces| Groups::of(&pieces))
}

/// Gives every node a number, so that ranks are vectors and not tables.
fn number_nodes(groups: &[Groups]) -> (Vec<Links>, usize) {
    let mut numbers = Table::default();
    let mut number = |node: u64| {
        let next = numbers.len() as u64;
        *numbers.entry(node).or_insert(next) as u32
    };
    let links = groups.iter().map(|groups| {
        let mut links = Links { sources: Vec::new(), targets: Vec::new() };
        for (source, targets) in groups.iter() {
            links.targets.extend(targets.iter().map(|target| number(*target)));
            links.sources.push((number(source), links.targets.len() as u32));
        }
        links
    });
    let links = links.collect();
    (links, numbers.len())
}
