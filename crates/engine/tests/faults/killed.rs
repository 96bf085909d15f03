//! Executors that are killed while they are at something.

use std::collections::BTreeMap;

use firesteel::{ContextBuilder, ListenerEvent, prelude::*};
use rustix::process::Signal;

use crate::{
    gate::{Gate, pass, wait_until},
    process::{executors, is_alive, signal},
};

fn cluster() -> ContextBuilder {
    Context::builder().master("local-cluster[2,1,1024]")
}

/// The sums that the jobs of this file compute.
fn sums() -> BTreeMap<u64, u64> {
    let mut sums = BTreeMap::new();
    for x in 0..10_000_u64 {
        *sums.entry(x % 37).or_default() += x;
    }
    sums
}

/// Kills the process that comes to the gate first, then opens it.
fn kill_at(gate: &Gate) {
    let victim = gate.wait();
    signal(victim, Signal::KILL);
    wait_until("the victim is gone", || !is_alive(victim));
    gate.open();
}

fn with_and_without_shuffle_service(test: impl Fn(Context)) {
    for served in [true, false] {
        println!("shuffle service: {served}");
        test(cluster().set("firesteel.shuffle.service.enabled", served).unwrap().start().unwrap());
    }
}

/// Behaviours: BACK-009.
#[test]
fn in_the_map_stage() {
    with_and_without_shuffle_service(|ctx| {
        let gate = Gate::new();
        let rows = ctx.range_into(0..10_000_u64, 8).with(gate.path()).map(|gate, x| {
            if x % 1250 == 1249 {
                pass(gate);
            }
            (x % 37, x)
        });
        let job = rows.reduce_by_key(|a, b| a + b).collect_async();

        kill_at(&gate);

        assert_eq!(job.wait().unwrap().into_iter().collect::<BTreeMap<_, _>>(), sums());
    });
}

#[test]
fn in_the_reduce_stage() {
    with_and_without_shuffle_service(|ctx| {
        let gate = Gate::new();
        let pairs = ctx.range_into(0..10_000_u64, 8).map(|x| (x % 37, x));
        let summed = pairs.reduce_by_key(|a, b| a + b).with(gate.path()).map(|gate, row| {
            pass(gate);
            row
        });
        let job = summed.collect_async();

        kill_at(&gate);

        assert_eq!(job.wait().unwrap().into_iter().collect::<BTreeMap<_, _>>(), sums());
    });
}

#[test]
fn while_it_holds_cached_partitions() {
    let ctx = cluster().start().unwrap();
    let rows = ctx.range_into(0..10_000_u64, 8).map(|x| (x % 37, x)).cache();
    assert_eq!(rows.count().unwrap(), 10_000);
    let victim = executors(&ctx, 2)[0];

    signal(victim, Signal::KILL);
    wait_until("the victim is gone", || !is_alive(victim));

    for _ in 0..3 {
        let summed = rows.reduce_by_key(|a, b| a + b).collect().unwrap();
        assert_eq!(summed.into_iter().collect::<BTreeMap<_, _>>(), sums());
    }
    assert!(!executors(&ctx, 2).contains(&victim), "another one came in its place");
}

/// Behaviours: RES-004.
#[test]
fn while_it_sends_a_result() {
    let ctx = cluster().start().unwrap();
    let victim = executors(&ctx, 2)[0];
    // In the moment when the driver begins to fetch a result from an executor.
    let mut waits = Some(victim);
    let kill = move |event: &ListenerEvent| {
        if let ListenerEvent::TaskGettingResult { .. } = event
            && let Some(victim) = waits.take()
        {
            signal(victim, Signal::KILL);
        }
    };
    ctx.add_listener(kill).unwrap();

    // Two MiB a partition do not travel in the reports.
    let rows =
        ctx.range_into(0..2_000_000_u64, 8).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect().unwrap();

    assert_eq!(rows.len(), 2_000_000);
    assert!((0..2_000_000_u64).zip(&rows).all(|(x, row)| *row == x.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    wait_until("the victim is gone", || !is_alive(victim));
    assert_eq!(ctx.range(0..100_u64).sum().unwrap(), 4950);
}

/// Behaviours: BACK-010.
#[test]
fn by_its_own_task_again_and_again() {
    let ctx = cluster().start().unwrap();

    let failed =
        ctx.range_into(0..4_u64, 4).map(|x| if x == 2 { std::process::exit(7) } else { x }).collect();

    let error = failed.unwrap_err().to_string();
    assert!(error.contains("failed 4 times") && error.contains("lost"), "{error}");
    assert_eq!(ctx.range_into(0..100_u64, 4).sum().unwrap(), 4950, "the cluster stays usable");
}
