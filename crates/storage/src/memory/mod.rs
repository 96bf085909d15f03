//! What each task holds, measured, and how an executor's budget is divided.
//!
//! - [`CountingAllocator`] counts what every thread allocates and frees; [`meter`] reads it for the task of a thread.
//! - [`MemoryManager`] divides the budget between cached blocks (storage) and running tasks (execution). Its
//!   arithmetic is a plain struct; the manager adds the lock, the waiting and the eviction of blocks.
//! - [`blocked`] marks tasks that wait for each other, so that no task waits for their memory.
//! - [`TaskMemory`] is the share of one task. Its [`Consumer`]s are the structures that can spill to disk.
//! - [`physical_memory`] and [`resident_memory`] ask the operating system.
//!
//! Nothing here spills or evicts: a consumer is told to spill, an [`Evictor`] is asked to evict.

#[expect(unsafe_code, reason = "a global allocator is an unsafe trait; this module only counts and forwards")]
mod allocator;
mod amount;
mod batch_limit;
mod blocked;
mod conf;
mod consumer;
mod counters;
mod manager;
pub mod meter;
mod out_of_share;
mod pools;
mod system;
mod task;

pub use allocator::CountingAllocator;
pub use batch_limit::BatchLimit;
pub use blocked::{Blocked, blocked};
pub use conf::{MemoryConf, MemoryConfError};
pub use consumer::{Consumer, Reserve};
pub use counters::{flush_thread, is_counting, process_limit, process_total, set_process_limit};
pub use manager::{Evictor, MemoryManager, MemoryUsage};
pub use meter::TaskMeter;
pub use out_of_share::{ConsumerHolding, OutOfShare};
pub use system::{ResidentMemory, physical_memory, resident_memory};
pub use task::TaskMemory;
