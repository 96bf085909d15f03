//! Results that wait on their executors to be fetched: [`ResultFetcher`].

use std::{
    io,
    sync::{Arc, OnceLock, Weak, mpsc},
    thread,
};

use firesteel_net::Address;
use firesteel_scheduler::{Event, FetchedResult};
use firesteel_storage::{block::BlockId, transfer::PeerAddr};
use firesteel_types::{AttemptId, ExecutorId};
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::links::Links;
use crate::{
    driver::{Driver, Incoming, Payload},
    protocol::{Stored, ToExecutor},
    task::{LateClient, ResultValue, fetch_one},
};

/// How many results are fetched at a time.
const THREADS: usize = 4;

/// Fetches results on threads of its own, so that no turn waits for one.
pub(super) struct ResultFetcher {
    links: Arc<Links>,
    client: Arc<LateClient>,
    /// Who has the result of an attempt, and what else its report brought.
    stored: Mutex<HashMap<AttemptId, (ExecutorId, Option<Payload>)>>,
    wanted: Mutex<Option<mpsc::Sender<AttemptId>>>,
    driver: OnceLock<Weak<Driver>>,
}

impl ResultFetcher {
    pub(super) fn new(links: Arc<Links>, client: Arc<LateClient>) -> Self {
        let (stored, wanted) = (Mutex::default(), Mutex::default());
        Self { links, client, stored, wanted, driver: OnceLock::new() }
    }

    /// Starts the threads.
    pub(super) fn start(self: &Arc<Self>, driver: &Arc<Driver>) -> io::Result<()> {
        self.driver.get_or_init(|| Arc::downgrade(driver));
        let (sender, wanted) = mpsc::channel();
        let wanted = Arc::new(Mutex::new(wanted));
        for number in 0..THREADS {
            let (fetcher, wanted) = (self.clone(), wanted.clone());
            let thread = thread::Builder::new().name(format!("firesteel-result-{number}"));
            thread.spawn(move || {
                while let Ok(attempt) = next(&wanted) {
                    fetcher.fetch(attempt);
                }
            })?;
        }
        *self.wanted.lock() = Some(sender);
        Ok(())
    }

    /// An attempt left its result on its executor.
    pub(super) fn stored(&self, attempt: AttemptId, executor: ExecutorId, payload: Option<Payload>) {
        self.stored.lock().insert(attempt, (executor, payload));
    }

    /// The scheduler wants the result.
    pub(super) fn want(&self, attempt: AttemptId) {
        if let Some(wanted) = &*self.wanted.lock() {
            // Without threads the application is over.
            let _ = wanted.send(attempt);
        }
    }

    /// The result is not needed.
    pub(super) fn give_up(&self, attempt: AttemptId) {
        let stored = self.stored.lock().remove(&attempt);
        if let Some((executor, _)) = stored {
            self.links.send(executor, &ToExecutor::Remove(Stored::Result(attempt)));
        }
    }

    fn fetch(&self, attempt: AttemptId) {
        let stored = self.stored.lock().remove(&attempt);
        let Some(driver) = self.driver.get().and_then(Weak::upgrade) else { return };
        let fetched = stored.and_then(|(executor, payload)| {
            let Address { host, port } = self.links.block_address(executor)?;
            let peer = PeerAddr::new(executor, host, port);
            let fetched = fetch_one(self.client.get()?, &peer, BlockId::TaskResult(attempt));
            self.links.send(executor, &ToExecutor::Remove(Stored::Result(attempt)));
            match fetched {
                Ok(bytes) => Some((bytes, payload)),
                Err(error) => {
                    tracing::warn!(%attempt, %error, "a result cannot be fetched");
                    None
                }
            }
        });
        let (outcome, payload) = match fetched {
            Some((bytes, payload)) => {
                let updates = payload.map(|payload| payload.updates).unwrap_or_default();
                let result = Some(ResultValue::Bytes(bytes));
                (FetchedResult::Fetched, Some((attempt, Payload { result, updates })))
            }
            None => (FetchedResult::Lost, None),
        };
        driver.post(Incoming { event: Event::ResultFetched { attempt, outcome }, payload });
    }

    /// Lets the threads end.
    pub(super) fn stop(&self) {
        self.wanted.lock().take();
        self.stored.lock().clear();
    }
}

fn next(wanted: &Mutex<mpsc::Receiver<AttemptId>>) -> Result<AttemptId, mpsc::RecvError> {
    wanted.lock().recv()
}
