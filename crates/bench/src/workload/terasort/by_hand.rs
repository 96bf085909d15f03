//! The sort by hand: ranges from a sample, then each range by itself, kept in memory or in a file.

use std::{
    fs::{self, File},
    hint::black_box,
    io::{BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{
    checksum::{Answer, OrderedDigest},
    data::records::{KEY, Key, RECORD, fill_payload, key, row},
    hand::{THREADS, both, exchange, share},
    workload::{Job, Sizes},
};

type Record = [u8; RECORD];

pub(super) fn in_memory(sizes: &Sizes, _: &Path) -> Job {
    let records = sizes.of("records");
    Job::new(
        move || {
            sort_in_memory(records, |sorted| drop(black_box(sorted)));
            Ok(Answer::Nothing.into())
        },
        move || {
            let ranges = sort_in_memory(records, |sorted| digest(&sorted));
            Ok(ranges.into_iter().fold(OrderedDigest::default(), OrderedDigest::then).into())
        },
    )
}

pub(super) fn on_disk(sizes: &Sizes, data: &Path) -> Job {
    let (records, folder) = (sizes.of("records"), data.to_owned());
    let same = folder.clone();
    Job::new(
        move || {
            sort_on_disk(records, &folder, |sorted| drop(black_box(sorted)))?;
            Ok(Answer::Nothing.into())
        },
        move || {
            let ranges = sort_on_disk(records, &same, |sorted| digest(&sorted))?;
            Ok(ranges.into_iter().fold(OrderedDigest::default(), OrderedDigest::then).into())
        },
    )
}

fn digest(sorted: &[Record]) -> OrderedDigest {
    let rows = sorted.iter().map(|record| row(&record[..KEY], &record[KEY..]));
    rows.fold(OrderedDigest::default(), OrderedDigest::with)
}

fn record(index: u64) -> Record {
    let mut record = [0; RECORD];
    record[..KEY].copy_from_slice(&key(index));
    fill_payload(index, &mut record[KEY..]);
    record
}

/// The upper ends of `ranges` ranges of about the same size, but for the last.
fn bounds(records: u64, ranges: usize) -> Vec<Key> {
    let mut sample: Vec<Key> = (0..records).step_by((records / 4000).max(1) as usize).map(key).collect();
    sample.sort_unstable();
    (1..ranges).map(|range| sample[range * sample.len() / ranges]).collect()
}

fn range_of(bounds: &[Key], record: &Record) -> usize {
    bounds.partition_point(|bound| bound[..] <= record[..KEY])
}

/// Sorts small entries that begin with the key, then moves each record once.
fn sorted(records: &[Record]) -> Vec<Record> {
    let entry = |(place, record): (usize, &Record)| {
        let head = u64::from_be_bytes(record[..8].try_into().expect("eight bytes are eight bytes"));
        (head, u16::from_be_bytes([record[8], record[9]]), place as u32)
    };
    let mut order: Vec<(u64, u16, u32)> = records.iter().enumerate().map(entry).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, _, place)| records[place as usize]).collect()
}

fn sort_in_memory<U: Send>(records: u64, each: impl Fn(Vec<Record>) -> U + Sync) -> Vec<U> {
    const RANGES: usize = 32;
    let bounds = bounds(records, RANGES);
    let fill = |thread, ranges: &mut [Vec<Record>]| {
        for record in share(records, thread).map(record) {
            ranges[range_of(&bounds, &record)].push(record);
        }
    };
    let room = records / (THREADS * RANGES) as u64;
    exchange(RANGES, room, fill, |_, pieces| each(sorted(&pieces.concat())))
}

/// Each thread writes its records to a file for each range; then a range at a time is read and sorted.
fn sort_on_disk<U: Send>(
    records: u64,
    folder: &Path,
    each: impl Fn(Vec<Record>) -> U + Sync,
) -> Result<Vec<U>> {
    const RANGES: usize = 128;
    let bounds = bounds(records, RANGES);
    let file = |thread: usize, range: usize| folder.join(format!("range-{range}-{thread}.bin"));
    let written = both(|thread| -> Result<()> {
        let create = |range| Ok(BufWriter::with_capacity(1 << 17, File::create(file(thread, range))?));
        let mut files = (0..RANGES).map(create).collect::<Result<Vec<_>>>()?;
        for record in share(records, thread).map(record) {
            files[range_of(&bounds, &record)].write_all(&record)?;
        }
        files.iter_mut().try_for_each(|file| Ok(file.flush()?))
    });
    written.into_iter().collect::<Result<()>>()?;
    let halves = both(|thread| -> Result<Vec<U>> {
        let mine = RANGES / THREADS * thread..RANGES / THREADS * (thread + 1);
        mine.map(|range| {
            let files = [file(0, range), file(1, range)];
            Ok(each(sorted(&read_and_remove(&files)?)))
        })
        .collect()
    });
    let mut all = Vec::with_capacity(RANGES);
    for half in halves {
        all.extend(half?);
    }
    Ok(all)
}

fn read_and_remove(files: &[PathBuf]) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for path in files {
        let mut file = File::open(path)?;
        let count = file.metadata()?.len() as usize / RECORD;
        let start = records.len();
        records.resize(start + count, [0; RECORD]);
        file.read_exact(records[start..].as_flattened_mut())?;
        fs::remove_file(path)?;
    }
    Ok(records)
}
