//! What a message costs over the loopback: round trips one at a time, and how many go through in bulk.
//!
//! A round trip of a line is compared with one of plain sockets and blocking threads, the least that two threads can pay.
//! Other load on the machine only ever slows a turn down, so every figure is that of the best of its rounds.
//! `cargo bench -p firesteel-net` prints the table in Markdown; a number after `--` gives the rounds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../../../testing/bench_size.rs"]
mod bench_size;

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use bench_size::sized;
use firesteel_net::{
    Address, Closed, Dialer, Handler, Line, LineConf, Listener, ListenerConf, OneSecret, Realm, Secret,
    Service, Services, TlsClient, TlsServer,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde::{Deserialize, Serialize};

const LARGE_BYTES: usize = 1 << 20;

/// About what a status update or a small launch is.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Message {
    Task {
        attempt: u64,
        stage: u32,
        state: u8,
    },
    /// Text goes as one piece, as bytes do for those who serialize them as such.
    Data(String),
    /// Asks for an answer.
    Ask(u64),
}

fn task(attempt: u64) -> Message {
    Message::Task { attempt, stage: 3, state: 1 }
}

/// Answers what asks, and counts the rest.
struct Answers(Line<Message>);

impl Handler<Message> for Answers {
    fn messages(&mut self, messages: &mut Vec<Message>) {
        for message in messages.drain(..) {
            if let Message::Ask(_) = message {
                self.0.send(&message).expect("the asking side waits for it");
            }
        }
    }

    fn closed(&mut self, _: Closed) {}
}

/// Tells the measuring thread of answers, or asks again by itself.
struct Told {
    tell: Sender<()>,
    line: Option<Line<Message>>,
}

impl Handler<Message> for Told {
    fn messages(&mut self, messages: &mut Vec<Message>) {
        for message in messages.drain(..) {
            match (message, &self.line) {
                (Message::Ask(left @ 1..), Some(line)) => {
                    line.send(&Message::Ask(left - 1)).expect("the answering side is there");
                }
                _ => self.tell.send(()).expect("the measuring thread waits"),
            }
        }
    }

    fn closed(&mut self, _: Closed) {}
}

struct Ends {
    _listener: Listener,
    line: Line<Message>,
    told: Receiver<()>,
}

/// A listener and a line to it. A line that asks again keeps the round trips on the two reading threads.
fn ends(tls: Option<&Path>, asks_again: bool) -> Ends {
    let (realm, secret) = (Realm::cluster(), Secret::random());
    let mut conf = ListenerConf::new(Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() }));
    let mut dialer = Dialer::new(realm, secret);
    if let Some(folder) = tls {
        let server = TlsServer::from_pem(folder.join("server.pem"), folder.join("key.pem"));
        conf.tls = Some(server.expect("the files were just written"));
        dialer.tls = Some(TlsClient::from_pem(folder.join("ca.pem")).expect("the file was just written"));
    }
    let services =
        Services::new().lines::<Message, Message>(Service::Driver, LineConf::default(), |accepted| {
            Some(Box::new(Answers(accepted.line)))
        });
    let listener = Listener::bind("127.0.0.1", 0, 0, conf, services).expect("a free port");
    let (tell, told) = channel();
    let line = dialer
        .line_with(&Address::from(listener.address()), Service::Driver, &LineConf::default(), |line| Told {
            tell,
            line: asks_again.then(|| line.clone()),
        })
        .expect("the listener is there");
    Ends { _listener: listener, line, told }
}

/// Writes a certificate for the loopback and its authority.
fn certificates(folder: &Path) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = || KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(params, key()).expect("an authority");
    let key = key();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let server = params.signed_by(&key, &authority).expect("a certificate");
    for (name, content) in
        [("ca.pem", authority.pem()), ("server.pem", server.pem()), ("key.pem", key.serialize_pem())]
    {
        fs::write(folder.join(name), content).expect("a writable folder");
    }
}

