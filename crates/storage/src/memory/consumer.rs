//! [`Consumer`]: a structure of a task that can spill to disk, such as a sort buffer or a hash table.
//!
//! A task runs on one thread, so one consumer cannot make another spill while it runs itself. Instead the one that
//! finds the task short of memory has the largest other one *asked*, and goes on within an overdraft until that one has
//! its next turn. Only when the overdraft is used up, or no other can, does it have to spill itself.

use std::{borrow::Cow, cell::Cell, fmt, rc::Rc};

use super::{
    OutOfShare,
    task::{Standing, TaskState},
};

/// What a consumer has to do that found its task short of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Reserve {
    /// Go on.
    Granted,
    /// Write what it holds to disk, free it and report that with [`Consumer::spilled`].
    Spill,
}

/// A structure of a task that can spill.
///
/// Reports what it holds whenever that changes much, and looks every few rows whether it has to spill. Looking costs a
/// few loads and a comparison; everything else happens only when the task has outgrown what it was granted.
///
/// ```
/// use firesteel_storage::memory::{MemoryConf, MemoryManager, Reserve};
/// use firesteel_types::AttemptId;
///
/// let manager = MemoryManager::new(MemoryConf { budget: 8 << 20, storage_fraction: 0.5 });
/// let task = manager.task(AttemptId(1));
/// let consumer = task.consumer("sort buffer");
/// let (mut rows, mut spilled) = (Vec::new(), 0);
/// for row in 0..3_000_000_u64 {
///     rows.push(row);
///     consumer.set_held(rows.capacity() as u64 * 8);
///     if consumer.is_asked_to_spill() || consumer.is_short() && consumer.reserve()? == Reserve::Spill {
///         spilled += std::mem::take(&mut rows).len();
///         consumer.spilled(0);
///     }
/// }
/// assert!(spilled > 0);
/// assert_eq!(spilled + rows.len(), 3_000_000);
/// # Ok::<(), firesteel_storage::memory::OutOfShare>(())
/// ```
pub struct Consumer {
    task: Rc<TaskState>,
    slot: Rc<Slot>,
}

/// What the other consumers of a task can see of one.
pub(super) struct Slot {
    name: Cow<'static, str>,
    held: Cell<u64>,
    is_asked: Cell<bool>,
    is_pinned: Cell<bool>,
}

impl Consumer {
    pub(super) fn new(task: Rc<TaskState>, slot: Rc<Slot>) -> Self {
        Self { task, slot }
    }

    /// Whether the task holds more than it was granted: then [`reserve`](Self::reserve).
    #[inline]
    pub fn is_short(&self) -> bool {
        self.task.is_short()
    }

    /// Whether another consumer needs the memory of this one: then spill.
    #[inline]
    pub fn is_asked_to_spill(&self) -> bool {
        self.slot.is_asked.get()
    }

    /// Sets how much the structure holds: what spilling it would free.
    ///
    /// Where an allocator counts, this only decides who spills. Where none does, it is all that is known of the task.
    #[inline]
    pub fn set_held(&self, bytes: u64) {
        if bytes != self.slot.held.get() {
            self.task.note_held(&self.slot, bytes);
        }
    }

    /// Asks for the memory that the task holds beyond its grant, and returns whether to go on or to spill.
    ///
    /// May wait for other tasks, while this one has less than half of its share. Fails if the task is far beyond its
    /// share and none of that can be spilled, this consumer included.
    #[cold]
    pub fn reserve(&self) -> Result<Reserve, OutOfShare> {
        let Standing::Over(over) = self.task.cover() else { return Ok(Reserve::Granted) };
        let is_worth_a_spill = self.slot.can_spill(self.task.least_spill());
        if is_worth_a_spill && self.is_asked_to_spill() {
            return Ok(Reserve::Spill);
        }
        let another_spills = self.task.ask_largest(Some(&self.slot));
        if is_worth_a_spill && !(another_spills && over <= self.task.overdraft()) {
            return Ok(Reserve::Spill);
        }
        if another_spills || self.task.is_tolerable(over) {
            self.task.tolerate(over);
            return Ok(Reserve::Granted);
        }
        Err(self.task.out_of_share())
    }

    /// Reports that the structure was spilled and now holds this much; what that freed goes back to the budget.
    pub fn spilled(&self, still_held: u64) {
        self.set_held(still_held);
        self.slot.is_asked.set(false);
        self.task.trim();
    }

    /// From now on the structure cannot spill, for instance because it is being read, and is not asked to.
    pub fn pin(&self) {
        self.slot.is_pinned.set(true);
        self.slot.is_asked.set(false);
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.task.forget(&self.slot);
    }
}

impl fmt::Debug for Consumer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slot { name, held, is_asked, is_pinned } = &*self.slot;
        out.debug_struct("Consumer")
            .field("name", name)
            .field("held", &held.get())
            .field("is_asked", &is_asked.get())
            .field("is_pinned", &is_pinned.get())
            .finish_non_exhaustive()
    }
}

impl Slot {
    pub(super) fn new(name: Cow<'static, str>) -> Self {
        Self { name, held: Cell::new(0), is_asked: Cell::new(false), is_pinned: Cell::new(false) }
    }

    pub(super) fn name(&self) -> &Cow<'static, str> {
        &self.name
    }

    pub(super) fn held(&self) -> u64 {
        self.held.get()
    }

    #[inline]
    pub(super) fn replace_held(&self, bytes: u64) -> u64 {
        self.held.replace(bytes)
    }

    pub(super) fn can_spill(&self, least: u64) -> bool {
        !self.is_pinned.get() && self.held.get() >= least
    }

    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.get()
    }

    pub(super) fn ask(&self) {
        self.is_asked.set(true);
    }
}

#[cfg(test)]
mod tests;
