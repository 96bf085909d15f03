//! What only a cluster shows: executors in processes of their own, which end, are replaced, and hold blocks and results.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

mod blocks;
mod broadcast;
mod executors;
#[path = "../support/gate.rs"]
mod gate;
mod leftovers;
mod output;
mod results;

use std::sync::mpsc;

use firesteel::{ContextBuilder, prelude::*};
use firesteel_types::{ExecutorId, ListenerEvent};
use gate::Gate;

/// A context with two executors of one core each.
fn cluster() -> Context {
    cluster_with(|builder| builder)
}

/// The same with settings.
fn cluster_with(set: impl FnOnce(ContextBuilder) -> ContextBuilder) -> Context {
    set(Context::builder()).master("local-cluster[2,1,1024]").start().unwrap()
}

/// One of the executors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Worker {
    executor: ExecutorId,
    pid: u32,
}

/// The two executors that there are now, in order.
fn executors(ctx: &Context) -> [Worker; 2] {
    let met = ctx.range_into(0..2_u64, 2).with(Gate::new()).map(|gate, _| {
        assert!(gate.meet(2), "both run at once");
        (TaskContext::current().unwrap().executor().0, std::process::id())
    });
    let mut workers: Vec<_> = met
        .collect()
        .unwrap()
        .into_iter()
        .map(|(id, pid)| Worker { executor: ExecutorId(id), pid })
        .collect();
    workers.sort_unstable();
    workers.try_into().unwrap()
}

/// Whether a process is there; one that has ended and was not waited for is not.
fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The state follows the name, which is in parentheses.
    stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z'))
}

/// What listeners hear from now on.
fn events(ctx: &Context) -> mpsc::Receiver<ListenerEvent> {
    let (tell, told) = mpsc::channel();
    ctx.add_listener(move |event: &ListenerEvent| drop(tell.send(event.clone()))).unwrap();
    told
}

/// Everything that was heard so far. The status store is fed by the same bus and answers when all of it is through.
fn heard(ctx: &Context, events: &mpsc::Receiver<ListenerEvent>) -> Vec<ListenerEvent> {
    ctx.status().unwrap().jobs();
    events.try_iter().collect()
}
