//! What a process in which tasks run is prepared with: [`prepare`].

use std::sync::Once;

use firesteel_storage::memory::{is_counting, physical_memory, process_limit, set_process_limit};
use firesteel_types::settings;

use super::hook;
use crate::Conf;

/// What the process of an executor may hold beside the memory that it is given: a tenth of it, and so much at least.
const OVERHEAD: u64 = 384 << 20;

/// Whose process it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessKind {
    /// An executor's, in which no `main` runs.
    Executor,
    /// The program's own, in local mode. What another context has set, or the program itself, stays.
    Program,
}

/// Puts the panic hook in front of the one that is there and limits the memory of tasks, each once for a process.
pub(crate) fn prepare(conf: &Conf, kind: ProcessKind) {
    static SAID: Once = Once::new();
    hook::install();
    if process_limit() == 0 {
        set_process_limit(limit(conf, kind));
    }
    if !is_counting() {
        SAID.call_once(|| {
            tracing::warn!(
                "the memory of tasks is estimated, and may be exceeded by rows that own memory: this program has no \
                 counting allocator, which `#[firesteel::main]` or the line `firesteel::allocator!();` installs"
            );
        });
    }
}

/// At how many bytes a task of this process is refused more memory, which ends the process with a word; 0 for never.
///
/// A task that grows row by row fails long before, by its share. This is for one that takes very much at once, and is
/// what the system would do without a word. The process of an executor is held to what it was given. Another one is the
/// user's own program, and has what the machine has.
fn limit(conf: &Conf, kind: ProcessKind) -> u64 {
    let machine = physical_memory().unwrap_or(0);
    match conf.get(settings::MEMORY_LIMIT) {
        Some(given) if kind == ProcessKind::Executor => {
            let limit = given.saturating_add(OVERHEAD.max(given / 10));
            if machine == 0 { limit } else { limit.min(machine) }
        }
        _ => machine,
    }
}
