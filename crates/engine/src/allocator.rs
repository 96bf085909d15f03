//! The allocator of an application: it counts what each task holds.
//!
//! On by default; without the feature `allocator`, or with an allocator of the user's own, tasks are measured by what
//! their operators estimate.

use firesteel_storage::memory::CountingAllocator;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: CountingAllocator<MiMalloc> = CountingAllocator::new(MiMalloc);
