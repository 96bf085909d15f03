//! Driving a fresh scheduler with a journal.

use super::{
    hash::EffectHash,
    reader::{Entry, JournalError, JournalReader},
};
use crate::{config::ConfigError, scheduler::Scheduler};

/// What a replay gave.
#[derive(Debug)]
pub struct Replayed {
    /// The scheduler as it stood at the end of the journal.
    pub scheduler: Scheduler,
    /// The hash of every effect.
    pub hash: u64,
    /// How many turns there were.
    pub turns: u64,
    /// How many effects there were.
    pub effects: u64,
}

/// Why a replay ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ReplayError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The configuration in the journal cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The effects are not those of the recording: the scheduler's code has changed, or is not deterministic.
    #[error(
        "the effects differ from the recorded ones somewhere before turn {turn}: {found:016x}, not {recorded:016x}"
    )]
    Diverged { turn: u64, found: u64, recorded: u64 },
}

/// Gives a fresh scheduler what a recorded one was given, and compares what it does.
pub fn replay(journal: &[u8]) -> Result<Replayed, ReplayError> {
    let reader = JournalReader::new(journal)?;
    let mut scheduler = Scheduler::new(reader.config().clone())?;
    let mut hash = EffectHash::default();
    let mut effects = Vec::new();
    let mut turns = 0;
    for entry in reader {
        match entry? {
            Entry::Turn(turn) => {
                effects.clear();
                scheduler.handle_all(turn.now, turn.events, &mut effects);
                hash.add(&effects);
                turns += 1;
            }
            Entry::Checkpoint { hash: recorded } => {
                let found = hash.get();
                if found != recorded {
                    return Err(ReplayError::Diverged { turn: turns, found, recorded });
                }
            }
        }
    }
    Ok(Replayed { scheduler, hash: hash.get(), turns, effects: hash.effects() })
}
