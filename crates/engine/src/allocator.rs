//! The allocator of an application, which counts what each task holds: [`Allocator`].
//!
//! The library offers it and the program installs it, by `#[firesteel::main]` or by `firesteel::allocator!()`. In a
//! program without it tasks are measured by what their operators estimate.

use std::alloc::{GlobalAlloc, Layout};

use firesteel_storage::memory::CountingAllocator;
use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};

/// A global allocator that counts what each task holds, over mimalloc.
///
/// [`#[firesteel::main]`](crate::main) and [`firesteel::allocator!()`](crate::allocator) install it. A program that
/// wants another name for the static can write the two lines itself:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: firesteel::Allocator = firesteel::Allocator::new();
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Allocator(CountingAllocator<Mimalloc>);

impl Allocator {
    /// The allocator; all of them are the same.
    #[expect(clippy::new_without_default, reason = "a global allocator is made in a static only")]
    pub const fn new() -> Self {
        Self(CountingAllocator::new(Mimalloc))
    }
}

// SAFETY: every call is passed on as it is, so the contract of the inner allocator is the contract of this one.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { self.0.dealloc(pointer, layout) };
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { self.0.realloc(pointer, layout, new_size) }
    }
}

/// Mimalloc, asked for an alignment only by those few who need one.
///
/// Its functions for aligned blocks make most of them larger, and free them slower, even where every block is aligned well
/// enough.
#[derive(Clone, Copy, Debug)]
struct Mimalloc;

/// Every block of mimalloc is aligned so.
const ALIGN: usize = size_of::<usize>();

// SAFETY: blocks come from mimalloc and go back to it, which knows their sizes. Each is aligned as its layout asks:
// mimalloc aligns every block to a word, and those that need more are made with their alignment, also when they are
// moved. Null is returned where mimalloc returns it. Nothing unwinds.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size may be asked for, and the alignment of a layout is a power of two.
        unsafe {
            if layout.align() <= ALIGN {
                mi_malloc(layout.size()).cast()
            } else {
                mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe {
            if layout.align() <= ALIGN {
                mi_zalloc(layout.size()).cast()
            } else {
                mi_zalloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        // SAFETY: the caller got `pointer` from this allocator, hence from mimalloc.
        unsafe { mi_free(pointer.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as in `alloc` and `dealloc`.
        unsafe {
            if layout.align() <= ALIGN {
                mi_realloc(pointer.cast(), new_size).cast()
            } else {
                mi_realloc_aligned(pointer.cast(), new_size, layout.align()).cast()
            }
        }
    }
}

// Not in mimalloc's interface: hence a fixed version.
unsafe extern "C" {
    fn _mi_auto_process_init();
}

/// Sets the allocator up, for code that runs before `main`.
///
/// Its own constructor may come after ours. Until then it takes every larger block from the system and gives it back when
/// it is freed, and does not hear of threads that end.
pub(crate) fn set_up() {
    // SAFETY: this is what the allocator's constructor calls, on the same thread; to call it twice does nothing.
    unsafe { _mi_auto_process_init() };
}
