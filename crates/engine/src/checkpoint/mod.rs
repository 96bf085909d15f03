//! Checkpoints: an RDD's rows put where they can be read from, and the lineage behind it cut.

mod checkpointed;
mod directory;
mod recovered;
mod write;

pub use checkpointed::Checkpointed;
pub(crate) use directory::CheckpointDirectory;
pub use recovered::CheckpointFile;
