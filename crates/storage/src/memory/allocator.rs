//! [`CountingAllocator`]: forwards every call to another allocator and counts on the way.
//!
//! The counts are in [`counters`](super::counters). The only unsafe code of the crate: an allocator is an unsafe trait,
//! and a refusal has to be reported without the locks and buffers of the standard library.

use std::{
    alloc::{GlobalAlloc, Layout},
    fmt::{self, Write as _},
    fs::File,
    io::Write as _,
    mem::ManuallyDrop,
    os::fd::FromRawFd,
    ptr,
};

use super::counters;

/// An allocator that knows what each thread holds.
///
/// Costs about a nanosecond per call. Install it in the binary:
///
/// ```
/// use std::alloc::System;
/// use firesteel_storage::memory::{CountingAllocator, TaskMeter, meter};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);
///
/// fn main() {
///     let _task = TaskMeter::start();
///     let rows = vec![0_u8; 1000];
///     assert_eq!(meter::live(), 1000);
///     drop(rows);
///     assert_eq!((meter::live(), meter::peak()), (0, 1000));
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator<A>(A);

impl<A> CountingAllocator<A> {
    /// Counts what `inner` allocates.
    pub const fn new(inner: A) -> Self {
        Self(inner)
    }
}

// SAFETY: every pointer comes from `A` and goes back to `A` with the layout it was made with, so the contract of `A` is
// the contract of this allocator. Null is returned where `A` returns it, and where the process's limit refuses, which
// the trait allows. Counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !counters::grow(layout.size()) {
            return refuse(layout.size());
        }
        // SAFETY: the caller keeps the contract of `alloc` for this layout.
        let pointer = unsafe { self.0.alloc(layout) };
        if pointer.is_null() {
            counters::shrink(layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !counters::grow(layout.size()) {
            return refuse(layout.size());
        }
        // SAFETY: the caller keeps the contract of `alloc_zeroed` for this layout.
        let pointer = unsafe { self.0.alloc_zeroed(layout) };
        if pointer.is_null() {
            counters::shrink(layout.size());
        }
        pointer
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller got `pointer` from this allocator with this layout, hence from `A` with this layout.
        unsafe { self.0.dealloc(pointer, layout) };
        counters::shrink(layout.size());
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let growth = new_size.saturating_sub(layout.size());
        if !counters::grow(growth) {
            return refuse(growth);
        }
        // SAFETY: as for `dealloc`; the caller also promises that `new_size` is valid for this alignment.
        let moved = unsafe { self.0.realloc(pointer, layout, new_size) };
        if moved.is_null() {
            counters::shrink(growth);
        } else {
            counters::shrink(layout.size().saturating_sub(new_size));
        }
        moved
    }
}

/// Reports on standard error why there is no memory, and returns null.
#[cold]
fn refuse(bytes: usize) -> *mut u8 {
    let mut line = Line { text: [0; 320], len: 0 };
    // A line that is too long for the buffer is cut: better than none.
    let _ = writeln!(
        line,
        "firesteel: refused to allocate {bytes} bytes: the process holds {} bytes and may hold {}; \
         raise firesteel.executor.memory (firesteel.memory.limit in local mode) or use more partitions",
        counters::process_total(),
        counters::process_limit(),
    );
    // SAFETY: descriptor 2 is standard error from start to end of a process; `ManuallyDrop` keeps it open.
    let stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    let _ = (&*stderr).write_all(&line.text[..line.len]);
    ptr::null_mut()
}

/// Text on the stack.
struct Line {
    text: [u8; 320],
    len: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = &mut self.text[self.len..];
        let taken = part.len().min(room.len());
        room[..taken].copy_from_slice(&part.as_bytes()[..taken]);
        self.len += taken;
        if taken == part.len() { Ok(()) } else { Err(fmt::Error) }
    }
}
