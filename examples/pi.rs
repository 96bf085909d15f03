//! Monte-Carlo pi: the share of random points that fall into a circle.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::time::Instant;

use firesteel::{Rng, prelude::*};

const POINTS_PER_TASK: u64 = 5_000_000;

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let tasks = ctx.default_parallelism() * 4;
    let start = Instant::now();
    let inside = ctx.range_into(0..u64::from(tasks), tasks).map(points_inside).reduce(|a, b| a + b)?;

    let points = u64::from(tasks) * POINTS_PER_TASK;
    println!("pi is about {:.5}", 4.0 * inside as f64 / points as f64);
    println!("{points} points in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// How many of a task's points lie in the circle. Each task has a seed of its own, so every run gives the same.
fn points_inside(seed: u64) -> u64 {
    let mut rng = Rng::new(seed);
    let mut coordinate = || rng.below(1 << 20) as f64 / f64::from(1 << 20);
    (0..POINTS_PER_TASK).filter(|_| coordinate().powi(2) + coordinate().powi(2) < 1.0).count() as u64
}
