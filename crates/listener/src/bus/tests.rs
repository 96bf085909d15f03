//! Listeners that come, go, wait and fail.

use std::{
    sync::{Barrier, mpsc},
    thread,
};

use firesteel_types::{ExecutorId, Timestamp};

use super::*;

/// The `n`-th event.
fn event(n: u32) -> ListenerEvent {
    ListenerEvent::ExecutorUnexcluded { executor: ExecutorId(n), time: Timestamp::ZERO }
}

fn number(event: &ListenerEvent) -> u32 {
    match event {
        ListenerEvent::ExecutorUnexcluded { executor, .. } => executor.0,
        other => panic!("not one of ours: {other:?}"),
    }
}

/// A listener that writes down the numbers of the events.
fn recording() -> (impl Listener + 'static, mpsc::Receiver<u32>) {
    let (seen, numbers) = mpsc::channel();
    (move |event: &ListenerEvent| seen.send(number(event)).unwrap(), numbers)
}

/// A listener that waits until the gate is opened (or dropped) before each event.
fn gated() -> (impl Listener + 'static, mpsc::Sender<()>, mpsc::Receiver<u32>) {
    let (open, gate) = mpsc::channel();
    let (mut listener, numbers) = recording();
    let waits = move |event: &ListenerEvent| {
        let _ = gate.recv();
        listener.on_event(event);
    };
    (waits, open, numbers)
}

fn all(numbers: &mpsc::Receiver<u32>) -> Vec<u32> {
    numbers.try_iter().collect()
}

fn started() -> ListenerBus {
    let bus = ListenerBus::new();
    bus.start().unwrap();
    bus
}

/// Behaviours: LIS-002.
#[test]
fn events_posted_before_the_start_are_delivered_after_it_in_order() {
    let bus = ListenerBus::new();
    bus.post(vec![event(0)]);
    let (listener, numbers) = recording();
    bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post(vec![event(1), event(2)]);
    assert!(all(&numbers).is_empty());

    bus.start().unwrap();
    bus.post(vec![event(3)]);
    bus.flush(Wait::Forever).unwrap();

    assert_eq!(all(&numbers), [0, 1, 2, 3]);
}

/// Behaviours: LIS-002.
#[test]
fn each_listener_of_each_queue_sees_the_same_order_though_many_threads_post() {
    const THREADS: u32 = 6;
    const EACH: u32 = 300;
    let bus = ListenerBus::new();
    let logs: Vec<_> = ["a", "a", "b", "c"]
        .map(|queue| {
            let (listener, numbers) = recording();
            bus.add(queue, listener).unwrap();
            numbers
        })
        .into();
    bus.start().unwrap();
    let together = Barrier::new(THREADS as usize);

    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (bus, together) = (&bus, &together);
            scope.spawn(move || {
                together.wait();
                (0..EACH).for_each(|n| bus.post(vec![event(thread * EACH + n)]));
            });
        }
    });
    bus.stop(Wait::Forever).unwrap();

    let first = all(&logs[0]);
    assert_eq!(first.len(), (THREADS * EACH) as usize);
    for log in &logs[1..] {
        assert_eq!(all(log), first);
    }
    for thread in 0..THREADS {
        let own = |n: &u32| n / EACH == thread;
        assert!(first.iter().copied().filter(own).eq(thread * EACH..(thread + 1) * EACH));
    }
}

/// Behaviours: LIS-002.
#[test]
fn stop_delivers_what_is_queued_and_later_posts_are_ignored() {
    let bus = started();
    let (listener, open, numbers) = gated();
    bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post((0..50).map(event).collect());
    drop(open);

    bus.stop(Wait::Forever).unwrap();
    bus.post(vec![event(50)]);

    assert_eq!(numbers.iter().collect::<Vec<_>>(), (0..50).collect::<Vec<_>>(), "and the listener is gone");
}

