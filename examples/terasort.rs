//! A sort in the manner of `TeraSort`: records of 100 bytes with a key of 10, brought into order over all partitions.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::{fs, path::PathBuf, time::Instant};

use firesteel::{Rng, prelude::*};

const RECORD: usize = 100;
const KEY: usize = 10;

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let records = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(500_000);
    let input = make_records(records)?;
    let start = Instant::now();
    let sorted = ctx
        .binary_records(&input.display().to_string(), RECORD as u64)?
        .map(|record| {
            let key: [u8; KEY] = record[..KEY].try_into().unwrap_or_default();
            (key, record)
        })
        .sort_by_key(Order::Ascending)?
        .cache();

    // Each partition must be in order, and end before the next begins.
    let edges = sorted
        .map_partitions(|mut rows| {
            let first = rows.next().map(|(key, _)| key);
            let ordered = first.map(|first| {
                rows.try_fold((first, first), |(first, last), (key, _)| (last <= key).then_some((first, key)))
            });
            Rows::new(ordered)
        })
        .collect()?;
    let edges: Option<Vec<_>> = edges.into_iter().collect();
    let in_order =
        edges.is_some_and(|edges| edges.is_sorted() && edges.windows(2).all(|two| two[0].1 <= two[1].0));
    let seconds = start.elapsed().as_secs_f64();
    println!("{} records in {} partitions, in order: {in_order}", sorted.count()?, sorted.num_partitions());
    println!("{seconds:.2} s, {:.0} MB/s", (records * RECORD) as f64 / 1e6 / seconds);
    fs::remove_file(input).map_err(Error::from)
}

fn make_records(records: usize) -> Result<PathBuf> {
    let mut rng = Rng::new(7);
    let bytes: Vec<u8> = (0..records * RECORD).map(|_| b'!' + rng.below(90) as u8).collect();
    let file = std::env::temp_dir().join(format!("firesteel-terasort-{}.bin", std::process::id()));
    fs::write(&file, bytes)?;
    Ok(file)
}
