//! Messages: order, batches, the end of a line and what was sent before it.

use std::{
    net::Shutdown,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use serde::{Serialize, Serializer, ser::Error as _};

use super::support::{Ears, GUARD, Proxy, Rig, Taken, eventually};
use crate::{Closed, Handler, Line, LineConf, Listener, ListenerConf, SendError, Service, Services};

fn texts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[test]
fn messages_go_both_ways_in_order_and_the_ends_know_each_other() {
    let rig = Rig::new();
    let (line, ears, taken) = rig.line();

    for text in texts(0..100) {
        line.send(&text).unwrap();
    }
    taken.line.send_many(&texts(0..1000)).unwrap();
    taken.line.send(&"last".to_owned()).unwrap();

    assert_eq!(taken.ears.messages(100), texts(0..100));
    let answers = ears.messages(1001);
    assert_eq!((&answers[..1000], answers[1000].as_str()), (&texts(0..1000)[..], "last"));
    assert_eq!(taken.realm, rig.realm);
    assert_eq!((line.peer(), taken.line.peer()), (rig.listener.address(), taken.peer));
    assert_ne!(line.id(), taken.line.id());
    assert_eq!((line.is_closed(), taken.line.is_closed()), (false, false));
}

#[test]
fn messages_of_many_senders_all_arrive_and_those_of_each_in_order() {
    const SENDERS: u32 = 8;
    const EACH: u32 = 3000;
    let rig = Rig::new();
    let (line, _ears, taken) = rig.line();
    // Long ones among the short ones, so that the socket is full now and then.
    let padding = |number: u32| "x".repeat(if number.is_multiple_of(500) { 300_000 } else { 0 });

    thread::scope(|scope| {
        for sender in 0..SENDERS {
            let line = &line;
            scope.spawn(move || {
                for number in 0..EACH {
                    line.send(&format!("{sender} {number} {}", padding(number))).unwrap();
                }
            });
        }
        let mut next = [0; SENDERS as usize];
        for text in taken.ears.messages((SENDERS * EACH) as usize) {
            let parts: Vec<_> = text.splitn(3, ' ').collect();
            let (sender, number): (usize, u32) = (parts[0].parse().unwrap(), parts[1].parse().unwrap());
            assert_eq!((number, parts[2].len()), (next[sender], padding(number).len()));
            next[sender] += 1;
        }
    });
}

#[test]
fn close_delivers_everything_that_was_sent_and_both_ends_hear_who_closed() {
    let rig = Rig::new();
    let (line, ears, taken) = rig.line();
    // More than the sockets hold, so that a part of it waits for the writer when the line is closed.
    let long = "x".repeat(1 << 20);
    for _ in 0..50 {
        line.send(&long).unwrap();
    }
    line.send(&"last".to_owned()).unwrap();

    line.close();
    line.close();

    assert_eq!(line.send(&"too late".to_owned()), Err(SendError::Closed));
    let (all, why) = taken.ears.end();
    assert_eq!((all.len(), all.last().unwrap().as_str()), (51, "last"));
    assert!(all[..50].iter().all(|text| *text == long));
    assert!(matches!(why, Closed::ByPeer), "{why}");
    assert!(matches!(ears.end(), (none, Closed::ByUs) if none.is_empty()));
    assert!(line.wait_closed(GUARD) && line.is_closed() && taken.line.is_closed());
    assert_eq!(taken.line.send(&"nobody".to_owned()), Err(SendError::Closed));
    eventually("the end of the connection", || rig.listener.connections() == 0);
}

#[test]
fn the_last_clone_that_is_dropped_closes_the_line() {
    let rig = Rig::new();
    let (line, ears, taken) = rig.line();
    let clone = line.clone();

    drop(line);
    clone.send(&"still open".to_owned()).unwrap();
    assert_eq!(taken.ears.messages(1), ["still open"]);
    drop(clone);

    assert!(matches!(taken.ears.end().1, Closed::ByPeer));
    assert!(matches!(ears.end().1, Closed::ByUs));
}

#[test]
fn the_accepting_end_can_close_while_the_other_sends() {
    let rig = Rig::new();
    let (line, ears, taken) = rig.line();
    let Taken { line: accepted, ears: accepted_ears, .. } = taken;
    let sender = thread::spawn(move || while line.send(&"x".repeat(10_000)).is_ok() {});
    accepted_ears.messages_at_least(1);

    for text in texts(0..5000) {
        accepted.send(&text).unwrap();
    }
    drop(accepted);

    assert_eq!(ears.end_by_peer(), texts(0..5000));
    sender.join().unwrap();
    assert!(matches!(accepted_ears.end().1, Closed::ByUs));
}

#[test]
fn a_connection_that_ends_without_a_goodbye_is_broken() {
    let rig = Rig::new();
    let (line, ears, taken) = rig.line();
    line.send(&"before".to_owned()).unwrap();
    assert_eq!(taken.ears.messages(1), ["before"]);

    // As when a process dies.
    taken.line.core().wire().socket().shutdown(Shutdown::Both).unwrap();

    for ears in [ears, taken.ears] {
        let (_, why) = ears.end();
        assert!(matches!(&why, Closed::Broken(error) if error.to_string().contains("goodbye")), "{why}");
    }
    assert!(line.wait_closed(GUARD));
}

#[test]
fn messages_above_the_limit_are_refused_before_they_are_sent_and_the_line_goes_on() {
    let rig = Rig::with(|_, conf| conf.max_message = 100);
    let (line, _ears, taken) = rig.line();

    let short = "x".repeat(99);
    let long = "x".repeat(100);
    line.send(&short).unwrap();
    assert_eq!(line.send(&long), Err(SendError::TooLarge { bytes: 101, max: 100 }));
    assert_eq!(line.send_many([&short, &long]), Err(SendError::TooLarge { bytes: 101, max: 100 }));
    line.send(&"after".to_owned()).unwrap();

    assert_eq!(taken.ears.messages(2), [short.as_str(), "after"], "all or none of many are sent");
}

#[test]
fn a_peer_that_sends_more_than_is_allowed_is_cut_off() {
    let rig = Rig::with(|_, conf| conf.max_message = 1000);
    let lavish = LineConf { max_message: 1 << 20, ..rig.conf.clone() };
    let (ear, ears) = Ears::new();
    let line: Line<String> = rig.dialer().line(&rig.address(), Service::Master, &lavish, ear).unwrap();
    let taken = rig.taken();

    line.send(&"short".to_owned()).unwrap();
    line.send(&"x".repeat(1000)).unwrap();

    let (before, why) = taken.ears.end();
    assert_eq!(before, ["short"]);
    assert!(matches!(why, Closed::TooLarge { bytes: 1002, max: 1000 }), "{why}");
    assert!(matches!(ears.end().1, Closed::Broken(_)));
}

#[test]
fn bytes_that_are_no_message_end_the_line() {
    let rig = Rig::new();
    let (ear, _ears) = Ears::new();
    let line: Line<(u8, u8)> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, ear).unwrap();
    let taken = rig.taken();

    // As a text, this is one of no bytes and a byte too many.
    line.send(&(0, 1)).unwrap();

    let (_, why) = taken.ears.end();
    assert!(matches!(why, Closed::Malformed { len: 2, .. }), "{why}");
}

