//! The serde codecs side by side, each over the same rows, one row after another as a shuffle writes them.
//!
//! Prints for each kind of row: nanoseconds per row to encode, to decode, and to do both with lz4 in between, and the
//! bytes per row before and after lz4. The decision that came out of it stands in `docs/codec.md`.
//!
//! `cargo bench -p firesteel-storage --bench codecs`, with the beginning of a kind's name to see one only.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "../../../../testing/bench_size.rs"]
mod bench_size;
mod candidates;
mod rows;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bench_size::sized;
use candidates::{Bincode, Bitcode, Candidate, Fixed, MessagePack, Own, Postcard};
use firesteel_storage::codec::Rows;
use rows::{Event, Order, Row};

fn main() {
    let only = bench_size::start().unwrap_or_default();
    println!(
        "{:<18} {:<14} {:>9} {:>9} {:>9} {:>8} {:>8}",
        "rows", "codec", "encode", "decode", "with lz4", "B raw", "B lz4"
    );
    let mut kind = Kind { only };
    kind.compare("(u64, u64)", rows::pairs());
    kind.compare("(String, u64)", rows::words());
    kind.compare("(String, Vec<f64>)", rows::vectors());
    kind.compare::<Order>("struct of six", rows::orders());
    kind.compare::<Event>("enum", rows::events());
}

struct Kind {
    only: String,
}

impl Kind {
    fn compare<T: Row>(&mut self, name: &str, rows: Vec<T>) {
        if !name.starts_with(&self.only) {
            return;
        }
        measure::<T, Own>(name, &rows);
        if Rows::<T>::fixed().is_some() {
            measure::<T, Fixed>(name, &rows);
        }
        measure::<T, Bincode<true>>(name, &rows);
        measure::<T, Bincode<false>>(name, &rows);
        measure::<T, Postcard>(name, &rows);
        measure::<T, Bitcode>(name, &rows);
        measure::<T, MessagePack>(name, &rows);
        println!();
    }
}

fn measure<T: Row, C: Candidate>(name: &str, rows: &[T]) {
    let per_row = |time: Duration| time.as_secs_f64() * 1e9 / rows.len() as f64;
    let mut bytes = Vec::new();
    let encode = best(|| {
        bytes.clear();
        C::encode(rows, &mut bytes);
    });
    let mut back: Vec<T> = Vec::with_capacity(rows.len());
    let decode = best(|| {
        back.clear();
        C::decode(&bytes, rows.len(), &mut back);
    });
    assert!(back == rows, "{} changes rows", C::NAME);
    let mut small = vec![0; lz4_flex::block::get_maximum_output_size(bytes.len())];
    let mut plain = vec![0; bytes.len()];
    let mut small_length = 0;
    let compressed = best(|| {
        small_length = lz4_flex::block::compress_into(&bytes, &mut small).expect("room for the worst case");
        lz4_flex::block::decompress_into(&small[..small_length], &mut plain).expect("its own bytes");
    });
    println!(
        "{name:<18} {:<14} {:>9.1} {:>9.1} {:>9.1} {:>8.1} {:>8.1}",
        C::NAME,
        per_row(encode),
        per_row(decode),
        per_row(encode + decode + compressed),
        bytes.len() as f64 / rows.len() as f64,
        small_length as f64 / rows.len() as f64,
    );
}

/// The shortest of many calls: what else runs on the machine only ever makes one longer.
fn best(mut call: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    // Long enough for some hundred calls, short enough for a table in half a minute.
    let end = Instant::now() + Duration::from_millis(sized(300, 0));
    loop {
        let start = Instant::now();
        black_box(&mut call)();
        best = best.min(start.elapsed());
        if Instant::now() >= end {
            return best;
        }
    }
}
