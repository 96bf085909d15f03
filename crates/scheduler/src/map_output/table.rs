//! The table of a shuffle's map outputs as bytes, and the driver's cache of them.
//!
//! [`TableCache`] decides whether a table must be encoded, how it travels, and which broadcast goes with a table that
//! no longer holds. Making and destroying broadcasts is left to its owner.

use std::sync::Arc;

use firesteel_types::{AttemptId, ExecutorId, Host};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::{BlockSizes, MapStatus, OutputLocation};

/// The outputs of a shuffle by map partition; none where one is missing.
pub type MapTable = Arc<[Option<MapStatus>]>;

/// A broadcast that holds a serialized table, numbered by the tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableBroadcastId(pub u64);

/// How an executor gets the table it asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ServedTable {
    /// In the reply.
    Inline { bytes: Arc<[u8]> },
    /// By a broadcast that the caller must make first.
    NewBroadcast { id: TableBroadcastId, bytes: Arc<[u8]> },
    /// By a broadcast made for an earlier request.
    Broadcast { id: TableBroadcastId },
}

/// Whether a table is at hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableLookup {
    /// It was encoded before and still holds.
    Cached(ServedTable),
    /// It must be encoded and stored.
    MustEncode,
}

/// The cached serialized table of one shuffle.
#[derive(Clone, Debug, Default)]
pub struct TableCache(Cached);

#[derive(Clone, Debug, Default)]
enum Cached {
    #[default]
    Nothing,
    /// `outdated` is set when an output it lists was replaced by another.
    Table { served: ServedTable, outdated: bool },
}

impl TableCache {
    /// What to answer to an executor that asks for the table.
    pub fn lookup(&self) -> TableLookup {
        match &self.0 {
            Cached::Nothing => TableLookup::MustEncode,
            Cached::Table { served, .. } => TableLookup::Cached(served.clone()),
        }
    }

    /// Keeps a table that was just encoded, and returns how it travels: by the broadcast `id` if it has at least
    /// `min_broadcast_bytes`, else in the reply.
    pub fn store(&mut self, bytes: Vec<u8>, min_broadcast_bytes: u64, id: TableBroadcastId) -> ServedTable {
        let bytes: Arc<[u8]> = bytes.into();
        let is_large = bytes.len() as u64 >= min_broadcast_bytes;
        let (kept, served) = if is_large {
            (ServedTable::Broadcast { id }, ServedTable::NewBroadcast { id, bytes })
        } else {
            (ServedTable::Inline { bytes: bytes.clone() }, ServedTable::Inline { bytes })
        };
        assert!(matches!(self.0, Cached::Nothing), "a table is stored only after a lookup found none");
        self.0 = Cached::Table { served: kept, outdated: false };
        served
    }

    /// Notes that an output of the table was replaced. The table can still be used, since the output it lists was
    /// not lost, but it must go at the next loss, which may be that output's.
    pub fn mark_outdated(&mut self) {
        if let Cached::Table { outdated, .. } = &mut self.0 {
            *outdated = true;
        }
    }

    /// Whether an output of the table was replaced.
    pub fn is_outdated(&self) -> bool {
        matches!(self.0, Cached::Table { outdated: true, .. })
    }

    /// Drops the table and returns the broadcast that must be destroyed with it, if it had one.
    #[must_use = "the broadcast must be destroyed"]
    pub fn invalidate(&mut self) -> Option<TableBroadcastId> {
        match std::mem::take(&mut self.0) {
            Cached::Table {
                served: ServedTable::Broadcast { id } | ServedTable::NewBroadcast { id, .. },
                ..
            } => Some(id),
            Cached::Table { served: ServedTable::Inline { .. }, .. } | Cached::Nothing => None,
        }
    }
}

/// A table as it is written: each place once, since many outputs share one.
#[derive(Serialize, Deserialize)]
struct WrittenTable {
    places: Vec<OutputLocation>,
    outputs: Vec<Option<WrittenOutput>>,
}

#[derive(Serialize, Deserialize)]
struct WrittenOutput {
    place: u32,
    attempt: AttemptId,
    sizes: BlockSizes,
    checksum: Option<u64>,
}

