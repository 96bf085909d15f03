//! What the task of this thread holds: [`live`] and [`peak`], from [`TaskMeter::start`] on.
//!
//! Reads the counts of the allocator. Memory is counted where it is allocated and freed, so memory that changes hands
//! between threads has to be told: [`adopt`] and [`hand_over`]. Without a counting allocator everything reads 0, except
//! what the consumers of a task report themselves.

use std::marker::PhantomData;

use super::counters::{self, Outer, is_counting};

/// Counts the task of this thread from its start to its drop.
///
/// A task may run inside another on the same thread. The inner one counts from zero, and when it ends what it left
/// behind belongs to the outer one.
///
/// ```
/// use firesteel_storage::memory::{TaskMeter, meter};
///
/// let task = TaskMeter::start();
/// assert_eq!((meter::live(), meter::peak()), (0, 0));
/// # drop(task);
/// ```
#[derive(Debug)]
#[must_use = "the task is counted until this is dropped"]
pub struct TaskMeter {
    outer: Outer,
    /// The counts are of this thread.
    not_send: PhantomData<*const ()>,
}

impl TaskMeter {
    /// Begins to count a task on this thread.
    pub fn start() -> Self {
        Self { outer: counters::begin_task(), not_send: PhantomData }
    }
}

impl Drop for TaskMeter {
    fn drop(&mut self) {
        counters::end_task(self.outer);
    }
}

/// The bytes that the task of this thread holds.
///
/// What this thread allocated minus what it freed since the task began, plus what the task adopted, minus what it handed
/// over. Below zero when it freed what others had allocated. Costs two loads.
#[inline]
pub fn live() -> i64 {
    counters::live()
}

/// The most that the task of this thread ever held.
#[inline]
pub fn peak() -> u64 {
    counters::peak().max(0).cast_unsigned()
}

/// Counts memory that another thread allocated and that belongs to this task from now on.
#[inline]
pub fn adopt(bytes: u64) {
    if is_counting() {
        counters::shift(signed(bytes));
    }
}

/// Stops counting memory that this task allocated and that belongs to others from now on, such as a cached block.
#[inline]
pub fn hand_over(bytes: u64) {
    if is_counting() {
        counters::shift(-signed(bytes));
    }
}

/// Runs `f` and returns how much more memory the thread holds than before it.
///
/// ```
/// use firesteel_storage::memory::{is_counting, meter};
///
/// let (rows, bytes) = meter::measure(|| vec![0_u8; 1000]);
/// assert_eq!(bytes, if is_counting() { 1000 } else { 0 });
/// # drop(rows);
/// ```
pub fn measure<T>(f: impl FnOnce() -> T) -> (T, i64) {
    let before = live();
    let out = f();
    (out, live() - before)
}

/// Counts what a consumer reports to hold more (or less) than before, where no allocator counts it.
#[inline]
pub(super) fn estimate(bytes: i64) {
    if !is_counting() {
        counters::shift(bytes);
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
