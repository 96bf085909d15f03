//! Questions to the driver: [`DriverClient`].

use std::time::Duration;

use firesteel_net::{Address, Asks, Line, SendError};
use firesteel_scheduler::BlockUpdate as PartitionUpdate;
use firesteel_storage::block::{
    Answer as BlockAnswer, BlockId, BlockUpdate, Directory, Locations, Peer, Registered, Registration,
};
use firesteel_types::ExecutorId;
use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::{
    protocol::{Addresses, Answer, Question, ToDriver},
    task::{AddressBook, DriverLine, TaskContext},
};

/// The executor's way to ask its driver, and the addresses it has heard of.
pub(super) struct DriverClient {
    pub(super) line: Line<ToDriver>,
    asks: Asks<Answer>,
    /// Where executors serve their blocks.
    blocks: Mutex<HashMap<ExecutorId, Address>>,
    /// Where their shuffle files are served.
    shuffles: Mutex<HashMap<ExecutorId, Address>>,
    timeout: Duration,
}

impl DriverClient {
    pub(super) fn new(line: Line<ToDriver>, driver: Address, timeout: Duration) -> Self {
        let blocks = Mutex::new(HashMap::from_iter([(ExecutorId::DRIVER, driver)]));
        Self { line, asks: Asks::default(), blocks, shuffles: Mutex::default(), timeout }
    }

    /// Asks, and waits for the answer; none if the driver does not give one in time.
    pub(super) fn ask(&self, question: Question) -> Option<Answer> {
        let (number, pending) = self.asks.begin();
        self.line.send(&ToDriver::Ask { number, question }).ok()?;
        let answer = pending.wait(self.timeout)?;
        match &answer {
            Answer::Commit(_) => (),
            Answer::MapTable { addresses, .. } => self.learn_shuffles(addresses),
            Answer::Locations { addresses, .. } | Answer::Peers { addresses, .. } => {
                self.blocks.lock().extend(addresses.iter().cloned());
            }
        }
        Some(answer)
    }

    /// Hears where shuffle files are served.
    pub(super) fn learn_shuffles(&self, addresses: &Addresses) {
        self.shuffles.lock().extend(addresses.iter().cloned());
    }

    /// Where the shuffle files of an executor are served, if that was heard.
    pub(super) fn shuffle_address(&self, executor: ExecutorId) -> Option<Address> {
        self.shuffles.lock().get(&executor).cloned()
    }

    /// The driver has answered.
    pub(super) fn answered(&self, number: u64, answer: Answer) {
        self.asks.answer(number, answer);
    }

    /// The driver is gone: no question will be answered.
    pub(super) fn close(&self) {
        self.asks.close();
    }

    pub(super) fn tell(&self, message: &ToDriver) -> Result<(), SendError> {
        self.line.send(message)
    }
}

impl AddressBook for DriverClient {
    fn block_address(&self, executor: ExecutorId) -> Option<Address> {
        self.blocks.lock().get(&executor).cloned()
    }
}

impl DriverLine for DriverClient {
    fn may_commit(&self, task: &TaskContext) -> bool {
        let (set, partition, number) = (task.stage(), task.partition(), task.attempt_number());
        matches!(self.ask(Question::Commit { set, partition, number }), Some(Answer::Commit(true)))
    }

    /// The block manager tells the driver of all blocks, these among them.
    fn blocks_changed(&self, _executor: ExecutorId, _blocks: Vec<PartitionUpdate>) {}
}

impl Directory for DriverClient {
    /// A refusal comes as an answer to a heartbeat.
    fn register(&self, registration: &Registration) -> Registered {
        match self.tell(&ToDriver::RegisterBlocks(registration.clone())) {
            Ok(()) => Registered::Accepted,
            Err(_) => Registered::Refused,
        }
    }

    fn report(&self, _from: ExecutorId, updates: &[BlockUpdate]) -> BlockAnswer {
        let tracked: Vec<_> = updates.iter().filter(|update| update.id.is_tracked()).copied().collect();
        if !tracked.is_empty()
            && let Err(error) = self.tell(&ToDriver::Blocks(tracked))
        {
            tracing::debug!(%error, "the driver cannot be told of blocks");
        }
        BlockAnswer::Noted
    }

    fn locations(&self, id: BlockId) -> Locations {
        match self.ask(Question::Locations(id)) {
            Some(Answer::Locations { locations, .. }) => locations,
            _ => Locations::default(),
        }
    }

    fn peers(&self, _of: ExecutorId) -> Vec<Peer> {
        match self.ask(Question::Peers) {
            Some(Answer::Peers { peers, .. }) => peers,
            _ => Vec::new(),
        }
    }
}
