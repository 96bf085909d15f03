//! Tables of map outputs for executors: [`MapTableServer`].

use bytes::Bytes;
use firesteel_scheduler::{Scheduler, map_output::encode_table};
use firesteel_types::{PartitionId, ShuffleId};
use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::driver::Driver;

/// Encoded tables, each made once for all who ask while it holds.
#[derive(Default)]
pub(super) struct MapTableServer(Mutex<HashMap<ShuffleId, (u64, Bytes)>>);

impl MapTableServer {
    /// The table of a shuffle, or why there is none.
    pub(super) fn table(&self, shuffle: ShuffleId, driver: &Driver) -> Result<Bytes, String> {
        driver.query(|scheduler| self.encoded(shuffle, scheduler))
    }

    fn encoded(&self, shuffle: ShuffleId, scheduler: &Scheduler) -> Result<Bytes, String> {
        let outputs = scheduler.map_outputs();
        let (maps, _) = outputs.shape(shuffle).ok_or_else(|| format!("{shuffle} is not known (any more)"))?;
        let epoch = outputs.epoch();
        if let Some((made_in, table)) = self.0.lock().get(&shuffle)
            && *made_in == epoch
        {
            return Ok(table.clone());
        }
        let table = encode_table((0..maps).map(|map| outputs.output(shuffle, PartitionId(map))));
        let table = Bytes::from(table);
        // One that lacks outputs grows without a new epoch.
        if outputs.is_complete(shuffle) {
            self.0.lock().insert(shuffle, (epoch, table.clone()));
        }
        Ok(table)
    }

    pub(super) fn forget(&self, shuffle: ShuffleId) {
        self.0.lock().remove(&shuffle);
    }
}
