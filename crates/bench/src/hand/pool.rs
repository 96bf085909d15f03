//! A pool of two threads that live as long as it does.

use std::{
    sync::mpsc::{self, Sender},
    thread,
};

use super::THREADS;

/// Something to be done on a thread of a pool.
pub type Task<T> = Box<dyn FnOnce() -> T + Send>;

/// Threads that wait for tasks.
#[derive(Debug)]
pub struct Pool {
    threads: Vec<Sender<Box<dyn FnOnce() + Send>>>,
}

impl Pool {
    /// Starts the threads. They end when the pool is dropped.
    #[expect(clippy::new_without_default, reason = "it starts threads")]
    pub fn new() -> Self {
        let threads = (0..THREADS).map(|_| {
            let (sender, tasks) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
            thread::spawn(move || tasks.into_iter().for_each(|task| task()));
            sender
        });
        Self { threads: threads.collect() }
    }

    /// Runs tasks, dealt to the threads in turn, and gives what they give, in order.
    pub fn run<T: Send + 'static>(&self, tasks: Vec<Task<T>>) -> Vec<T> {
        let (sender, results) = mpsc::channel();
        let count = tasks.len();
        for (index, task) in tasks.into_iter().enumerate() {
            let sender = sender.clone();
            let send = Box::new(move || drop(sender.send((index, task()))));
            self.threads[index % THREADS].send(send).expect("threads live as long as the pool");
        }
        drop(sender);
        let mut done: Vec<Option<T>> = (0..count).map(|_| None).collect();
        for (index, value) in results {
            done[index] = Some(value);
        }
        done.into_iter().map(|value| value.expect("every task sends its result")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        let pool = Pool::new();
        let tasks = (0..100_u64).map(|x| Box::new(move || x * x) as Task<u64>).collect();

        assert_eq!(pool.run(tasks), (0..100).map(|x| x * x).collect::<Vec<_>>());
    }
}
