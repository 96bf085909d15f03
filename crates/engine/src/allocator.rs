//! The allocator of an application: it counts what each task holds.
//!
//! On by default; without the feature `allocator`, or with an allocator of the user's own, tasks are measured by what
//! their operators estimate.

use firesteel_storage::memory::CountingAllocator;
// Linked for `_mi_auto_process_init`, which is not in its interface: hence a fixed version.
use libmimalloc_sys as _;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: CountingAllocator<MiMalloc> = CountingAllocator::new(MiMalloc);

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
