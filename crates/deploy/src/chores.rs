//! A thread for what may take long and must be done in order: [`Chores`].

use std::{
    sync::mpsc::{Sender, channel},
    thread::JoinHandle,
};

use crate::error::{DeployError, spawn};

type Chore = Box<dyn FnOnce() + Send>;

/// Does one thing after the other, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Chores {
    todo: Option<Sender<Chore>>,
    thread: Option<JoinHandle<()>>,
}

impl Chores {
    pub(crate) fn start(name: &'static str) -> Result<Self, DeployError> {
        let (todo, chores) = channel::<Chore>();
        let thread = spawn(name, move || chores.into_iter().for_each(|chore| chore()))?;
        Ok(Self { todo: Some(todo), thread: Some(thread) })
    }

    /// Has `chore` done after those before it.
    pub(crate) fn add(&self, chore: impl FnOnce() + Send + 'static) {
        if let Some(todo) = &self.todo
            && todo.send(Box::new(chore)).is_err()
        {
            tracing::error!("a chore panicked, and those after it are not done");
        }
    }
}

impl Drop for Chores {
    /// Waits until everything is done.
    fn drop(&mut self) {
        self.todo = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("a chore panicked");
        }
    }
}
