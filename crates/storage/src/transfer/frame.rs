//! Messages between client and server after the handshake, as frames with raw payload between them.
//!
//! ```text
//! client: frame(Request)         server: frame(Answer) [payload] per block, in the order of the ids
//! ```
//!
//! A list of ids is never longer than [`IDS_MAX`], so that what a peer can make a reader allocate is known. Who sends
//! what when is written in the `serve` and `link` modules.

use std::fmt;

use firesteel_types::{ExecutorId, StorageLevel};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, SeqAccess, Visitor},
};

use crate::block::BlockId;

/// The longest header of an answer.
pub(super) const ANSWER_MAX: usize = 64 << 10;

/// The longest reason that an answer carries.
pub(super) const REASON_MAX: usize = 4 << 10;

/// The most ids in one request; a client cuts longer lists.
pub(super) const IDS_MAX: usize = 4096;

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request {
    /// One answer for each id comes back, in this order.
    Fetch {
        /// Whose blocks they are: a server may have those of several executors, or have been another one's.
        of: ExecutorId,
        #[serde(deserialize_with = "few_ids")]
        ids: Vec<BlockId>,
    },
    /// `Ready` or `Failed` comes back; after `Ready` the client sends `len` bytes and gets `Stored` or `Failed`.
    Upload { of: ExecutorId, id: BlockId, level: StorageLevel, len: u64 },
}

/// The server's reply for one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// `len` raw bytes follow.
    Found { len: u64 },
    /// It has no such block: asking again is of no use.
    Missing { reason: String },
    /// It has the block but cannot read or store it.
    Failed { reason: String },
    /// The bytes of an upload may come.
    Ready,
    /// The upload is stored.
    Stored,
}

/// Cuts a reason to what an answer may carry, at a character's edge.
pub(super) fn short(mut reason: String) -> String {
    if reason.len() > REASON_MAX {
        let end = (0..=REASON_MAX).rev().find(|&end| reason.is_char_boundary(end)).unwrap_or(0);
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

/// Reads ids without believing the length that the list claims.
fn few_ids<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<BlockId>, D::Error> {
    struct Ids;

    impl<'de> Visitor<'de> for Ids {
        type Value = Vec<BlockId>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(out, "at most {IDS_MAX} block ids")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut ids = Vec::new();
            while let Some(id) = list.next_element()? {
                if ids.len() == IDS_MAX {
                    return Err(A::Error::invalid_length(IDS_MAX + 1, &self));
                }
                ids.push(id);
            }
            Ok(ids)
        }
    }

    from.deserialize_seq(Ids)
}

#[cfg(test)]
mod tests {
    use firesteel_net::frame::{FrameError, decode, put, take};
    use firesteel_types::{AttemptId, PartitionId, RddId, ShuffleId};
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::block::BroadcastId;

    const OF: ExecutorId = ExecutorId(7);

    fn ids() -> impl Strategy<Value = BlockId> {
        prop_oneof![
            any::<(u32, u32, u32)>().prop_map(|(rdd, partition, generation)| BlockId::Rdd {
                rdd: RddId(rdd),
                partition: PartitionId(partition),
                generation
            }),
            any::<(u32, u32, u32)>().prop_map(|(shuffle, map, reduce)| BlockId::Shuffle {
                shuffle: ShuffleId(shuffle),
                map: PartitionId(map),
                reduce: PartitionId(reduce)
            }),
            any::<(u64, u32)>().prop_map(|(id, piece)| BlockId::Broadcast { id: BroadcastId(id), piece }),
            any::<u64>().prop_map(|id| BlockId::TaskResult(AttemptId(id))),
        ]
    }

    proptest! {
        #[test]
        fn a_request_is_read_as_it_was_written(ids in vec(ids(), 0..50)) {
            let request = Request::Fetch { of: OF, ids };
            let mut bytes = Vec::new();
            put(&mut bytes, &request);

            let read: Request = take(&mut bytes.as_slice(), 1 << 20, &mut Vec::new()).unwrap();

            prop_assert_eq!(read, request);
        }

        #[test]
        fn no_bytes_make_a_decoder_panic_or_take_more_memory_than_its_limit(
            bytes in vec(any::<u8>(), 0..300),
            limit in 0_usize..200,
        ) {
            let mut scratch = Vec::new();
            let request: Result<Request, _> = take(&mut bytes.as_slice(), limit, &mut scratch);
            prop_assert!(scratch.capacity() <= limit);
            if let Ok(Request::Fetch { ids, .. }) = request {
                prop_assert!(ids.capacity() <= limit.max(4), "{} ids of {limit} bytes", ids.capacity());
            }

            drop(take::<Answer>(&mut bytes.as_slice(), limit, &mut scratch));
            prop_assert!(scratch.capacity() <= limit);
        }

        #[test]
        fn a_request_with_wrong_bytes_inside_is_an_error_or_another_request(
            ids in vec(ids(), 1..20), at in any::<prop::sample::Index>(), wrong in any::<u8>(),
        ) {
            let mut bytes = Vec::new();
            put(&mut bytes, &Request::Fetch { of: OF, ids });
            let at = at.index(bytes.len());
            bytes[at] = wrong;

            let mut scratch = Vec::new();
            let _ = take::<Request>(&mut bytes.as_slice(), 1 << 10, &mut scratch);
            prop_assert!(scratch.capacity() <= 1 << 10);
        }
    }

    #[test]
    fn a_list_that_claims_to_be_endless_takes_no_memory_for_the_claim() {
        let mut body = vec![0_u8, 7]; // Request::Fetch of an executor
        body.extend([0xff, 0xff, 0xff, 0xff, 0x0f]); // four thousand million ids
        body.extend([3, 1]); // the only one that follows

        assert!(matches!(decode::<Request>(&body), Err(FrameError::Malformed { .. })));
    }

    #[test]
    fn more_ids_than_allowed_are_refused() {
        let request = |ids| Request::Fetch { of: OF, ids: vec![BlockId::TaskResult(AttemptId(1)); ids] };
        let read = |ids| decode::<Request>(&postcard::to_stdvec(&request(ids)).unwrap());

        assert!(read(IDS_MAX).is_ok());
        assert!(matches!(read(IDS_MAX + 1), Err(FrameError::Malformed { .. })));
    }

    #[test]
    fn a_length_above_the_limit_is_refused_before_anything_is_read() {
        let header = u32::MAX.to_le_bytes();

        let read = take::<Request>(&mut header.as_slice(), 100, &mut Vec::new());

        assert!(matches!(read, Err(FrameError::TooLong { limit: 100, .. })), "{read:?}");
    }

    #[test]
    fn long_reasons_are_cut_at_a_character() {
        let cut = short("ä".repeat(REASON_MAX));

        assert!(cut.ends_with("ä…") && cut.len() <= REASON_MAX + 3);
    }
}
