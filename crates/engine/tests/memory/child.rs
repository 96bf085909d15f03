//! Runs one case in a process of its own, so that its memory can be read from the system.

use std::process::Command;

use firesteel::{Conf, prelude::*};

use crate::process;

/// What tasks and stored blocks may use in a case.
pub(crate) const BUDGET: u64 = 4 << 20;
/// What the process needs beside: stacks, buffers of files, the overdraft of its tasks, and above all what the allocator
/// keeps of freed blocks of each size for each thread (of 43 MiB in a sort, 5 MiB are live at its peak).
pub(crate) const BESIDE: u64 = 64 << 20;

/// A context with the small budget.
pub(crate) fn tight(shipped: bool) -> Context {
    tight_to(BUDGET, shipped)
}

/// A context with such a budget.
pub(crate) fn tight_to(budget: u64, shipped: bool) -> Context {
    let conf = Conf::new().set("firesteel.memory.budget", budget.to_string() + "b").unwrap();
    Context::builder().master("local[2]").conf(conf).shipped(shipped).start().unwrap()
}

/// Runs the test of this name again in a child process, where it runs `case`; returns its peak memory.
pub(crate) fn in_child(test: &str, case: impl FnOnce()) -> Option<u64> {
    // The allocator gives freed memory back at once and not some milliseconds later, so that the peak is ours.
    let set = |child: &mut Command| {
        child.env("MIMALLOC_PURGE_DELAY", "0");
    };
    let output = process::in_child(test, set, || {
        case();
        println!("\npeak {}", peak_resident_bytes());
    })?;
    let out = String::from_utf8_lossy(&output.stdout);
    let peak = out.lines().find_map(|line| line.strip_prefix("peak ")).unwrap_or_else(|| panic!("{out}"));
    Some(peak.parse().unwrap())
}

/// The most memory that this process had at once, without the pages of its own program file.
///
/// Those are some 20 MiB of a debug build, the kernel may drop them at any time, and no operator answers for them.
pub(crate) fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let bytes = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    };
    bytes("VmHWM:") - bytes("RssFile:")
}
