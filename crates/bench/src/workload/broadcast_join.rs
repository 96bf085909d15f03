//! A large side joined with a small table that is broadcast.

use std::{collections::HashMap, path::Path};

use anyhow::Result;
use firesteel::prelude::*;
use foldhash::fast::FixedState;

use super::{
    Job, Outcome, Setup, Sizes, Workload,
    join::joined_row,
    rows::{PARTS, digest},
};
use crate::{
    checksum::Digest,
    data::keys::spread,
    hand::{both, share},
};

pub(super) const BROADCAST_JOIN: Workload = Workload {
    name: "broadcast_join",
    what: "20 M rows joined with a table of 100,000 that is broadcast",
    sizes: |scale| Sizes::default().scaled("rows", 20_000_000, scale),
    engine,
    limit: Some(limit),
    ..Workload::PLAIN
};

const KEYS: u64 = 1_000_000;

type Small = HashMap<u64, u64, FixedState>;

/// Every tenth key has a partner.
fn small_table() -> Small {
    (0..KEYS / 10).map(|x| (x * 10, x)).collect()
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let joined = move || -> Result<_> {
        let table = ctx.broadcast(small_table())?;
        Ok(ctx
            .range_into(0..rows, PARTS)
            .map(|x| (spread(x, KEYS), x))
            .with(table)
            .flat_map(|table, (key, left)| table.value().get(&key).map(|right| (key, (left, *right)))))
    };
    let checked = joined.clone();
    Job::new(
        move || Ok(Outcome::rows(joined()?.count()?)),
        move || Ok(digest(&checked()?.map(|(key, (left, right))| joined_row(key, left, right)))?.into()),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    Job::new(
        move || {
            let counts = join_by_hand(rows, 0, |count, _, _, _| count + 1);
            Ok(Outcome::rows(counts.iter().sum()))
        },
        move || {
            let add = |sum: Digest, key, left, right| sum.with(joined_row(key, left, right));
            let [one, two] = join_by_hand(rows, Digest::default(), add);
            Ok(one.and(two).into())
        },
    )
}

fn join_by_hand<A: Copy + Send + Sync>(
    rows: u64,
    zero: A,
    add: impl Fn(A, u64, u64, u64) -> A + Sync,
) -> [A; 2] {
    let table = small_table();
    both(|thread| {
        share(rows, thread).fold(zero, |sum, x| {
            let key = spread(x, KEYS);
            table.get(&key).map_or(sum, |right| add(sum, key, x, *right))
        })
    })
}
