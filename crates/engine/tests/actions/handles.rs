//! Actions in the background.

use std::{
    cmp::Ordering,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, mpsc},
    task::{Context as PollContext, Poll, Wake, Waker},
    thread::{self, Thread, ThreadId},
    time::Duration,
};

use firesteel::{JobState, prelude::*};

use super::{
    gate::{Gate, until},
    support::each_backend,
};

/// Runs a future on this thread, which sleeps until it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut PollContext::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Behaviours: CANC-012.
#[test]
fn a_running_action_is_cancelled_with_its_reason() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let handle = ctx.range_into(0..4, 4).with(gate.clone()).for_each_async(|gate, _| gate.pass());
        gate.until_reached();

        handle.cancel_because("it takes too long");

        let error = handle.wait().unwrap_err().to_string();
        assert!(error.contains("cancelled: it takes too long"), "{error}");
        assert_eq!(ctx.range(0..10).count().unwrap(), 10, "the slots are free again");
    });
}

/// Behaviours: CANC-012.
#[test]
fn cancelling_an_endless_stage_ends_it() {
    each_backend(|ctx| {
        let handle = ctx.range_into(0_u64..u64::MAX, 1).filter(|x| *x == u64::MAX).count_async();

        handle.cancel();

        assert!(handle.wait().unwrap_err().to_string().contains("cancelled by its handle"));
    });
}

/// Behaviours: CANC-012.
#[test]
fn cancelling_a_take_in_its_second_job_runs_no_third() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..50, 50).with(gate.clone()).filter(|gate, x| {
            if *x > 0 {
                gate.pass();
            }
            false
        });
        let handle = rdd.take_async(1);
        gate.until_reached();
        assert_eq!(handle.job_ids().len(), 2, "one job after the other");

        handle.cancel_because("found elsewhere");

        until(|| handle.is_finished());
        assert_eq!(handle.job_ids().len(), 2);
        assert_eq!(handle.state(), JobState::Failed);
        assert!(handle.wait().unwrap_err().to_string().contains("found elsewhere"));
    });
}

#[test]
fn cancelling_an_action_that_is_over_changes_nothing() {
    each_backend(|ctx| {
        let handle = ctx.range(0..10).count_async();
        until(|| handle.is_finished());

        handle.cancel();

        assert_eq!(handle.state(), JobState::Succeeded);
        assert_eq!(handle.wait().unwrap(), 10);
    });
}

/// Behaviours: CANC-012.
#[test]
fn waiting_with_a_limit_gives_the_handle_back() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..4, 2).with(gate.clone()).map(|gate, x| {
            gate.pass();
            x
        });
        let handle = rdd.count_async();

        let handle = handle.wait_timeout(Duration::ZERO).expect_err("the gate is shut");
        let handle = handle.wait_timeout(Duration::from_millis(1)).expect_err("the gate is shut");
        assert_eq!(handle.state(), JobState::Running);
        gate.open();

        let count = handle.wait_timeout(Duration::MAX).expect("no limit");
        assert_eq!(count.unwrap(), 4);
    });
}

#[test]
fn progress_counts_the_tasks_that_are_done() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..4, 4).with(gate.clone()).map(|gate, x| {
            if x == 3 {
                gate.pass();
            }
            x
        });
        let handle = rdd.count_async();

        until(|| handle.progress().tasks_done == 3);
        let progress = handle.progress();
        assert_eq!((progress.jobs, progress.tasks, progress.running_stages), (1, 4, 1));
        gate.open();

        until(|| handle.is_finished());
        let progress = handle.progress();
        assert_eq!((progress.tasks_done, progress.running_stages), (4, 0));
        assert_eq!(handle.wait().unwrap(), 4);
    });
}

/// Behaviours: CANC-012.
#[test]
fn callbacks_run_once_when_the_action_is_over_and_may_ask_and_start_more() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..4, 2).with(gate.clone()).map(|gate, x| {
            gate.pass();
            x
        });
        let handle = rdd.count_async();
        let (sender, receiver) = mpsc::channel();
        let (early, context) = (sender.clone(), ctx.clone());
        handle.on_complete(move || {
            // Asks the scheduler for the parallelism, and starts a job.
            let next = context.range(0..context.default_parallelism()).count_async();
            early.send(next).expect("the test listens");
        });
        handle.on_complete(|| panic!("a callback's own fault"));
        assert!(receiver.try_recv().is_err(), "it is not over");
        gate.open();

        assert_eq!(receiver.recv().unwrap().wait().unwrap(), u64::from(ctx.default_parallelism()));
        let late = ctx.range(0..3).count_async();
        until(|| handle.is_finished());
        handle.on_complete(move || sender.send(late).expect("the test listens"));
        assert_eq!(receiver.recv().unwrap().wait().unwrap(), 3, "at once when it is over");
        assert!(receiver.recv().is_err(), "each runs once");
        assert_eq!(handle.wait().unwrap(), 4, "a panic in a callback goes no further");
    });
}

