//! Where map outputs are, as the driver told: [`Tables`].

use std::{sync::Arc, time::Duration};

use firesteel_scheduler::map_output::{Lookup, MapOutputClient, MapTable, OnTable, decode_table};
use firesteel_storage::transfer::PeerAddr;
use firesteel_types::{AttemptId, ExecutorId, FetchFailure, PartitionId, ShuffleId};
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

use super::answers::DriverClient;
use crate::{
    protocol::{Answer, Question, StageInputs},
    task::{MapTables, PlacedBlocks, TaskContext},
};

/// How often a task that waits for a table checks whether it was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The tables of map outputs that this executor has, and those it waits for.
pub(super) struct Tables {
    driver: Arc<DriverClient>,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    client: MapOutputClient,
    /// For the tasks that waited: a table, or why there is none.
    given: HashMap<AttemptId, Result<MapTable, String>>,
}

impl Tables {
    pub(super) fn new(driver: Arc<DriverClient>) -> Self {
        Self { driver, state: Mutex::default(), answered: Condvar::new() }
    }

    /// A task came that was launched in this epoch.
    pub(super) fn on_epoch(&self, epoch: u64) {
        self.state.lock().client.on_epoch(epoch);
    }

    /// Tables came with a stage.
    pub(super) fn offered(&self, inputs: &StageInputs) {
        self.driver.learn_shuffles(&inputs.addresses);
        for (shuffle, bytes) in &inputs.tables {
            match decode_table(bytes) {
                Ok(table) => self.state.lock().client.on_offer(inputs.epoch, *shuffle, table),
                Err(error) => tracing::warn!(%shuffle, %error, "a table of map outputs cannot be read"),
            }
        }
    }

    /// A shuffle is over.
    pub(super) fn forget(&self, shuffle: ShuffleId) {
        self.state.lock().client.forget(shuffle);
    }

    fn table(&self, shuffle: ShuffleId, task: &TaskContext) -> Result<MapTable, String> {
        let attempt = task.attempt_id();
        let mut state = self.state.lock();
        match state.client.want(shuffle, attempt) {
            Lookup::Cached(table) => return Ok(table),
            Lookup::Wait => (),
            Lookup::Ask => {
                drop(state);
                self.ask(shuffle);
                state = self.state.lock();
            }
        }
        loop {
            if let Some(given) = state.given.remove(&attempt) {
                return given;
            }
            self.answered.wait_for(&mut state, CANCEL_POLL_INTERVAL);
            if task.is_interrupted() {
                drop(state);
                task.check();
                return Err("the task was told to stop".to_owned());
            }
        }
    }

    /// Asks the driver until its answer can be given to the tasks that wait.
    fn ask(&self, shuffle: ShuffleId) {
        loop {
            let answer = match self.driver.ask(Question::MapTable(shuffle)) {
                Some(Answer::MapTable { table: Ok(bytes), .. }) => {
                    decode_table(&bytes).map_err(|error| error.to_string())
                }
                Some(Answer::MapTable { table: Err(why), .. }) => Err(why),
                _ => Err("the driver did not answer".to_owned()),
            };
            let mut state = self.state.lock();
            let given = match answer {
                Ok(table) => match state.client.on_table(shuffle, table) {
                    OnTable::AskAgain => continue,
                    OnTable::Wake { requesters, table } => (requesters, Ok(table)),
                    OnTable::Ignored => return,
                },
                Err(why) => (state.client.on_unavailable(shuffle), Err(why)),
            };
            let (requesters, table) = given;
            state.given.extend(requesters.into_iter().map(|requester| (requester, table.clone())));
            drop(state);
            self.answered.notify_all();
            return;
        }
    }
}

impl MapTables for Tables {
    fn input(
        &self,
        shuffle: ShuffleId,
        reducer: PartitionId,
        task: &TaskContext,
    ) -> Result<Vec<PlacedBlocks>, FetchFailure> {
        let table =
            self.table(shuffle, task).map_err(|why| MapOutputClient::unavailable(shuffle, reducer.0, why))?;
        let reducers = reducer.0..reducer.0 + 1;
        let input = self.state.lock().client.reducer_input(shuffle, &table, reducers)?;
        let placed = input.into_iter().map(|blocks| {
            let executor = blocks.location.executor;
            let address =
                self.driver.shuffle_address(executor).ok_or_else(|| unknown(shuffle, reducer, executor))?;
            let peer = PeerAddr::new(executor, address.host, address.port);
            Ok(PlacedBlocks { peer, host: blocks.location.host, blocks: blocks.blocks })
        });
        placed.collect()
    }
}

fn unknown(shuffle: ShuffleId, reducer: PartitionId, executor: ExecutorId) -> FetchFailure {
    MapOutputClient::unavailable(shuffle, reducer.0, format!("the address of {executor} is unknown"))
}
