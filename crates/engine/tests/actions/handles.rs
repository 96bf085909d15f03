//! Actions in the background.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context as PollContext, Poll, Wake},
    thread::{self, Thread},
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
