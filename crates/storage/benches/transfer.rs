//! How close block transfer comes to a plain socket copy over the loopback: throughput of both in the same run.
//!
//! The plain copy writes the same blocks from one thread, with `write_all` from memory or `io::copy` from the file, and
//! reads each into one buffer that is used again. Both move 1 GiB in turns of 128 MiB, one after the other, for the given number of rounds. Other load on the
//! machine only ever slows a turn down, so the throughput is that of the best turn; the processor time, of both ends
//! together, is that of the cheapest. `cargo bench -p firesteel-storage --bench transfer` prints the table in
//! Markdown; a number after `--` gives the rounds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../../../testing/bench_size.rs"]
mod bench_size;

use std::{
    fs::File,
    hint::black_box,
    io::{self, Read, Seek, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use bench_size::sized;
use bytes::Bytes;
use firesteel_net::{Dialer, Listener, ListenerConf, OneSecret, Realm, Secret, Service, Services};
use firesteel_storage::{
    block::BlockId,
    transfer::{BlockClient, BlockLimits, BlockSource, ClientConf, Payload, PeerAddr, serve_blocks},
};
use firesteel_types::{AppId, AttemptId, ExecutorId, StorageLevel};

/// How many bytes a turn moves: one block of the largest size at least.
fn turn_bytes() -> usize {
    sized(128 << 20, 16 << 20)
}

/// Where the server has its blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Memory,
    File,
}

/// Gives the same bytes for every id.
struct Same {
    bytes: Bytes,
    file: Arc<File>,
}

/// The place is in the id: odd ones come from the file.
impl BlockSource for Same {
    fn open(&self, _: &AppId, _: ExecutorId, id: &BlockId) -> Result<Payload, String> {
        let BlockId::TaskResult(AttemptId(number)) = id else { return Err("no such block".to_owned()) };
        let len = self.bytes.len() as u64;
        Ok(match number % 2 {
            0 => Payload::Bytes(self.bytes.clone()),
            _ => Payload::File { file: self.file.clone(), offset: 0, len },
        })
    }

    fn store(
        &self,
        _: &AppId,
        _: ExecutorId,
        _: &BlockId,
        _: StorageLevel,
        _: u64,
        _: &mut dyn Read,
    ) -> Result<(), String> {
        Err("takes no blocks".to_owned())
    }
}

fn main() {
    let rounds = bench_size::start().and_then(|word| word.parse().ok()).unwrap_or(sized(3, 1));
    let turns = rounds * sized((1 << 30) / turn_bytes(), 1);
    println!(
        "| blocks | from | plain copy, MiB/s | blocks, MiB/s | of plain | plain, CPU ms/GiB | blocks, CPU ms/GiB |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, size) in [("16 MiB", 16 << 20), ("1 MiB", 1 << 20), ("64 KiB", 64 << 10), ("4 KiB", 4 << 10)] {
        for place in [Place::Memory, Place::File] {
            let (plain, blocks) = measure(size, place, turns);
            println!(
                "| {name} | {place:?} | {:.0} | {:.0} | {:.0} % | {:.0} | {:.0} |",
                plain.speed,
                blocks.speed,
                blocks.speed / plain.speed * 100.0,
                plain.cpu,
                blocks.cpu,
            );
        }
    }
}

/// The best of several turns.
struct Best {
    /// MiB per second.
    speed: f64,
    /// Milliseconds of processor time per GiB, both ends.
    cpu: f64,
}

impl Best {
    const NONE: Self = Self { speed: 0.0, cpu: f64::INFINITY };

    fn turn(&mut self, copy: impl FnOnce()) {
        let (start, cpu) = (Instant::now(), cpu_time());
        copy();
        let (time, cpu) = (start.elapsed(), cpu_time().saturating_sub(cpu));
        let mebibytes = turn_bytes() as f64 / f64::from(1 << 20);
        self.speed = self.speed.max(mebibytes / time.as_secs_f64());
        self.cpu = self.cpu.min(cpu.as_secs_f64() * 1e3 * 1024.0 / mebibytes);
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("processor time is not negative")
}

/// The plain copy and the block transfer.
fn measure(size: usize, place: Place, turns: usize) -> (Best, Best) {
    let content: Bytes = (0..size).map(|at| (at * 7) as u8).collect::<Vec<_>>().into();
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&content).expect("room for a temporary file");
    let file = Arc::new(file);
    let (realm, secret) = (Realm::from("bench"), Secret::random());
    let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
    let source = Arc::new(Same { bytes: content.clone(), file: file.clone() });
    let services = Services::new().streams(Service::Blocks, serve_blocks(source, BlockLimits::default()));
    let server =
        Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services).expect("a free port");
    let client = BlockClient::new(ClientConf::new(Dialer::new(realm, secret)));
    let peer = PeerAddr::new(ExecutorId(1), "127.0.0.1", server.address().port());

    let (mut plain, mut blocks) = (Best::NONE, Best::NONE);
    for _ in 0..turns {
        plain.turn(|| plain_copy(&content, &file, place));
        blocks.turn(|| fetch(&client, &peer, size, place));
    }
    (plain, blocks)
}

fn plain_copy(content: &Bytes, file: &Arc<File>, place: Place) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound listener");
    let (content, size, file) = (content.clone(), content.len(), file.clone());
    let writer = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("the reader connects");
        for _ in 0..turn_bytes() / content.len() {
            match place {
                Place::Memory => socket.write_all(&content).expect("the reader reads"),
                Place::File => {
                    (&*file).rewind().expect("a file can be read again");
                    io::copy(&mut &*file, &mut socket).expect("the reader reads");
                }
            }
        }
    });
    let mut socket = TcpStream::connect(address).expect("the listener listens");
    let mut buffer = vec![0; size];
    for _ in 0..turn_bytes() / size {
        socket.read_exact(&mut buffer).expect("the writer writes");
        black_box(&buffer);
    }
    writer.join().expect("the writer does not panic");
}

fn fetch(client: &BlockClient, peer: &PeerAddr, size: usize, place: Place) {
    let number = u64::from(place == Place::File);
    let mut left = turn_bytes() / size;
    while left > 0 {
        // As the fetcher asks: about 10 MiB at a time.
        let many = left.min(((10 << 20) / size).max(1));
        let ids = vec![BlockId::TaskResult(AttemptId(number)); many];
        client.fetch_bytes(peer, &ids, size as u64, &mut |_, block| {
            let bytes = block.expect("every block is served");
            assert_eq!(bytes.len(), size);
            black_box(bytes);
        });
        left -= many;
    }
}
