//! What the tasks of a stage run, without types: [`StageProgram`].

use std::{any::Any, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use firesteel_scheduler::MapOutput;
use firesteel_types::RddId;

use super::TaskContext;
use crate::ship::{Entry, Frozen, Ship, ShipError, Thaw, Thawing};

/// In which form tasks exchange values with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are, within one process.
    Typed,
    /// As bytes.
    Shipped,
}

/// The operators of a stage attempt, as its tasks get them.
pub(crate) enum Program {
    /// For tasks in this process.
    Here(Arc<dyn StageProgram>),
    /// For tasks of other processes.
    Shipped(Bytes),
}

/// What the sources of a stage hold for the partitions that a task needs.
pub(crate) type TaskData = Vec<(RddId, u32, Bytes)>;

/// What the tasks of a stage attempt run.
pub(crate) trait StageProgram: Send + Sync {
    /// Computes the task's partition.
    fn run(&self, task: &TaskContext, form: Form) -> TaskOutput;

    /// The operators in their shipped form.
    fn to_bytes(&self) -> Result<Vec<u8>, ShipError>;
}

/// What a task gives.
#[derive(Serialize, Deserialize)]
pub(crate) enum TaskOutput {
    /// A result for the job's caller, and its size.
    Result { value: ResultValue, size_bytes: u64 },
    /// Blocks of a shuffle, which stay where they are.
    Map(MapOutput),
}

/// The result of a task on its way to the driver.
#[derive(Serialize, Deserialize)]
pub(crate) enum ResultValue {
    Bytes(Bytes),
    /// Too large for a message: a block of the executor, until the driver has fetched it.
    Stored,
    /// Larger than the driver takes.
    Dropped,
    /// Never leaves its process. The last one: a variant that is skipped changes the numbers of those behind it.
    #[serde(skip)]
    Typed(Box<dyn Any + Send>),
}

/// Builds a program of type `P`.
struct ThawProgram<P>(PhantomData<P>);

impl<P: StageProgram + Ship + 'static> Thaw<Arc<dyn StageProgram>> for ThawProgram<P> {
    fn thaw(input: &mut Thawing<'_>) -> Result<Arc<dyn StageProgram>, ShipError> {
        Ok(Arc::new(P::thaw(input)?))
    }
}

/// The shipped form of `program`, with the entry point that builds it again in front.
pub(crate) fn freeze_program<P: StageProgram + Ship + 'static>(program: &P) -> Result<Vec<u8>, ShipError> {
    let mut out = Frozen::default();
    Entry::of::<ThawProgram<P>>().freeze(&mut out)?;
    Ship::freeze(program, &mut out)?;
    Ok(out.into_bytes())
}

/// Builds a program from its shipped form.
pub(crate) fn thaw_program(bytes: &[u8]) -> Result<Arc<dyn StageProgram>, ShipError> {
    let mut input = Thawing::new(bytes);
    let program = Entry::<Arc<dyn StageProgram>>::thaw(&mut input)?.build(&mut input)?;
    input.finish()?;
    Ok(program)
}
