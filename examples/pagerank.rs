//! `PageRank`: how important each page of a web of links is.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::time::Instant;

use firesteel::prelude::*;

const PAGES: u64 = 20_000;
const LINKS: u64 = 200_000;
const ITERATIONS: usize = 10;

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let start = Instant::now();
    // Made up, but the same in every run: early pages are linked to much more often.
    let links = ctx
        .range(0..LINKS)
        .map(|x| {
            let spread = x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            (x % PAGES, (((spread * spread) >> 24) * PAGES) >> 24)
        })
        .distinct()
        .group_by_key()
        .cache();
    let mut ranks = links.map_values(|_| 1.0_f64).boxed();
    for _ in 0..ITERATIONS {
        // Both sides are partitioned by page already, so the join moves no rows.
        let given = links.join(&ranks).flat_map(|(_, (targets, rank))| {
            let share = rank / targets.len() as f64;
            targets.into_iter().map(move |target| (target, share)).collect::<Vec<_>>()
        });
        ranks = given.reduce_by_key(|a, b| a + b).map_values(|sum| 0.15 + 0.85 * sum).boxed();
    }
    for (page, rank) in ranks.top_by(10, |(_, rank)| TotalOrd(*rank))? {
        println!("{rank:>9.3} page {page}");
    }
    println!("{ITERATIONS} iterations over {LINKS} links in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}