#[test]
fn a_poll_never_computes_the_value_nor_writes_checkpoints() {
    static MERGED_BY: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

    /// Rows that note which thread compares them on the driver.
    #[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    struct Row(u64);
    impl Ord for Row {
        fn cmp(&self, other: &Self) -> Ordering {
            if TaskContext::current().is_none() {
                MERGED_BY.lock().unwrap().push(thread::current().id());
            }
            self.0.cmp(&other.0)
        }
    }
    impl PartialOrd for Row {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        ctx.set_checkpoint_dir(folder.path().to_str().unwrap()).unwrap();
        ctx.set_job_group("tops", "the largest rows", false);
        let rows = ctx.range_into(0..100, 4).map(Row).checkpoint().unwrap();
        let waker = Waker::noop();
        let here = thread::current().id();

        // Polled when it is over; polled before, and told when the value is there; and waited for after a poll.
        let mut late = rows.top_async(2);
        until(|| late.is_finished());
        assert!(Pin::new(&mut late).poll(&mut PollContext::from_waker(waker)).is_pending());
        let mut waited = rows.top_async(2);
        assert!(Pin::new(&mut waited).poll(&mut PollContext::from_waker(waker)).is_pending());

        for top in [block_on(late), waited.wait(), block_on(rows.top_async(2))] {
            assert_eq!(top.unwrap().into_iter().map(|row| row.0).collect::<Vec<_>>(), [99, 98]);
        }
        let mut merged_by = MERGED_BY.lock().unwrap();
        assert!(!merged_by.is_empty() && !merged_by.contains(&here));
        merged_by.clear();
        assert!(rows.is_checkpointed());
    });
}

#[test]
fn a_panic_while_a_polled_value_is_computed_is_the_error_of_the_action() {
    each_backend(|ctx| {
        let failed = ctx.range_into(0..4_u64, 2).reduce_async(|one, two| {
            assert!(TaskContext::current().is_some(), "not on the driver");
            one + two
        });

        let error = block_on(failed).unwrap_err().to_string();
        assert!(error.contains("not on the driver") && error.contains("handles.rs"), "{error}");
    });
}

#[test]
fn sorted_and_numbered_rdds_come_without_a_wait() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let pairs = ctx.range_into(0..40_u64, 4).with(gate.clone()).map(|gate, x| {
            gate.pass();
            (39 - x, x)
        });

        let sorted = pairs.sort_by_key_async(Order::Ascending);
        let by_row = pairs.sort_by_async(|(_, row)| *row, Order::Descending);
        let numbered = pairs.zip_with_index_async();
        assert!(!sorted.is_finished() && !by_row.is_finished() && !numbered.is_finished());
        gate.open();

        assert!(block_on(sorted).unwrap().keys().collect().unwrap().into_iter().eq(0..40));
        assert!(by_row.wait().unwrap().keys().collect().unwrap().into_iter().eq(0..40));
        assert!(block_on(numbered).unwrap().values().collect().unwrap().into_iter().eq(0..40));
    });
}

/// Behaviours: CANC-012.
#[test]
fn a_handle_is_a_future_that_wakes_who_polls_it() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..30, 30).with(gate.clone()).map(|gate, x| {
            gate.pass();
            x
        });
        let (taken, failed) = (rdd.take_async(20), ctx.range(0..9).map(|x| 1 / (x - 4)).count_async());
        let opener = thread::spawn(move || {
            gate.until_reached();
            gate.open();
        });

        assert_eq!(block_on(taken).unwrap(), (0..20).collect::<Vec<_>>());
        assert!(block_on(failed).unwrap_err().to_string().contains("divide by zero"));
        opener.join().unwrap();
    });
}

#[test]
fn an_action_after_the_context_was_stopped_says_so() {
    each_backend(|ctx| {
        let rdd = ctx.range(0..10);
        ctx.stop().unwrap();

        assert!(matches!(rdd.count(), Err(Error::Stopped)));
        assert!(matches!(rdd.take(3), Err(Error::Stopped)));
        assert!(matches!(rdd.to_local_iterator().next(), Some(Err(Error::Stopped))));
    });
}