fn main() {
    let rounds = bench_size::start().and_then(|word| word.parse().ok()).unwrap_or(sized(5, 1));
    let (trips, single, many) = (round_trip_count(), single_count(), sized(2_000_000, 2000));
    let folder = tempfile::tempdir().expect("a temporary folder");
    certificates(folder.path());
    println!("| what | plain | TLS |");
    println!("|---|---|---|");
    println!("| round trip of plain sockets, µs | {:.1} | |", best(rounds, plain_round_trips) * 1e6);
    let row = |name: &str, figure: &dyn Fn(Option<&Path>) -> f64| {
        println!("| {name} | {:.1} | {:.1} |", figure(None), figure(Some(folder.path())));
    };
    row("round trip between two handlers, µs", &|tls| {
        let ends = ends(tls, true);
        best(rounds, || round_trips(&ends, 1, trips)) * 1e6
    });
    row("round trip of a thread that waits, µs", &|tls| {
        let ends = ends(tls, false);
        best(rounds, || round_trips(&ends, trips, 1)) * 1e6
    });
    row("messages by `send`, million/s", &|tls| {
        let ends = ends(tls, false);
        1e-6 / best(rounds, || bulk(&ends, single, 1))
    });
    row("messages by `send` of two threads, million/s", &|tls| {
        let ends = ends(tls, false);
        1e-6 / best(rounds, || two_threads(&ends))
    });
    row("messages by `send_many` of 16, million/s", &|tls| {
        let ends = ends(tls, false);
        1e-6 / best(rounds, || bulk(&ends, many, 16))
    });
    row("messages by `send_many` of 1000, million/s", &|tls| {
        let ends = ends(tls, false);
        1e-6 / best(rounds, || bulk(&ends, many, 1000))
    });
    row("messages of 1 MiB, MiB/s", &|tls| {
        let ends = ends(tls, false);
        1.0 / best(rounds, || large(&ends))
    });
}

fn round_trip_count() -> u64 {
    sized(20_000, 20)
}

/// How many messages are sent one by one.
fn single_count() -> u64 {
    sized(500_000, 500)
}

/// Seconds for one of what `turn` does, the best of several.
fn best(rounds: usize, mut turn: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| turn()).fold(f64::INFINITY, f64::min)
}

fn seconds_each(start: Instant, count: u64) -> f64 {
    start.elapsed().as_secs_f64() / count as f64
}

fn plain_round_trips() -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut client =
        TcpStream::connect(listener.local_addr().expect("a bound listener")).expect("it listens");
    let (mut server, _) = listener.accept().expect("the client connects");
    for socket in [&client, &server] {
        socket.set_nodelay(true).expect("a TCP socket");
    }
    let answers = thread::spawn(move || {
        let mut buffer = [0; 8];
        while server.read_exact(&mut buffer).is_ok() {
            server.write_all(&buffer).expect("the client reads");
        }
    });
    let (start, trips) = (Instant::now(), round_trip_count());
    for _ in 0..trips {
        client.write_all(&[7; 8]).expect("the server reads");
        client.read_exact(&mut [0; 8]).expect("the server writes");
    }
    let each = seconds_each(start, trips);
    drop(client);
    answers.join().expect("the server does not panic");
    each
}

/// Asks `asks` times from this thread, each time for so many round trips.
fn round_trips(ends: &Ends, asks: u64, trips: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..asks {
        ends.line.send(&Message::Ask(trips - 1)).expect("the line is open");
        ends.told.recv().expect("the answer comes");
    }
    seconds_each(start, asks * trips)
}

/// Waits until everything that was sent before has been handled.
fn sync(ends: &Ends) {
    ends.line.send(&Message::Ask(0)).expect("the line is open");
    ends.told.recv_timeout(Duration::from_secs(60)).expect("the answer comes");
}

fn bulk(ends: &Ends, count: u64, at_once: usize) -> f64 {
    let batch: Vec<_> = (0..at_once as u64).map(task).collect();
    let start = Instant::now();
    for _ in 0..count / at_once as u64 {
        ends.line.send_many(&batch).expect("the line is open");
    }
    sync(ends);
    seconds_each(start, count)
}

fn two_threads(ends: &Ends) -> f64 {
    let (start, count) = (Instant::now(), single_count());
    let line = &ends.line;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for attempt in 0..count / 2 {
                    line.send(&task(attempt)).expect("the line is open");
                }
            });
        }
    });
    sync(ends);
    seconds_each(start, count)
}

fn large(ends: &Ends) -> f64 {
    let message = Message::Data("x".repeat(LARGE_BYTES));
    let (start, count) = (Instant::now(), sized(512, 2));
    for sent in 1..=count {
        ends.line.send(&message).expect("the line is open");
        if sent % 64 == 0 || sent == count {
            sync(ends);
        }
    }
    seconds_each(start, count)
}