/// Behaviours: LIS-002.
#[test]
fn stop_without_waiting_returns_at_once() {
    let bus = started();
    let (listener, open, numbers) = gated();
    bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post(vec![event(0), event(1)]);

    bus.stop(Wait::No).unwrap();
    let late = bus.stop(Wait::AtMost(Duration::from_millis(1)));
    assert!(matches!(late, Err(BusError::TimedOut { queue }) if queue == "shared"));
    assert!(all(&numbers).is_empty());

    drop(open);
    bus.stop(Wait::Forever).unwrap();
    assert_eq!(all(&numbers), [0, 1], "nothing is lost as long as the process lives");
}

/// Behaviours: LIS-002.
#[test]
fn a_bus_starts_once_and_stops_any_number_of_times() {
    let bus = ListenerBus::new();
    assert!(matches!(bus.stop(Wait::Forever), Err(BusError::NotStarted)));
    assert!(matches!(bus.flush(Wait::Forever), Err(BusError::NotStarted)));

    bus.start().unwrap();
    assert!(matches!(bus.start(), Err(BusError::AlreadyStarted)));

    bus.stop(Wait::Forever).unwrap();
    bus.stop(Wait::Forever).unwrap();
    bus.flush(Wait::Forever).unwrap();
    assert!(matches!(bus.start(), Err(BusError::Stopped)));
    assert!(matches!(bus.add("shared", |_: &ListenerEvent| ()), Err(BusError::Stopped)));
}

/// Behaviours: LIS-003.
#[test]
fn a_listener_that_panics_is_isolated_and_stays_registered() {
    let bus = started();
    let (mut inner, of_panicking) = recording();
    let panicking = move |event: &ListenerEvent| {
        inner.on_event(event);
        assert!(!number(event).is_multiple_of(2), "even numbers are too much");
    };
    bus.add(ListenerBus::SHARED, panicking).unwrap();
    let (listener, of_neighbour) = recording();
    bus.add(ListenerBus::SHARED, listener).unwrap();

    bus.post((0..4).map(event).collect());
    bus.post(vec![event(4)]);
    bus.stop(Wait::Forever).unwrap();

    assert_eq!(all(&of_panicking), [0, 1, 2, 3, 4]);
    assert_eq!(all(&of_neighbour), [0, 1, 2, 3, 4]);
}

/// Behaviours: LIS-003.
#[test]
fn a_listener_cannot_stop_or_flush_its_own_bus() {
    let bus = Arc::new(started());
    let (seen, answers) = mpsc::channel();
    let own = bus.clone();
    let stopping = move |_: &ListenerEvent| {
        assert!(own.is_listener_thread());
        let answer = [own.stop(Wait::Forever), own.stop(Wait::No), own.flush(Wait::Forever)];
        seen.send(answer.map(|answer| answer.unwrap_err().to_string())).unwrap();
    };
    let id = bus.add(ListenerBus::SHARED, stopping).unwrap();

    bus.post(vec![event(0)]);
    bus.flush(Wait::Forever).unwrap();

    let text = |operation: &str| {
        format!("cannot {operation} the listener bus from inside a listener: leave it to another thread")
    };
    assert_eq!(answers.try_recv().unwrap(), [text("stop"), text("stop"), text("flush")]);
    assert!(!bus.is_listener_thread());
    assert!(bus.is_wanted(), "it still runs");
    assert!(bus.remove(id));
    bus.stop(Wait::Forever).unwrap();
}

/// Behaviours: LIS-001.
#[test]
fn a_slow_listener_does_not_delay_another_queue() {
    let bus = started();
    let (slow, open, of_slow) = gated();
    bus.add("slow", slow).unwrap();
    let (quick, of_quick) = recording();
    bus.add("quick", quick).unwrap();

    bus.post((0..100).map(event).collect());

    assert!(of_quick.iter().take(100).eq(0..100), "though the slow one has not begun");
    assert!(all(&of_slow).is_empty());
    let late = bus.flush(Wait::No);
    assert!(matches!(late, Err(BusError::TimedOut { queue }) if queue == "slow"));
    drop(open);
    bus.flush(Wait::Forever).unwrap();
    assert_eq!(all(&of_slow).len(), 100);
}