#[test]
fn a_message_that_cannot_be_serialized_is_told_and_the_line_goes_on() {
    struct Stubborn(bool);
    impl Serialize for Stubborn {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            if self.0 { Err(S::Error::custom("never")) } else { "fine".serialize(to) }
        }
    }
    let rig = Rig::new();
    let (ear, _ears) = Ears::new();
    let line: Line<Stubborn> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, ear).unwrap();
    let taken = rig.taken();

    assert!(matches!(line.send(&Stubborn(true)), Err(SendError::NotSerializable { .. })));
    line.send(&Stubborn(false)).unwrap();

    assert_eq!(taken.ears.messages(1), ["fine"]);
}

#[test]
fn sending_to_a_peer_that_never_reads_does_not_wait_and_in_the_end_cuts_it_off() {
    let rig = Rig::with(|_, conf| conf.max_queued = 16 << 20);
    // A handler that does not return: nothing more is read.
    let (release, held) = mpsc::channel::<()>();
    let stuck = Stuck::new(held).0;
    let line: Line<String> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, stuck).unwrap();
    let taken = rig.taken();
    let text = "x".repeat(100_000);

    let mut sent = 0_u64;
    let error = loop {
        match taken.line.send(&text) {
            Ok(()) => sent += text.len() as u64,
            Err(error) => break error,
        }
        assert!(sent < 1 << 30, "nobody cuts it off");
    };

    assert_eq!(error, SendError::Closed);
    assert!(sent >= 16 << 20, "cut off after {sent} bytes");
    let (_, why) = taken.ears.end();
    assert!(matches!(why, Closed::Slow { queued, max } if queued > max && max == 16 << 20), "{why}");
    drop((release, line));
}

/// Returns from its first messages when it is let go.
struct Stuck {
    held: mpsc::Receiver<()>,
    tell: mpsc::Sender<Closed>,
}

