//! An executor that hangs, as one whose machine or network does.

use firesteel::prelude::*;
use rustix::process::Signal;

use crate::{
    gate::{Gate, pass, wait_until},
    process::{is_alive, signal},
};

/// Behaviours: HB-005, EXE-002.
#[test]
fn an_executor_that_falls_silent_is_given_up_and_ends_when_it_wakes() {
    let quick = [
        ("firesteel.executor.heartbeatInterval", "100ms"),
        ("firesteel.network.timeoutInterval", "200ms"),
        ("firesteel.network.timeout", "2s"),
    ];
    let builder = Context::builder().master("local-cluster[2,1,1024]");
    let builder = quick.iter().fold(builder, |builder, (key, value)| builder.set(key, value).unwrap());
    let ctx = builder.start().unwrap();
    let gate = Gate::new();
    let rows = ctx.range_into(0..8_u64, 8).with(gate.path()).map(|gate, x| {
        pass(gate);
        (x % 3, x)
    });
    let job = rows.reduce_by_key(|a, b| a + b).collect_async();
    let victim = gate.wait();

    signal(victim, Signal::STOP);
    gate.open();
    let mut sums = job.wait().unwrap();

    sums.sort_unstable();
    assert_eq!(sums, [(0, 9), (1, 12), (2, 7)]);
    if is_alive(victim) {
        signal(victim, Signal::CONT);
    }
    wait_until("the one that was given up ends by itself", || !is_alive(victim));
}
