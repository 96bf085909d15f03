//! What a thread of the fetcher does: request after request, each block looked at and handed on.

use std::{
    collections::VecDeque,
    fs::File,
    hash::Hasher,
    io::{self, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    error::{Diagnosis, FetchCause, FetchError},
    fetcher::{Arrival, Shared, Verify},
    plan::{Request, Wanted},
};
use crate::{
    block::BlockId,
    transfer::{Destination, Incoming, Payload, PeerAddr, Sink, TransferError},
};

/// Fetches until no request waits.
pub(super) fn run(shared: &Arc<Shared>) {
    while let Some(Request { peer, blocks }) = shared.next_request() {
        let ids: Vec<_> = blocks.iter().map(|block| block.id).collect();
        let mut delivery = Delivery { shared, peer: &peer, wanted: blocks.into(), file: None };
        let fetched = catch_unwind(AssertUnwindSafe(|| shared.transport.fetch(&peer, &ids, &mut delivery)));
        // A reader waits for every block, so also one that the transport forgot must come to an end.
        let reason = if fetched.is_ok() { "it returned" } else { "it panicked" };
        while let Some(forgotten) = delivery.wanted.pop_front() {
            delivery.fail(&forgotten, FetchCause::Unanswered { reason: reason.to_owned() });
        }
        shared.request_done();
    }
}

/// Takes the blocks of one request.
struct Delivery<'a> {
    shared: &'a Shared,
    peer: &'a PeerAddr,
    /// The blocks that have not been delivered.
    wanted: VecDeque<Wanted>,
    /// Where the block that comes now goes, when it is large.
    file: Option<Arc<File>>,
}

impl Sink for Delivery<'_> {
    fn place(&mut self, _: &BlockId, len: u64) -> io::Result<Destination> {
        if len <= self.shared.conf.limits.max_block_in_memory {
            self.file = None;
            return Ok(Destination::Memory);
        }
        let file = Arc::new((self.shared.conf.files)()?);
        self.file = Some(file.clone());
        Ok(Destination::Writer(Box::new(file)))
    }

    fn deliver(&mut self, id: BlockId, result: Result<Incoming, TransferError>) {
        let Some(at) = self.wanted.iter().position(|block| block.id == id) else {
            tracing::error!(block = %id, peer = %self.peer, "a block that was not asked for is dropped");
            return;
        };
        let wanted = self.wanted.remove(at).expect("its place was just found");
        match (result, self.file.take()) {
            (Ok(Incoming::Bytes(bytes)), _) => self.check(wanted, Payload::Bytes(bytes)),
            (Ok(Incoming::Written { len }), Some(file)) => {
                self.check(wanted, Payload::File { file, offset: 0, len });
            }
            (Ok(Incoming::Written { .. }), None) => {
                let reason = "it was written, but no file was given for it".to_owned();
                self.fail(&wanted, FetchCause::Unanswered { reason });
            }
            (Err(error), _) => self.fail(&wanted, error.into()),
        }
    }

    fn is_wanted(&self) -> bool {
        self.shared.is_wanted()
    }
}

impl Delivery<'_> {
    fn check(&self, wanted: Wanted, data: Payload) {
        if data.is_empty() {
            return self.fail(&wanted, FetchCause::Empty { expected: wanted.size });
        }
        let Err(reason) = inspect(&self.shared.conf.verify, &wanted.id, &data) else {
            let (peer, id, held_bytes) = (self.peer.clone(), wanted.id, wanted.size);
            return self.shared.arrive(self.peer, Ok(Arrival { peer, id, data, held_bytes }));
        };
        let now = fingerprint(&data);
        match wanted.seen_corrupt {
            None => {
                tracing::warn!(block = %wanted.id, peer = %self.peer, reason, "a corrupt block is fetched again");
                self.shared.again(self.peer.clone(), Wanted { seen_corrupt: Some(now), ..wanted });
            }
            Some(before) => {
                let diagnosis = match (before, now) {
                    (Some(before), Some(now)) if before == now => Diagnosis::Disk,
                    (Some(_), Some(_)) => Diagnosis::Network,
                    (None, _) | (_, None) => Diagnosis::Unknown,
                };
                self.fail(&wanted, FetchCause::Corrupt { reason, diagnosis });
            }
        }
    }

    fn fail(&self, wanted: &Wanted, cause: FetchCause) {
        self.shared.release(wanted.size);
        let error = FetchError::Block { peer: self.peer.clone(), block: wanted.id, cause };
        self.shared.arrive(self.peer, Err(error));
    }
}

/// Asks the caller's function, whose panic is a verdict too: the reader must not wait for a thread that is gone.
pub(super) fn inspect(verify: &Verify, id: &BlockId, data: &Payload) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| verify(id, data)))
        .unwrap_or_else(|_| Err("the check of its bytes panicked".to_owned()))
}

/// A number by which two corrupt copies are compared; none when the bytes cannot be read.
fn fingerprint(data: &Payload) -> Option<u64> {
    let mut hasher = std::hash::DefaultHasher::new();
    let mut reader = data.reader();
    let mut buffer = [0; 16 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Some(hasher.finish()),
            Ok(read) => hasher.write(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