/// The table of `outputs` as bytes.
pub fn encode_table<'a>(outputs: impl Iterator<Item = Option<&'a MapStatus>>) -> Vec<u8> {
    let mut places: IndexSet<(ExecutorId, &Host), FxBuildHasher> = IndexSet::default();
    let outputs = outputs
        .map(|output| {
            let status = output?;
            let (place, _) = places.insert_full((status.executor, &status.host));
            let (attempt, sizes, checksum) = (status.attempt, status.sizes.clone(), status.checksum);
            Some(WrittenOutput { place: place as u32, attempt, sizes, checksum })
        })
        .collect();
    let places =
        places.into_iter().map(|(executor, host)| OutputLocation { executor, host: host.clone() }).collect();
    postcard::to_stdvec(&WrittenTable { places, outputs })
        .expect("plain data can always be written to memory")
}

/// The table that was written as `bytes`.
pub fn decode_table(bytes: &[u8]) -> Result<MapTable, TableError> {
    let table: WrittenTable = postcard::from_bytes(bytes)?;
    let read = |output: WrittenOutput| {
        let index = output.place as usize;
        let OutputLocation { executor, host } =
            table.places.get(index).cloned().ok_or(TableError::UnknownPlace { place: output.place })?;
        let WrittenOutput { attempt, sizes, checksum, .. } = output;
        Ok(MapStatus { executor, host, attempt, sizes, checksum })
    };
    table.outputs.into_iter().map(|output| output.map(read).transpose()).collect()
}

/// Why a table of map outputs cannot be read. The task that asked must ask again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum TableError {
    /// The bytes are not a table.
    #[error("the table of map outputs cannot be decoded")]
    Malformed(#[from] postcard::Error),
    /// An output is at a place that the table does not list.
    #[error("the table of map outputs has no place {place}")]
    UnknownPlace { place: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_output::SizeLimits;

    fn status(executor: u32, host: &str) -> MapStatus {
        MapStatus {
            executor: ExecutorId(executor),
            host: host.into(),
            attempt: AttemptId(u64::from(executor) + 10),
            sizes: BlockSizes::from_bytes(&[0, 7], &SizeLimits::default()),
            checksum: Some(3),
        }
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table = [Some(status(1, "a")), None, Some(status(2, "a")), Some(status(1, "a"))];

        let bytes = encode_table(table.iter().map(Option::as_ref));

        assert_eq!(decode_table(&bytes).as_deref(), Ok(&table[..]));
    }

    #[test]
    fn damaged_tables_are_errors() {
        let output =
            WrittenOutput { place: 1, attempt: AttemptId(0), sizes: BlockSizes::empty(1), checksum: None };
        let table = WrittenTable { places: Vec::new(), outputs: vec![Some(output)] };
        let bytes = postcard::to_stdvec(&table).unwrap();

        assert_eq!(decode_table(&bytes), Err(TableError::UnknownPlace { place: 1 }));
        assert!(matches!(decode_table(&bytes[..2]), Err(TableError::Malformed(_))));
    }

    /// Behaviours: MOT-008.
    #[test]
    fn a_table_goes_by_broadcast_from_exactly_the_minimum_size_on() {
        let id = TableBroadcastId(4);
        let (mut small, mut large) = (TableCache::default(), TableCache::default());

        let in_reply = small.store(vec![1; 99], 100, id);
        let by_broadcast = large.store(vec![1; 100], 100, id);

        assert_eq!(in_reply, ServedTable::Inline { bytes: vec![1; 99].into() });
        assert_eq!(by_broadcast, ServedTable::NewBroadcast { id, bytes: vec![1; 100].into() });
        assert_eq!(small.lookup(), TableLookup::Cached(in_reply));
        assert_eq!(large.lookup(), TableLookup::Cached(ServedTable::Broadcast { id }));
        assert_eq!((small.invalidate(), large.invalidate()), (None, Some(id)));
        assert_eq!((small.invalidate(), large.invalidate()), (None, None));
        assert_eq!(large.lookup(), TableLookup::MustEncode);
    }
}
