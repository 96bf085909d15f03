//! The way into an executor, before `main`.

use std::{env, process::exit};

use super::start;

/// Turns the process into an executor if a worker started it as one; else does nothing.
///
/// Any program that links this library may be such a process, whether or not its `main` knows of the library. So that no
/// program becomes an executor by an argument of its own, the argument counts only beside the variables in which a worker
/// hands over the executor's number and the application's secret.
#[ctor::ctor(unsafe)]
fn become_executor() {
    let is_asked = env::args_os().nth(1).is_some_and(|argument| argument == start::ARGUMENT);
    if is_asked && start::NEEDED.iter().all(|variable| env::var_os(variable).is_some()) {
        // The arguments were allocated above, so a counting allocator is known by now.
        #[cfg(feature = "allocator")]
        if firesteel_storage::memory::is_counting() {
            crate::allocator::set_up();
        }
        exit(super::run());
    }
}
