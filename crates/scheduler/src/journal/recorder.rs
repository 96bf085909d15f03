//! Writing a journal.

use firesteel_types::Timestamp;

use super::{
    hash::EffectHash,
    reader::{Entry, MAGIC, Turn},
};
use crate::{
    config::{ConfigError, SchedulerConfig},
    effect::Effect,
    event::Event,
    scheduler::Scheduler,
};

/// A scheduler that writes down what it is told before it acts on it.
#[derive(Debug)]
pub struct Recorder {
    scheduler: Scheduler,
    bytes: Vec<u8>,
    hash: EffectHash,
}

impl Recorder {
    /// A fresh scheduler, and a journal that begins with its configuration.
    pub fn new(config: SchedulerConfig) -> Result<Self, ConfigError> {
        let mut bytes = MAGIC.to_vec();
        append(&mut bytes, &config);
        Ok(Self { scheduler: Scheduler::new(config)?, bytes, hash: EffectHash::default() })
    }

    /// [`Scheduler::handle`], recorded.
    pub fn handle(&mut self, now: Timestamp, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handle_all(now, vec![event], &mut effects);
        effects
    }

    /// [`Scheduler::handle_all`], recorded.
    pub fn handle_all(&mut self, now: Timestamp, events: Vec<Event>, out: &mut Vec<Effect>) {
        let turn = Entry::Turn(Turn { now, events });
        append(&mut self.bytes, &turn);
        let Entry::Turn(turn) = turn else { unreachable!("it was made a turn above") };
        let before = out.len();
        self.scheduler.handle_all(now, turn.events, out);
        self.hash.add(&out[before..]);
    }

    /// Writes the hash of every effect so far into the journal, and returns it.
    pub fn checkpoint(&mut self) -> u64 {
        let hash = self.hash.get();
        append(&mut self.bytes, &Entry::Checkpoint { hash });
        hash
    }

    /// The part of the journal written since the last call.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The scheduler, to be asked but not told.
    pub const fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }
}

/// Appends a frame: the length of the body and the body.
fn append(bytes: &mut Vec<u8>, body: &impl serde::Serialize) {
    let start = bytes.len();
    bytes.extend([0; 4]);
    let buffer = std::mem::take(bytes);
    *bytes = postcard::to_extend(body, buffer).expect("entries are plain data and memory grows");
    let length = u32::try_from(bytes.len() - start - 4).expect("one turn's events stay below 4 GiB");
    bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
