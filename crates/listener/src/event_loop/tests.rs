//! One thread, many posters, errors and a stop from anywhere.

use std::sync::{
    Arc, Barrier,
    atomic::{AtomicU32, Ordering},
    mpsc,
};

use super::*;

type Action = Box<dyn FnOnce() + Send>;

/// Runs the closures that it gets as events; records what it was asked to do.
struct Recorder {
    log: mpsc::Sender<String>,
    on_error: fn(),
    on_stop: Option<Action>,
}

impl Handler<Action> for Recorder {
    fn on_event(&mut self, action: Action) {
        action();
    }

    fn on_error(&mut self, message: &str) {
        self.log.send(format!("error: {message}")).unwrap();
        (self.on_error)();
    }

    fn on_stop(&mut self) {
        self.log.send("stop".to_owned()).unwrap();
        if let Some(action) = self.on_stop.take() {
            action();
        }
    }
}

fn recorder() -> (Recorder, mpsc::Receiver<String>, impl Fn(&str) -> Action) {
    let (log, seen) = mpsc::channel();
    let sender = log.clone();
    let say = move |text: &str| -> Action {
        let (log, text) = (sender.clone(), text.to_owned());
        Box::new(move || log.send(text).unwrap())
    };
    (Recorder { log, on_error: || (), on_stop: None }, seen, say)
}

fn start(recorder: Recorder) -> EventLoop<Action> {
    EventLoop::start("test-loop".to_owned(), recorder).unwrap()
}

/// Stops the loop, and gives all that was said.
fn finish(events: EventLoop<Action>, seen: &mpsc::Receiver<String>) -> Vec<String> {
    assert!(events.stop().wait(None));
    seen.try_iter().collect()
}

/// Behaviours: LIS-005.
#[test]
fn events_are_handled_in_the_order_of_posting() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);

    let expected: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    for text in &expected {
        assert!(events.post(say(text)));
    }

    assert_eq!(finish(events, &seen), [expected, vec!["stop".to_owned()]].concat());
}

/// Behaviours: LIS-005.
#[test]
fn an_error_goes_to_the_hook_and_the_loop_goes_on() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);

    events.post(Box::new(|| panic!("broken {}", 1)));
    events.post(say("next"));
    events.post(Box::new(|| std::panic::resume_unwind(Box::new(7))));

    let said = finish(events, &seen);
    assert_eq!(said, ["error: broken 1", "next", "error: a panic without a message", "stop"]);
}

/// Behaviours: LIS-005.
#[test]
fn an_error_of_the_error_hook_does_not_end_the_loop() {
    let (recorder, seen, say) = recorder();
    let events = start(Recorder { on_error: || panic!("the hook is broken too"), ..recorder });

    events.post(Box::new(|| panic!("broken")));
    events.post(say("next"));

    assert_eq!(finish(events, &seen), ["error: broken", "next", "stop"]);
}

/// Behaviours: LIS-005.
#[test]
fn the_stop_hook_runs_once_however_often_and_from_wherever_the_loop_is_stopped() {
    let (mut recorder, seen, say) = recorder();
    let (give, taken) = mpsc::channel::<Arc<EventLoop<Action>>>();
    let (give_hook, taken_by_hook) = mpsc::channel::<Arc<EventLoop<Action>>>();
    recorder.on_stop = Some(Box::new(move || {
        taken_by_hook.recv().unwrap().stop();
    }));
    let events = Arc::new(start(recorder));

    events.post(Box::new(move || {
        let own = taken.recv().unwrap();
        own.stop();
        own.stop();
    }));
    events.post(say("posted before the stop"));
    give_hook.send(events.clone()).unwrap();
    give.send(events.clone()).unwrap();
    let stops: Vec<_> = (0..4)
        .map(|_| {
            let events = events.clone();
            thread::spawn(move || events.stop().wait(None))
        })
        .collect();

    assert!(stops.into_iter().all(|stop| stop.join().unwrap()));
    assert!(events.stop().wait(None));
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), ["posted before the stop", "stop"]);
}

/// Behaviours: LIS-005.
#[test]
fn many_threads_may_post_and_each_keeps_its_order() {
    const THREADS: usize = 8;
    const EACH: usize = 500;
    let (recorder, seen, say) = recorder();
    let (events, say) = (Arc::new(start(recorder)), Arc::new(say));
    let together = Arc::new(Barrier::new(THREADS));

    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (events, say, together) = (&events, &say, &together);
            scope.spawn(move || {
                together.wait();
                (0..EACH).for_each(|n| assert!(events.post(say(&format!("{thread} {n}")))));
            });
        }
    });
    assert!(events.stop().wait(None));

    let said: Vec<String> = seen.try_iter().collect();
    assert_eq!(said.len(), THREADS * EACH + 1);
    for thread in 0..THREADS {
        let of_thread = said.iter().filter(|text| text.starts_with(&format!("{thread} ")));
        assert!(of_thread.eq((0..EACH).map(|n| format!("{thread} {n}")).collect::<Vec<_>>().iter()));
    }
}

#[test]
fn what_is_posted_after_the_stop_is_refused() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);

    let end = events.stop();
    assert!(!events.post(say("late")));

    assert!(end.wait(None));
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), ["stop"]);
}

#[test]
fn a_mark_is_reached_when_everything_before_it_is_handled() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);
    let (open, gate) = mpsc::channel::<()>();
    events.post(Box::new(move || gate.recv().unwrap()));
    events.post(say("before"));

    let mark = events.mark();
    assert!(!mark.wait(Some(Instant::now())), "the first event still waits");
    open.send(()).unwrap();

    assert!(mark.wait(None));
    assert_eq!(seen.try_recv().as_deref(), Ok("before"));
}

#[test]
fn a_loop_that_fell_asleep_wakes_up_for_an_event() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);

    // Every other event finds it napping or busy, as the clock will have it.
    for round in 0..20 {
        events.post(say(&round.to_string()));
        assert_eq!(seen.recv().unwrap(), round.to_string());
        let asleep = || events.shared.inbox.lock().consumer == Consumer::Parked;
        while round % 2 == 0 && !asleep() {
            thread::yield_now();
        }
    }
}

#[test]
fn dropping_a_loop_ends_it_after_what_was_posted() {
    let (recorder, seen, say) = recorder();
    let events = start(recorder);
    events.post(say("last"));

    drop((events, say));

    assert_eq!(seen.iter().collect::<Vec<_>>(), ["last", "stop"], "and the handler is gone");
}

#[test]
fn a_loop_knows_its_own_thread_from_the_first_event_on() {
    let (recorder, _seen, _say) = recorder();
    let (give, taken) = mpsc::channel::<Arc<EventLoop<Action>>>();
    let own = Arc::new(AtomicU32::new(0));
    let events = Arc::new(start(recorder));
    let count = own.clone();
    events.post(Box::new(move || {
        count.store(u32::from(taken.recv().unwrap().is_current_thread()), Ordering::SeqCst);
    }));
    give.send(events.clone()).unwrap();

    assert!(events.mark().wait(None));

    assert_eq!(own.load(Ordering::SeqCst), 1);
    assert!(!events.is_current_thread());
}
