//! The wire format: a prelude that never changes, then length-prefixed headers with raw payload between them.
//!
//! ```text
//! client: MAGIC version mode             6 bytes, in clear, whatever the version
//! server: MAGIC version frame(Greeting)  in clear; a refusal says why
//!         TLS begins here when the mode says so
//! client: frame(ClientHello)     server: frame(ServerHello)
//! client: frame(ClientProof)     server: frame(Verdict)
//! client: frame(Request)         server: frame(Answer) [payload] per block, in the order of the ids
//! ```
//!
//! A frame is its length as four bytes, little-endian, and that many bytes of postcard. The length is checked against
//! the reader's limit before memory is taken for it, and a list of ids is never longer than [`IDS_MAX`], so that what
//! a peer can make a reader allocate is known. Who sends what when is written in the `handshake`, `serve` and `link`
//! modules.

use std::{
    fmt,
    io::{self, Read},
};

use firesteel_types::StorageLevel;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _, SeqAccess, Visitor},
};

use crate::block::BlockId;

/// The first bytes of every connection, in both directions.
pub const MAGIC: [u8; 4] = *b"FSBT";

/// The version of everything after the prelude. Two versions do not talk to each other.
pub const VERSION: u8 = 1;

/// The longest message before a peer has proved itself.
pub(super) const HANDSHAKE_MAX: usize = 4 << 10;

/// The longest header of an answer.
pub(super) const ANSWER_MAX: usize = 64 << 10;

/// The longest reason that an answer carries.
pub(super) const REASON_MAX: usize = 4 << 10;

/// The most ids in one request; a client cuts longer lists.
pub(super) const IDS_MAX: usize = 4096;

/// The size of a nonce and of a proof.
pub(super) const PROOF_LEN: usize = 32;

/// What the client's prelude asks for after the prelude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prelude {
    pub(super) version: u8,
    pub(super) tls: bool,
}

impl Prelude {
    pub(super) const LEN: usize = 6;

    pub(super) fn encode(self) -> [u8; Self::LEN] {
        let [a, b, c, d] = MAGIC;
        [a, b, c, d, self.version, u8::from(self.tls)]
    }

    /// None when these are not the first bytes of our protocol.
    pub(super) fn decode(bytes: [u8; Self::LEN]) -> Option<Self> {
        let [a, b, c, d, version, mode] = bytes;
        ([a, b, c, d] == MAGIC && mode <= 1).then_some(Self { version, tls: mode == 1 })
    }
}

/// The server's first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Greeting {
    Welcome,
    Refused(Refusal),
}

/// Why a server closes a connection before it served anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    Busy,
    Version,
    TlsNeeded,
    TlsUnknown,
    NotAuthenticated,
    Malformed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Busy => "it has as many connections as it may have",
            Self::Version => "it speaks another version of the protocol; run the same release everywhere",
            Self::TlsNeeded => "it takes only TLS; configure TLS on this side too",
            Self::TlsUnknown => "it has no certificate; configure TLS on both sides or on neither",
            Self::NotAuthenticated => "it does not know the application, or the secret is not the same",
            Self::Malformed => "it did not understand what this side sent",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientHello {
    pub(super) app: String,
    pub(super) nonce: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerHello {
    pub(super) nonce: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientProof {
    pub(super) proof: [u8; PROOF_LEN],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Verdict {
    Accepted { proof: [u8; PROOF_LEN] },
    Refused(Refusal),
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request {
    /// One answer for each id comes back, in this order.
    Fetch {
        #[serde(deserialize_with = "few_ids")]
        ids: Vec<BlockId>,
    },
    /// `Ready` or `Failed` comes back; after `Ready` the client sends `len` bytes and gets `Stored` or `Failed`.
    Upload { id: BlockId, level: StorageLevel, len: u64 },
}

/// What the server says to one block.
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

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("a message of {len} bytes is longer than the {limit} allowed here")]
    TooLong { len: usize, limit: usize },
    #[error("a message of {len} bytes cannot be understood: {reason}")]
    Malformed { len: usize, reason: postcard::Error },
}

/// Appends `message` to `out` as a frame.
pub(super) fn put<T: Serialize>(out: &mut Vec<u8>, message: &T) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut framed = postcard::to_extend(message, std::mem::take(out))
        .expect("our messages have no lengths unknown to serde, and a Vec takes any number of bytes");
    let len = u32::try_from(framed.len() - start - 4).expect("headers are far below 4 GiB");
    framed[start..start + 4].copy_from_slice(&len.to_le_bytes());
    *out = framed;
}

/// Reads one frame of at most `limit` bytes. `scratch` is only reused memory.
pub(super) fn take<T: DeserializeOwned>(
    from: &mut impl Read,
    limit: usize,
    scratch: &mut Vec<u8>,
) -> Result<T, FrameError> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len) as usize;
    if len > limit {
        return Err(FrameError::TooLong { len, limit });
    }
    scratch.clear();
    scratch.reserve_exact(len);
    if from.take(len as u64).read_to_end(scratch)? < len {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    decode(scratch)
}

