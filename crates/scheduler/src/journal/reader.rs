//! The form of a journal, and reading it.
//!
//! ```text
//! journal = magic version config entry*
//! entry   = length body            length: u32, little endian, of the body
//! body    = postcard of Entry
//! ```
//!
//! A journal that was cut off in the middle of an entry is read up to there, and the reader reports it.

use serde::{Deserialize, Serialize};

use firesteel_types::Timestamp;

use crate::{config::SchedulerConfig, event::Event};

pub(super) const MAGIC: &[u8; 8] = b"FSTEELJ\x02";

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// The scheduler was given events.
    Turn(Turn),
    /// The hash of every effect up to here.
    Checkpoint {
        /// The hash.
        hash: u64,
    },
}

/// The events that the scheduler was given at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// When.
    pub now: Timestamp,
    /// What, in order.
    pub events: Vec<Event>,
}

/// Why a journal cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum JournalError {
    /// It does not begin like one.
    #[error("this is not a journal of this version; journals are read by the version that wrote them")]
    NotAJournal,
    /// It ends in the middle of an entry.
    #[error("the journal is cut off at byte {offset}; what comes before is whole")]
    CutOff { offset: usize },
    /// An entry cannot be decoded.
    #[error("the entry at byte {offset} is damaged")]
    Damaged { offset: usize },
}

/// Reads the entries of a journal one by one.
#[derive(Clone, Debug)]
pub struct JournalReader<'a> {
    bytes: &'a [u8],
    offset: usize,
    config: SchedulerConfig,
}

impl<'a> JournalReader<'a> {
    /// Reads the beginning of a journal.
    pub fn new(bytes: &'a [u8]) -> Result<Self, JournalError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(JournalError::NotAJournal)?;
        let (config, after) = frame(rest, MAGIC.len())?;
        let config =
            postcard::from_bytes(config).map_err(|_| JournalError::Damaged { offset: MAGIC.len() })?;
        Ok(Self { bytes, offset: bytes.len() - after.len(), config })
    }

    /// The configuration of the scheduler that was recorded.
    pub const fn config(&self) -> &SchedulerConfig {
        &self.config
    }

    fn read(&mut self) -> Result<Entry, JournalError> {
        let offset = self.offset;
        let (body, after) = frame(&self.bytes[offset..], offset)?;
        self.offset = self.bytes.len() - after.len();
        postcard::from_bytes(body).map_err(|_| JournalError::Damaged { offset })
    }
}

impl Iterator for JournalReader<'_> {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.bytes.len() {
            return None;
        }
        let entry = self.read();
        if entry.is_err() {
            self.offset = self.bytes.len(); // What follows a damaged entry cannot be trusted.
        }
        Some(entry)
    }
}

/// The body of the frame at the beginning of `bytes`, and what comes after it.
fn frame(bytes: &[u8], offset: usize) -> Result<(&[u8], &[u8]), JournalError> {
    let cut_off = JournalError::CutOff { offset };
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or(cut_off.clone())?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(cut_off)
}
