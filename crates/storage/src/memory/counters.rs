//! The counts behind the allocator: of each thread, and of the process with its hard limit.
//!
//! Everything here may run inside an allocation. So nothing allocates, takes a lock, panics or needs to be initialised,
//! and a thread's counters have no destructor: they still work while the thread's other variables are being dropped.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
};

/// How far a thread's count may be ahead of or behind what it added to the process's total.
const FLUSH_BYTES: i64 = 64 << 10;

static COUNTING: AtomicBool = AtomicBool::new(false);
static TOTAL: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static THREAD: ThreadCounters = const { ThreadCounters::new() };
}

/// The counts of one thread.
///
/// `base` and `peak` are kept in terms of `net`, so that an allocation changes as few of them as possible: what the
/// task holds is `net - base`, the most it ever held is `peak - base`.
struct ThreadCounters {
    /// Bytes allocated minus bytes freed since the thread began.
    net: Cell<i64>,
    /// What `net` would be if the task held nothing.
    base: Cell<i64>,
    /// The highest `net` of the task.
    peak: Cell<i64>,
    /// The `net` that the process's total knows of.
    flushed: Cell<i64>,
    /// How many tasks run on the thread, one within the other.
    tasks: Cell<u32>,
}

impl ThreadCounters {
    const fn new() -> Self {
        let [net, base, peak, flushed] = [const { Cell::new(0) }; 4];
        Self { net, base, peak, flushed, tasks: Cell::new(0) }
    }

    #[inline]
    fn grow(&self, bytes: i64) -> bool {
        let net = self.net.get().wrapping_add(bytes);
        if net.wrapping_sub(self.flushed.get()) >= FLUSH_BYTES && !self.flush_if_allowed(net) {
            return false;
        }
        self.net.set(net);
        if net > self.peak.get() {
            self.peak.set(net);
        }
        true
    }

    #[inline]
    fn shrink(&self, bytes: i64) {
        let net = self.net.get().wrapping_sub(bytes);
        self.net.set(net);
        if self.flushed.get().wrapping_sub(net) >= FLUSH_BYTES {
            self.flush();
        }
    }

    #[cold]
    fn flush(&self) {
        let net = self.net.get();
        TOTAL.fetch_add(net.wrapping_sub(self.flushed.get()), Relaxed);
        self.flushed.set(net);
    }

    /// Flushes what the thread will have with the allocation that is asked for, unless that is over the limit and for a
    /// task.
    #[cold]
    fn flush_if_allowed(&self, net: i64) -> bool {
        let ahead = net.wrapping_sub(self.flushed.get());
        let total = TOTAL.fetch_add(ahead, Relaxed).wrapping_add(ahead);
        let limit = LIMIT.load(Relaxed);
        if limit != 0 && unsigned(total) > limit && self.tasks.get() > 0 {
            TOTAL.fetch_sub(ahead, Relaxed);
            return false;
        }
        self.flushed.set(net);
        true
    }
}

/// Whether a [`CountingAllocator`](super::CountingAllocator) is the process's allocator.
///
/// Known from the first allocation on, which is before `main`.
#[inline]
pub fn is_counting() -> bool {
    COUNTING.load(Relaxed)
}

/// What all threads of the process hold, as far as they have told: each may be 64 KiB ahead or behind.
///
/// 0 when nothing counts.
pub fn process_total() -> u64 {
    let unflushed = with(|thread| thread.net.get().wrapping_sub(thread.flushed.get())).unwrap_or(0);
    unsigned(TOTAL.load(Relaxed).wrapping_add(unflushed))
}

/// Sets how much the process may hold; 0 takes the limit away.
///
/// An allocation of a task that would take [`process_total`] over the limit is refused, with a line on standard error.
/// Most code aborts the process then, since an allocator must not unwind: this is the last line of defence,
/// better than being killed from outside without a word. Tasks that go beyond their share row by row fail long before,
/// with an error, by [`TaskMemory::check`](super::TaskMemory::check). Threads that run no task are never refused.
///
/// ```
/// use firesteel_storage::memory::{process_limit, set_process_limit};
///
/// set_process_limit(8 << 30);
/// assert_eq!(process_limit(), 8 << 30);
/// # set_process_limit(0);
/// ```
pub fn set_process_limit(bytes: u64) {
    LIMIT.store(bytes, Relaxed);
}

/// How much the process may hold; 0 when there is no limit.
pub fn process_limit() -> u64 {
    LIMIT.load(Relaxed)
}

/// Adds what this thread has not told yet to the process's total.
///
/// A thread that ends takes what it has not told with it, up to 64 KiB. The end of a task flushes; a thread that runs no
/// tasks and is started often should call this last.
pub fn flush_thread() {
    with(ThreadCounters::flush).unwrap_or(());
}

/// Counts bytes that are about to be allocated, unless the process may not have them.
#[inline]
pub(super) fn grow(bytes: usize) -> bool {
    if !COUNTING.load(Relaxed) {
        COUNTING.store(true, Relaxed);
    }
    with(|thread| thread.grow(signed(bytes))).unwrap_or(true)
}

/// Counts bytes that were freed.
#[inline]
pub(super) fn shrink(bytes: usize) {
    with(|thread| thread.shrink(signed(bytes))).unwrap_or(());
}

/// What the thread's task holds.
#[inline]
pub(super) fn live() -> i64 {
    with(|thread| thread.net.get().wrapping_sub(thread.base.get())).unwrap_or(0)
}

/// The most that the thread's task ever held.
#[inline]
pub(super) fn peak() -> i64 {
    with(|thread| thread.peak.get().wrapping_sub(thread.base.get())).unwrap_or(0)
}

/// Makes the task hold `bytes` more (or fewer, if negative) though this thread allocated nothing.
#[inline]
pub(super) fn shift(bytes: i64) {
    with(|thread| {
        thread.base.set(thread.base.get().wrapping_sub(bytes));
        let same_peak = thread.peak.get().wrapping_sub(bytes);
        thread.peak.set(same_peak.max(thread.net.get()));
    })
    .unwrap_or(());
}

/// The counters of an outer task, put aside while an inner one is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outer {
    base: i64,
    peak: i64,
    start: i64,
}

/// Begins to count a task that holds nothing.
pub(super) fn begin_task() -> Outer {
    with(|thread| {
        let start = thread.net.get();
        thread.tasks.set(thread.tasks.get().saturating_add(1));
        Outer { base: thread.base.replace(start), peak: thread.peak.replace(start), start }
    })
    .unwrap_or(Outer { base: 0, peak: 0, start: 0 })
}

/// Goes back to the outer task, which inherits what the inner one left, and its peak.
pub(super) fn end_task(outer: Outer) {
    with(|thread| {
        let shifted = thread.base.get().wrapping_sub(outer.start);
        let base = outer.base.wrapping_add(shifted);
        let inner_peak = thread.peak.get().wrapping_sub(shifted);
        thread.base.set(base);
        thread.peak.set(outer.peak.max(inner_peak).wrapping_add(shifted));
        thread.tasks.set(thread.tasks.get().saturating_sub(1));
        thread.flush();
    })
    .unwrap_or(());
}

#[inline]
fn with<T>(f: impl FnOnce(&ThreadCounters) -> T) -> Option<T> {
    THREAD.try_with(f).ok()
}

/// The size of a layout, which is never above `isize::MAX`.
#[inline]
fn signed(bytes: usize) -> i64 {
    bytes.cast_signed() as i64
}

fn unsigned(bytes: i64) -> u64 {
    bytes.max(0).cast_unsigned()
}
