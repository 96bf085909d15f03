//! k-means: ten rounds of a small aggregation over cached points.

use std::path::Path;

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Workload, rows::PARTS};
use crate::{
    data::points::{self, Point, add, mean, nearest, point},
    hand::{both, share},
};

pub(super) const KMEANS: Workload = Workload {
    name: "kmeans",
    what: "10 rounds over 2 M points in 8 dimensions, 10 centres",
    unit: "points",
    sizes: |scale| Sizes::default().scaled("points", 2_000_000, scale).with("centres", 10).with("rounds", 10),
    units: |sizes| (sizes.of("points") * sizes.of("rounds")) as f64,
    engine,
    limit: Some(limit),
    runs: 3,
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, sizes) = (setup.ctx.clone(), setup.sizes.clone());
    let centres = move || -> Result<Vec<Point>> {
        let points = ctx.range_into(0..sizes.of("points"), PARTS).map(point).cache();
        let mut centres = points::first_centres(sizes.of("centres"));
        for _ in 0..sizes.of("rounds") {
            let sums = points
                .with(centres.clone())
                .map(|centres, point| (nearest(centres, &point), (point, 1_u64)))
                .reduce_by_key_into(PARTS, |(one, n), (two, m)| (add(one, two), n + m))
                .collect()?;
            for (centre, (sum, count)) in sums {
                centres[centre as usize] = mean(sum, count);
            }
        }
        points.unpersist();
        Ok(centres)
    };
    let checked = centres.clone();
    job(centres, checked)
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let sizes = sizes.clone();
    let centres = move || Ok(centres_by_hand(&sizes));
    let checked = centres.clone();
    job(centres, checked)
}

fn job(
    run: impl Fn() -> Result<Vec<Point>> + 'static,
    check: impl Fn() -> Result<Vec<Point>> + 'static,
) -> Job {
    Job::new(
        move || Ok(Outcome::rows(run()?.iter().flatten().count() as u64)),
        move || Ok(points::digest(&check()?).into()),
    )
}

fn centres_by_hand(sizes: &Sizes) -> Vec<Point> {
    let all = both(|thread| share(sizes.of("points"), thread).map(point).collect::<Vec<Point>>());
    let mut centres = points::first_centres(sizes.of("centres"));
    for _ in 0..sizes.of("rounds") {
        let [mut sums, others] = both(|thread| {
            let mut sums = vec![(Point::default(), 0); centres.len()];
            for point in &all[thread] {
                let (sum, count) = &mut sums[nearest(&centres, point) as usize];
                *sum = add(*sum, *point);
                *count += 1;
            }
            sums
        });
        for ((sum, count), (other, more)) in sums.iter_mut().zip(others) {
            (*sum, *count) = (add(*sum, other), *count + more);
        }
        for (centre, (sum, count)) in centres.iter_mut().zip(sums) {
            if count > 0 {
                *centre = mean(sum, count);
            }
        }
    }
    centres
}