#[test]
fn a_listener_hears_exactly_what_is_posted_while_it_is_registered() {
    let bus = started();
    let (slow, open, _of_slow) = gated();
    bus.add(ListenerBus::SHARED, slow).unwrap();
    bus.post(vec![event(0)]);
    let (listener, numbers) = recording();
    let id = bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post(vec![event(1)]);
    assert!(bus.remove(id));
    assert!(!bus.remove(id), "it is gone already");
    bus.post(vec![event(2)]);

    // All of that happened before the queue's thread was done with the first event.
    drop(open);

    assert_eq!(numbers.iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn a_listener_removed_before_the_start_hears_nothing() {
    let bus = ListenerBus::new();
    let (listener, numbers) = recording();
    let id = bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post(vec![event(0)]);

    assert!(bus.remove(id));
    assert!(!bus.remove(id));
    bus.start().unwrap();
    bus.post(vec![event(1)]);
    bus.flush(Wait::Forever).unwrap();

    assert_eq!(numbers.iter().next(), None);
}

#[test]
fn a_listener_may_post_and_remove_itself() {
    let bus = Arc::new(started());
    let own = bus.clone();
    let (give, id) = mpsc::channel();
    let echo = move |event: &ListenerEvent| {
        own.remove(id.recv().unwrap());
        own.post(vec![self::event(number(event) + 100)]);
    };
    give.send(bus.add(ListenerBus::SHARED, echo).unwrap()).unwrap();
    let (listener, numbers) = recording();
    bus.add(ListenerBus::SHARED, listener).unwrap();

    bus.post(vec![event(1)]);
    assert_eq!(numbers.recv(), Ok(1));
    assert_eq!(numbers.recv(), Ok(101));
    bus.flush(Wait::Forever).unwrap();

    bus.post(vec![event(2)]);
    bus.stop(Wait::Forever).unwrap();
    assert_eq!(all(&numbers), [2], "the echo is gone");
}

#[test]
fn a_running_bus_without_listeners_wants_nothing() {
    let bus = ListenerBus::new();
    assert!(bus.is_wanted(), "a listener may be added before the start");

    bus.start().unwrap();
    assert!(!bus.is_wanted());
    let (listener, numbers) = recording();
    let id = bus.add(ListenerBus::SHARED, listener).unwrap();
    assert!(bus.is_wanted());
    bus.remove(id);
    assert!(!bus.is_wanted());

    bus.post(vec![event(0)]);
    bus.flush(Wait::Forever).unwrap();
    assert_eq!(numbers.iter().next(), None);
}

#[test]
fn dropping_the_bus_delivers_what_was_posted_and_ends_its_threads() {
    let bus = started();
    let (listener, numbers) = recording();
    bus.add(ListenerBus::SHARED, listener).unwrap();
    bus.post(vec![event(0)]);

    drop(bus);

    assert_eq!(numbers.iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn a_listener_that_panics_when_dropped_takes_no_other_along() {
    struct Bomb;
    impl Listener for Bomb {
        fn on_event(&mut self, _event: &ListenerEvent) {}
    }
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let bus = started();
    let removed = bus.add(ListenerBus::SHARED, Bomb).unwrap();
    bus.add(ListenerBus::SHARED, Bomb).unwrap();
    bus.add(ListenerBus::SHARED, Bomb).unwrap();
    let (listener, numbers) = recording();
    bus.add(ListenerBus::SHARED, listener).unwrap();

    bus.remove(removed);
    bus.post(vec![event(0)]);
    bus.stop(Wait::Forever).unwrap();

    assert_eq!(numbers.iter().collect::<Vec<_>>(), [0]);
}
