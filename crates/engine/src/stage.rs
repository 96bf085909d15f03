//! A stage as the runtime sees it: something that computes one partition, without types.

use std::{any::Any, sync::Arc};

use firesteel_scheduler::MapOutput;

use crate::{
    executor::TaskContext,
    ship::{Entry, Frozen, Ship, ShipError, ThawFn, Thawing},
};

/// In which form values are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are, within one process.
    Typed,
    /// As bytes.
    Shipped,
}

/// What the tasks of a stage attempt run.
pub(crate) trait StageProgram: Send + Sync {
    /// Computes the task's partition.
    fn run(&self, task: &TaskContext, form: Form) -> TaskOutput;

    /// The operators in their shipped form.
    fn to_bytes(&self) -> Result<Vec<u8>, ShipError>;
}

/// What a task gives.
pub(crate) enum TaskOutput {
    /// A result for the job's caller, and its size.
    Result { value: ResultValue, size_bytes: u64 },
    /// Blocks of a shuffle, which stay where they are.
    Map(MapOutput),
}

/// The result of a task on its way to the driver.
pub(crate) enum ResultValue {
    Typed(Box<dyn Any + Send>),
    Bytes(Vec<u8>),
}

/// Appends `program` to `out` with the entry point that builds it again.
pub(crate) fn freeze_program<P: StageProgram + Ship + 'static>(program: &P) -> Result<Vec<u8>, ShipError> {
    let mut out = Frozen::default();
    let thaw: ThawFn<Arc<dyn StageProgram>> = |input| Ok(Arc::new(P::thaw(input)?) as Arc<dyn StageProgram>);
    Entry::new(thaw).freeze(&mut out)?;
    Ship::freeze(program, &mut out)?;
    Ok(out.into_bytes())
}

/// Builds a program from its shipped form.
pub(crate) fn thaw_program(bytes: &[u8]) -> Result<Arc<dyn StageProgram>, ShipError> {
    let mut input = Thawing::new(bytes);
    let entry = Entry::<Arc<dyn StageProgram>>::thaw(&mut input)?;
    entry.get()(&mut input)
}