impl Stuck {
    fn new(held: mpsc::Receiver<()>) -> (Self, mpsc::Receiver<Closed>) {
        let (tell, told) = mpsc::channel();
        (Self { held, tell }, told)
    }
}

impl Handler<String> for Stuck {
    fn messages(&mut self, _: &mut Vec<String>) {
        let _ = self.held.recv();
    }

    fn closed(&mut self, why: Closed) {
        let _ = self.tell.send(why);
    }
}

#[test]
fn a_close_that_the_peer_does_not_answer_ends_after_its_time() {
    let rig = Rig::with(|_, conf| conf.close_timeout = Duration::from_millis(50));
    let (release, held) = mpsc::channel::<()>();
    let stuck = Stuck::new(held).0;
    let line: Line<String> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, stuck).unwrap();
    let taken = rig.taken();
    taken.line.send(&"this holds the peer".to_owned()).unwrap();

    taken.line.close();

    assert!(matches!(taken.ears.end().1, Closed::ByUs));
    drop((release, line));
}

#[test]
fn a_goodbye_counts_though_a_later_send_found_nobody() {
    let rig = Rig::with(|_, conf| conf.close_timeout = Duration::from_millis(50));
    let (release, held) = mpsc::channel::<()>();
    let (stuck, told) = Stuck::new(held);
    let line: Line<String> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, stuck).unwrap();
    let taken = rig.taken();
    taken.line.send(&"this holds the peer".to_owned()).unwrap();
    taken.line.close();
    assert!(matches!(taken.ears.end().1, Closed::ByUs));
    eventually("the end of the connection", || rig.listener.connections() == 0);

    eventually("a send that finds nobody", || line.send(&"anybody there?".to_owned()).is_err());
    drop(release);

    let why = told.recv_timeout(GUARD).unwrap();
    assert!(matches!(why, Closed::ByPeer), "{why}");
}

#[test]
fn a_half_open_connection_is_found_by_its_silence() {
    let silence = Duration::from_secs(1);
    let rig = Rig::with(|_, conf| conf.silence = Some(silence));
    let proxy = Proxy::start(rig.listener.address());
    let (line, ears, taken) = rig.line_over(&rig.dialer(), &proxy.address);
    line.send(&"before".to_owned()).unwrap();
    assert_eq!(taken.ears.messages(1), ["before"]);

    proxy.stop();

    for ears in [ears, taken.ears] {
        let (_, why) = ears.end();
        assert!(matches!(why, Closed::Silent { silence: found } if found == silence), "{why}");
    }
}

#[test]
fn an_idle_line_and_one_whose_handlers_are_busy_live_on_their_pings() {
    let silence = Duration::from_secs(1);
    let rig = Rig::with(|_, conf| conf.silence = Some(silence));
    let proxy = Proxy::start(rig.listener.address());
    let (line, ears, taken) = rig.line_over(&rig.dialer(), &proxy.address);
    let (release, held) = mpsc::channel::<()>();
    let stuck = Stuck::new(held).0;
    let busy: Line<String> = rig.dialer().line(&rig.address(), Service::Master, &rig.conf, stuck).unwrap();
    let busy_taken = rig.taken();
    busy_taken.line.send(&"this holds the peer".to_owned()).unwrap();
    let before = proxy.seen.lock().len();

    // Each end pings four times in a silence, so these are three silences.
    eventually("the pings", || proxy.seen.lock().len() >= before + 24 * 4);
    line.send(&"still here".to_owned()).unwrap();
    busy.send(&"still here".to_owned()).unwrap();

    assert_eq!(taken.ears.messages(1), ["still here"]);
    assert_eq!(busy_taken.ears.messages(1), ["still here"]);
    assert!(!line.is_closed() && !busy.is_closed());
    drop((release, ears));
}

#[test]
fn a_handler_that_panics_costs_its_line_only() {
    struct Panics(mpsc::Sender<Closed>);
    impl Handler<String> for Panics {
        fn messages(&mut self, _: &mut Vec<String>) {
            panic!("as the test wants");
        }
        fn closed(&mut self, why: Closed) {
            let _ = self.0.send(why);
        }
    }
    let rig = Rig::new();
    let (tell, told) = mpsc::channel();
    let line: Line<String> =
        rig.dialer().line(&rig.address(), Service::Master, &rig.conf, Panics(tell)).unwrap();
    let taken = rig.taken();

    taken.line.send(&"panic".to_owned()).unwrap();

    let why = told.recv_timeout(GUARD).unwrap();
    assert!(why.to_string().contains("its handler panicked"), "{why}");
    assert!(line.wait_closed(GUARD));
    assert!(matches!(taken.ears.end().1, Closed::Broken(_)));
    rig.assert_goes_on();
}

