//! Every setting a user can change, in one typed registry.
//!
//! A [`Setting`] is a constant of its own, such as [`TASK_MAX_FAILURES`], that knows its key, what values it takes
//! and as which Rust type it is read; [`SECTIONS`] is the table of all of them, from which the reference page is
//! made. Keys are Spark's with `firesteel.` in place of `spark.` where the meaning is the same. Nothing here holds
//! the value of anything or reads a file: that is the engine's `Conf`.

mod amounts;
mod choice;
mod kind;
mod nearest;
mod registry;
mod setting;
mod table;

pub use amounts::{ByteUnit, Permille, TimeUnit};
pub use choice::{Codec, RecoveryMode, SchedulerMode, StoreCodec, WorkerSelectionPolicy};
pub use kind::{Kind, Value, ValueError};
pub use nearest::nearest;
pub use registry::{Entry, Preset, SECTIONS, Section, entries, find};
pub use setting::{Setting, SettingType, Shape};
pub use table::{
    application::*, barrier::*, exclusion::*, executors::*, files::*, master::*, memory::*, network::*,
    scheduling::*, shuffle::*, speculation::*, tasks::*, worker::*,
};
