//! The hash of a stream of effects.

use std::fmt;

use xxhash_rust::xxh3::Xxh3;

use crate::effect::Effect;

/// A running hash over effects in their order: equal streams have equal hashes on every machine.
///
/// It hashes the encoded form of each effect, which has no padding, no pointers and one byte order.
#[derive(Clone, Default)]
pub struct EffectHash {
    state: Box<Xxh3>,
    buffer: Vec<u8>,
    effects: u64,
}

impl EffectHash {
    /// Takes in further effects.
    pub fn add(&mut self, effects: &[Effect]) {
        for effect in effects {
            self.buffer.clear();
            let buffer = std::mem::take(&mut self.buffer);
            self.buffer =
                postcard::to_extend(effect, buffer).expect("effects are plain data and memory grows");
            self.state.update(&self.buffer);
        }
        self.effects += effects.len() as u64;
    }

    /// The hash of everything so far.
    pub fn get(&self) -> u64 {
        self.state.digest()
    }

    /// How many effects were taken in.
    pub const fn effects(&self) -> u64 {
        self.effects
    }
}

impl fmt::Debug for EffectHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x} of {} effects", self.get(), self.effects)
    }
}
