//! A task that was told to end and does not.

use firesteel::prelude::*;

use crate::{
    gate::{Gate, pass, wait_until},
    process::is_alive,
};

/// Behaviours: EXE-013.
#[test]
fn an_executor_ends_with_a_task_that_does_not() {
    let ctx = Context::builder()
        .master("local-cluster[1,1,1024]")
        .set("firesteel.task.reaper.enabled", true)
        .and_then(|builder| builder.set("firesteel.task.reaper.pollingInterval", "50ms"))
        .and_then(|builder| builder.set("firesteel.task.reaper.killTimeout", "200ms"))
        .unwrap()
        .start()
        .unwrap();
    let gate = Gate::new();
    // Who waits at a gate does not look whether it should end.
    let rows = ctx.range_into(0..1_u64, 1).with(gate.path()).map(|gate, x| {
        pass(gate);
        x
    });
    let job = rows.collect_async();
    let victim = gate.wait();

    job.cancel();

    assert!(job.wait().is_err());
    wait_until("the executor ends with its task", || !is_alive(victim));
    assert_eq!(ctx.range_into(0..100_u64, 2).sum().unwrap(), 4950, "another one came in its place");
}
