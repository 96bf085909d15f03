//! Values of a source that belong to one partition each.

use std::sync::Arc;

use firesteel_storage::codec;
use firesteel_types::PartitionId;

use crate::{
    data::Data,
    rdd::{PartitionData, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    task::{Abort, TaskContext, abort_task},
};

/// One value for each partition. A task that is shipped carries the value of its own partition and no other.
#[derive(Clone)]
pub(crate) struct PartitionValues<T>(Option<Arc<[T]>>);

impl<T: Data> PartitionValues<T> {
    pub(crate) fn new(values: Vec<T>) -> Self {
        Self(Some(values.into()))
    }

    /// What a handle needs to send the values along.
    pub(crate) fn data(&self) -> PartitionData {
        let values = self.0.clone().expect("the driver has all values");
        Arc::new(move |partition| {
            let mut out = Vec::new();
            codec::append_value(&values[partition as usize], &mut out).map_err(ShipError::Value)?;
            Ok(out)
        })
    }

    /// The value of one partition.
    pub(crate) fn get<'a>(
        &'a self,
        handle: &RddHandle,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> &'a T {
        if let Some(values) = &self.0 {
            return &values[partition.index()];
        }
        let read = task.partition_data(handle.id(), partition).map(codec::read_value);
        match read {
            Some(Ok(value)) => task.hold::<T>(value),
            Some(Err(error)) => abort_task(Abort::failed(handle.id(), error.to_string())),
            None => {
                abort_task(Abort::failed(handle.id(), format!("the data of {partition} did not come along")))
            }
        }
    }
}

impl<T> Ship for PartitionValues<T> {
    fn freeze(&self, _out: &mut Frozen) -> Result<(), ShipError> {
        Ok(())
    }

    fn thaw(_input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self(None))
    }
}
