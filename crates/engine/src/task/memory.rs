//! The memory of the task that runs on this thread.
//!
//! A task runs on one thread, and what it may hold belongs to that thread: [`TaskContext`] can be shared with threads of
//! the user's own, this cannot.

use std::{borrow::Cow, cell::RefCell};

use firesteel_storage::{
    codec::FRAME_TARGET,
    memory::{Consumer, MemoryConf, MemoryManager, OutOfShare, TaskMemory, meter},
};
use firesteel_types::AttemptId;

use super::{Abort, TaskContext, abort_task};

thread_local! {
    static MEMORY: RefCell<Option<TaskMemory>> = const { RefCell::new(None) };
}

/// Gives the thread's task its memory, or takes it away.
pub(crate) fn set_memory(memory: Option<TaskMemory>) {
    let before = MEMORY.replace(memory);
    drop(before);
}

/// The most that the thread's task held so far.
pub(crate) fn peak_bytes() -> u64 {
    MEMORY.with_borrow(|memory| memory.as_ref().map_or(0, TaskMemory::peak))
}

/// Makes memory of the thread's task memory of others: what was granted for it can be granted to them.
pub(crate) fn hand_over(bytes: u64) {
    meter::hand_over(bytes);
    MEMORY.with_borrow(|memory| {
        if let Some(memory) = memory {
            memory.release(memory.granted().saturating_sub(memory.live()));
        }
    });
}

impl TaskContext {
    /// Registers a structure of the task that can spill.
    pub(crate) fn consumer(&self, name: impl Into<Cow<'static, str>>) -> Consumer {
        MEMORY.with_borrow(|memory| match memory {
            Some(memory) => memory.consumer(name),
            None => unlimited(self.attempt_id()).consumer(name),
        })
    }

    /// How much more the task may hold.
    pub(crate) fn room(&self) -> u64 {
        MEMORY.with_borrow(|memory| match memory {
            Some(memory) => memory.share().saturating_sub(memory.live()),
            None => u64::MAX,
        })
    }

    /// How many bytes of rows are collected before they are written to a file that is one of many: so little that all
    /// of them together are a small part of the task's share.
    pub(crate) fn frame_bytes(&self) -> usize {
        (self.room() / 512).clamp(4 << 10, FRAME_TARGET as u64) as usize
    }

    /// Ends the task if it holds far more than its share and none of that can be spilled.
    pub(crate) fn check_memory(&self) {
        let checked = MEMORY.with_borrow(|memory| memory.as_ref().map_or(Ok(()), TaskMemory::check));
        if let Err(out_of_share) = checked {
            abort_out_of_memory(&out_of_share);
        }
    }
}

/// For operators that run on a thread that is no task's.
fn unlimited(attempt: AttemptId) -> TaskMemory {
    MemoryManager::new(MemoryConf { budget: u64::MAX / 2, storage_fraction: 0.5 }).task(attempt)
}

/// Ends the task because it cannot go on within its share.
#[cold]
pub(crate) fn abort_out_of_memory(out_of_share: &OutOfShare) -> ! {
    abort_task(Abort::Failed { message: out_of_share.to_string(), operator: None })
}