/// Decodes the whole of `bytes`: left-over bytes are an error too.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    let malformed = |reason| FrameError::Malformed { len: bytes.len(), reason };
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, _)) => Err(malformed(postcard::Error::DeserializeBadEncoding)),
        Err(reason) => Err(malformed(reason)),
    }
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
    use firesteel_types::{AttemptId, PartitionId, RddId, ShuffleId};
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::block::BroadcastId;

    fn ids() -> impl Strategy<Value = BlockId> {
        prop_oneof![
            any::<(u32, u32)>().prop_map(|(rdd, partition)| BlockId::Rdd {
                rdd: RddId(rdd),
                partition: PartitionId(partition)
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
            let request = Request::Fetch { ids };
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
            if let Ok(Request::Fetch { ids }) = request {
                prop_assert!(ids.capacity() <= limit.max(4), "{} ids of {limit} bytes", ids.capacity());
            }

            drop(take::<Answer>(&mut bytes.as_slice(), limit, &mut scratch));
            drop(take::<Greeting>(&mut bytes.as_slice(), limit, &mut scratch));
            drop(take::<ClientHello>(&mut bytes.as_slice(), limit, &mut scratch));
            drop(take::<ServerHello>(&mut bytes.as_slice(), limit, &mut scratch));
            drop(take::<ClientProof>(&mut bytes.as_slice(), limit, &mut scratch));
            drop(take::<Verdict>(&mut bytes.as_slice(), limit, &mut scratch));
            prop_assert!(scratch.capacity() <= limit);
            if let Ok(prelude) = <[u8; Prelude::LEN]>::try_from(&bytes[..bytes.len().min(Prelude::LEN)]) {
                let _ = Prelude::decode(prelude);
            }
        }

        #[test]
        fn a_request_with_wrong_bytes_inside_is_an_error_or_another_request(
            ids in vec(ids(), 1..20), at in any::<prop::sample::Index>(), wrong in any::<u8>(),
        ) {
            let mut bytes = Vec::new();
            put(&mut bytes, &Request::Fetch { ids });
            let at = at.index(bytes.len());
            bytes[at] = wrong;

            let mut scratch = Vec::new();
            let _ = take::<Request>(&mut bytes.as_slice(), 1 << 10, &mut scratch);
            prop_assert!(scratch.capacity() <= 1 << 10);
        }
    }

    #[test]
    fn a_list_that_claims_to_be_endless_takes_no_memory_for_the_claim() {
        let mut body = vec![0_u8]; // Request::Fetch
        body.extend([0xff, 0xff, 0xff, 0xff, 0x0f]); // four thousand million ids
        body.extend([3, 1]); // the only one that follows

        assert!(matches!(decode::<Request>(&body), Err(FrameError::Malformed { .. })));
    }

    #[test]
    fn more_ids_than_allowed_are_refused() {
        let request = |ids| Request::Fetch { ids: vec![BlockId::TaskResult(AttemptId(1)); ids] };
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
