//! The adaptor of `pipe`.

use std::fmt::Display;

use firesteel_types::PartitionId;

use super::{PipeCommand, lines::Lines};
use crate::{
    rdd::{Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] of the lines that an external program prints when it is given the rows of its parent as lines. Made by
/// [`pipe`](crate::Transform::pipe).
///
/// A narrow dependency: the program runs once for each partition.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Pipe<R> {
    parent: R,
    handle: RddHandle,
    command: PipeCommand,
}

crate::rdd::debug_as_handle!(impl[R] Pipe<R>);

crate::ship!(impl[R: Ship] Pipe<R> { parent, handle; values command });

impl<R: Rdd<Item: Display>> Pipe<R> {
    #[track_caller]
    pub(in crate::narrow) fn new(parent: &R, command: PipeCommand) -> Self {
        let handle = parent.handle().derive("pipe");
        let handle =
            if command.is_empty() { handle.invalid("a command needs at least one word") } else { handle };
        Self { parent: parent.clone(), handle: handle.build(), command }
    }
}

impl<R: Rdd<Item: Display>> Rdd for Pipe<R> {
    type Item = String;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = String> + 'a {
        Lines::start(&self.command, self.handle.id(), &self.parent, partition, task)
    }
}
