//! Checkpoints: an RDD's rows put where they can be read from, and the lineage behind it cut.
//!
//! A reliable checkpoint is a folder `rdd-<id>` in the application's own folder of the checkpoint directory. It holds an
//! object file `part-00000` and so on for each partition, then `_checkpoint` with the number of partitions
//! (`metadata.rs`), `_partitioner` where keys were dealt by hash, and `_SUCCESS`, written last.

mod checkpointed;
mod metadata;
mod recovered;
mod write;

pub use checkpointed::Checkpointed;
pub use recovered::CheckpointFile;
