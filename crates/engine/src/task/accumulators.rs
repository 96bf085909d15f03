//! What one task added.

use std::any::Any;

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use firesteel_storage::codec::{self, CodecError};
use firesteel_types::AccumulatorId;

use super::Accumulate;
use crate::task::Form;

/// The updates of a running task: a few accumulators, so a list is searched fastest.
#[derive(Default)]
pub(crate) struct TaskAccumulators(Mutex<Vec<(AccumulatorId, Box<dyn Update>)>>);

/// A copy of an accumulator's value that belongs to one task.
trait Update: Send {
    fn is_zero(&self) -> bool;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_value(self: Box<Self>, form: Form) -> Result<UpdateValue, CodecError>;
}

impl<A: Accumulate> Update for A {
    fn is_zero(&self) -> bool {
        Accumulate::is_zero(self)
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_value(self: Box<Self>, form: Form) -> Result<UpdateValue, CodecError> {
        match form {
            Form::Typed => Ok(UpdateValue::Typed(self)),
            Form::Shipped => {
                let mut bytes = Vec::new();
                codec::append_value(&*self, &mut bytes)?;
                Ok(UpdateValue::Bytes(bytes.into()))
            }
        }
    }
}

impl TaskAccumulators {
    /// Adds to the task's copy, which begins as `zero`.
    pub(crate) fn add<A: Accumulate>(&self, id: AccumulatorId, zero: impl FnOnce() -> A, input: A::Input) {
        // Taken out meanwhile: the user's `add` may add to other accumulators, or to the same one, which then has two
        // copies until they are merged on the driver.
        let mut update = self.take_one(id).unwrap_or_else(|| Box::new(zero()));
        let copy = update.as_any_mut().downcast_mut::<A>().expect("an id belongs to one accumulator");
        copy.add(input);
        self.0.lock().push((id, update));
    }

    fn take_one(&self, id: AccumulatorId) -> Option<Box<dyn Update>> {
        let mut updates = self.0.lock();
        let place = updates.iter().position(|(other, _)| *other == id)?;
        Some(updates.swap_remove(place).1)
    }

    /// What the task added, for its report. Copies that nothing was added to stay behind. Fails where one cannot be
    /// serialized: the driver would miss what was added to it.
    pub(crate) fn take(&self, form: Form) -> Result<Updates, CodecError> {
        let updates = std::mem::take(&mut *self.0.lock());
        let added = updates.into_iter().filter(|(_, update)| !update.is_zero());
        let values = added.map(|(id, update)| Ok((id, update.into_value(form)?)));
        values.collect::<Result<_, _>>().map(Updates)
    }
}

/// The updates that travel with a task's report.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Updates(pub(crate) Vec<(AccumulatorId, UpdateValue)>);

/// One update on its way.
#[derive(Serialize, Deserialize)]
pub(crate) enum UpdateValue {
    Bytes(Bytes),
    /// Never leaves its process. The last one: a variant that is skipped changes the numbers of those behind it.
    #[serde(skip)]
    Typed(Box<dyn Any + Send>),
}

impl Updates {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