#[test]
fn a_refused_line_is_closed_at_once_and_in_order() {
    let rig = Rig::new();
    let secrets = Arc::new(crate::OneSecret { realm: rig.realm.clone(), secret: rig.secret.clone() });
    let services =
        Services::new().lines::<String, String>(Service::Driver, LineConf::default(), |accepted| {
            accepted.line.send(&"not you".to_owned()).unwrap();
            None
        });
    let listener = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services).unwrap();
    let (ear, ears) = Ears::new();

    let _line: Line<String> =
        rig.dialer().line(&listener.address().into(), Service::Driver, &rig.conf, ear).unwrap();

    let (said, why) = ears.end();
    assert_eq!(said, ["not you"]);
    assert!(matches!(why, Closed::ByPeer), "{why}");
}

#[test]
fn a_handler_may_close_its_own_line_and_hears_no_more() {
    struct Closes(Option<Line<String>>, mpsc::Sender<String>);
    impl Handler<String> for Closes {
        fn messages(&mut self, messages: &mut Vec<String>) {
            for message in messages.drain(..) {
                self.1.send(message).unwrap();
            }
            self.0 = None;
        }
        fn closed(&mut self, why: Closed) {
            self.1.send(why.to_string()).unwrap();
        }
    }
    let rig = Rig::new();
    let (tell, told) = mpsc::channel();
    let line = rig.dialer().line_with(&rig.address(), Service::Master, &rig.conf, |line: &Line<String>| {
        Closes(Some(line.clone()), tell)
    });
    drop(line.unwrap());
    let taken = rig.taken();

    taken.line.send(&"one".to_owned()).unwrap();
    assert_eq!(told.recv_timeout(GUARD).unwrap(), "one");
    // Whether this is sent or not depends on who is faster; it is not delivered.
    let _ = taken.line.send(&"two".to_owned());

    assert_eq!(told.recv_timeout(GUARD).unwrap(), "this side closed the line");
    assert!(matches!(taken.ears.end().1, Closed::ByPeer));
}

#[test]
fn stop_closes_every_line_in_order_and_waits_for_their_threads() {
    let rig = Rig::new();
    let lines: Vec<_> = (0..5).map(|_| rig.line()).collect();
    let half = std::net::TcpStream::connect(rig.listener.address()).unwrap();
    eventually("the half-made connection", || rig.listener.connections() == 6);
    for (_, _, taken) in &lines {
        taken.line.send_many(&texts(0..100)).unwrap();
    }

    rig.listener.stop();
    rig.listener.stop();

    assert_eq!(rig.listener.connections(), 0);
    for (line, ears, taken) in lines {
        // Nothing is left to wait for.
        assert!(taken.line.wait_closed(Duration::ZERO));
        assert!(matches!(taken.ears.end().1, Closed::ByUs));
        assert!(matches!(ears.end(), (said, Closed::ByPeer) if said == texts(0..100)));
        assert!(line.wait_closed(GUARD));
    }
    drop(half);
    assert!(std::net::TcpStream::connect(rig.listener.address()).is_err());
}

#[test]
fn a_handler_may_stop_the_listener_that_its_line_belongs_to() {
    struct Stops(Arc<Mutex<Option<Listener>>>, mpsc::Sender<Closed>);
    impl Handler<String> for Stops {
        fn messages(&mut self, _: &mut Vec<String>) {
            let listener = self.0.lock().take();
            drop(listener);
        }
        fn closed(&mut self, why: Closed) {
            let _ = self.1.send(why);
        }
    }
    let rig = Rig::new();
    let secrets = Arc::new(crate::OneSecret { realm: rig.realm.clone(), secret: rig.secret.clone() });
    let (listener, kept) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
    let (tell, told) = mpsc::channel();
    let (own, lines, tell) = (listener.clone(), kept.clone(), Mutex::new(tell));
    let services =
        Services::new().lines::<String, String>(Service::Driver, LineConf::default(), move |accepted| {
            lines.lock().push(accepted.line);
            Some(Box::new(Stops(own.clone(), tell.lock().clone())))
        });
    let bound = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services).unwrap();
    let address = bound.address().into();
    *listener.lock() = Some(bound);
    let (ear, ears) = Ears::new();
    let line: Line<String> = rig.dialer().line(&address, Service::Driver, &rig.conf, ear).unwrap();

    line.send(&"stop".to_owned()).unwrap();

    assert!(matches!(told.recv_timeout(GUARD).unwrap(), Closed::ByUs));
    assert!(matches!(ears.end().1, Closed::ByPeer));
}
