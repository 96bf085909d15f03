//! The allocator of an application: it counts what each task holds.
//!
//! On by default; without the feature `allocator`, or with an allocator of the user's own, tasks are measured by what
//! their operators estimate.

use std::alloc::{GlobalAlloc, Layout};

use firesteel_storage::memory::CountingAllocator;
use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator<Mimalloc> = CountingAllocator::new(Mimalloc);

/// Mimalloc, asked for an alignment only by those few who need one.
///
/// Its functions for aligned blocks make most of them larger, and free them slower, even where every block is aligned well
/// enough.
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
