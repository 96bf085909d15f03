//! k-means: points in the plane fall into clusters around moving centres.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::time::Instant;

use firesteel::{Rng, prelude::*};

type Point = (f64, f64);

const POINTS: u64 = 500_000;
const CENTRES: [Point; 4] = [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0), (10.0, 10.0)];

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let start = Instant::now();
    let points = ctx.range(0..POINTS).map(make_point).cache();
    let mut centres = points.take_sample(Replacement::Without, CENTRES.len(), 5)?;
    let mut moved = f64::INFINITY;
    let mut rounds = 0;
    while moved > 1e-4 && rounds < 50 {
        let broadcast = ctx.broadcast(centres.clone())?;
        let sums = points
            .with(broadcast)
            .map(|centres, point| (nearest(centres.value(), point), (point, 1_u64)))
            .reduce_by_key(|((ax, ay), an), ((bx, by), bn)| ((ax + bx, ay + by), an + bn))
            .collect()?;
        moved = 0.0;
        for (cluster, ((x, y), n)) in sums {
            let centre = (x / n as f64, y / n as f64);
            moved += distance(centres[cluster], centre);
            centres[cluster] = centre;
        }
        rounds += 1;
    }
    centres.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for (x, y) in &centres {
        println!("centre at {x:>6.2}, {y:>6.2}");
    }
    println!("{rounds} rounds over {POINTS} points in {:.2} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// A point near one of the true centres.
fn make_point(n: u64) -> Point {
    let mut rng = Rng::new(n);
    let (x, y) = CENTRES[rng.below(CENTRES.len())];
    // The sum of a few uniform numbers is close to normal.
    let mut noise = || (0..6).map(|_| rng.below(1000) as f64 / 1000.0).sum::<f64>() - 3.0;
    (x + noise(), y + noise())
}

fn nearest(centres: &[Point], point: Point) -> usize {
    let order = |a: &usize, b: &usize| distance(centres[*a], point).total_cmp(&distance(centres[*b], point));
    (0..centres.len()).min_by(order).unwrap_or(0)
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}
