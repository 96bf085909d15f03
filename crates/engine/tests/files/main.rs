//! Files as they come: every kind of line end, split, codec, name, damage and web server, against a plain reference.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

firesteel::allocator!();

mod codecs;
#[path = "../../../../testing/damage.rs"]
mod damage;
mod damaged;
mod folders;
#[path = "../support/gate.rs"]
mod gate;
mod http;
mod lines;
mod names;
mod records;
mod reference;
mod saves;
mod server;
#[path = "../support/small_disk.rs"]
mod small_disk;
#[path = "../support/backends.rs"]
mod support;

use std::{sync::mpsc, thread, time::Duration};

/// Runs `test` and fails if it takes longer than `limit`.
fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    let (sender, is_done) = mpsc::channel();
    let running = thread::spawn(move || {
        test();
        // Sent only by a test that did not panic; the other one is joined below.
        let _ = sender.send(());
    });
    match is_done.recv_timeout(limit) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("no answer within {limit:?}"),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}
