//! The way into an executor, before `main`.

use std::process::exit;

use super::{join, start::ARGUMENT};

/// Turns the process into an executor if it was started as one; else does nothing.
#[ctor::ctor(unsafe)]
fn become_executor() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ARGUMENT) {
        #[cfg(feature = "allocator")]
        crate::allocator::set_up();
        exit(join::run());
    }
}
