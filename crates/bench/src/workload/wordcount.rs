//! The words of a text, counted.

use std::{fs::File, os::unix::fs::FileExt, path::Path, path::PathBuf};

use anyhow::{Context as _, Result};
use firesteel::prelude::*;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{
    Job, Outcome, Setup, Sizes, Targets, Workload,
    rows::{PARTS, digest},
};
use crate::{
    checksum::{Digest, bytes, row},
    hand::{both, share},
};

pub(super) const WORDCOUNT: Workload = Workload {
    name: "wordcount",
    what: "the words of a text of 500 MB, counted",
    unit: "MB",
    sizes: |scale| Sizes::default().scaled("bytes", 500_000_000, scale),
    units: |sizes| sizes.of("bytes") as f64 / 1e6,
    engine,
    limit: Some(limit),
    reads_text: true,
    targets: Targets::spark(7.0, 6.0).limit(1.5),
    ..Workload::PLAIN
};

/// The file in the folder of data.
pub(super) const TEXT: &str = "text.txt";

/// The same with a `String` for every word, as one writes it first.
pub(super) const WORDCOUNT_STRINGS: Workload = Workload {
    name: "wordcount_strings",
    what: "the same text, with a string for every word",
    engine: engine_with_strings,
    targets: Targets::NONE,
    ..WORDCOUNT
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, path) = (setup.ctx.clone(), setup.data.join(TEXT).display().to_string());
    job(move || {
        let lines = ctx.text_file_into(&path, PARTS)?;
        Ok(lines.map_reduce_into(
            PARTS,
            |line, emit| line.split(' ').for_each(|word| emit.pair(word, 1_u64)),
            |a, b| a + b,
        ))
    })
}

fn engine_with_strings(setup: &Setup<'_>) -> Job {
    let (ctx, path) = (setup.ctx.clone(), setup.data.join(TEXT).display().to_string());
    job(move || {
        let lines = ctx.text_file_into(&path, PARTS)?;
        let words = lines.flat_map(|line| line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        Ok(words.map(|word| (word, 1_u64)).reduce_by_key_into(PARTS, |a, b| a + b))
    })
}

fn job<R: Rdd<Item = (String, u64)>>(counts: impl Fn() -> Result<R> + Clone + 'static) -> Job {
    let checked = counts.clone();
    Job::new(
        move || Ok(Outcome::rows(counts()?.count()?)),
        move || Ok(digest(&checked()?.map(|(word, count)| row(bytes(word.as_bytes()), count)))?.into()),
    )
}

type Counts = HashMap<Vec<u8>, u64, FixedState>;

fn limit(_: &Sizes, data: &Path) -> Job {
    let path = data.join(TEXT);
    let checked = path.clone();
    Job::new(
        move || Ok(Outcome::rows(count_by_hand(&path)?.len() as u64)),
        move || {
            let counts = count_by_hand(&checked)?;
            Ok(Digest::of(counts.iter().map(|(word, count)| row(bytes(word), *count))).into())
        },
    )
}

fn count_by_hand(path: &PathBuf) -> Result<Counts> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let length = file.metadata()?.len();
    let [one, two] = both(|thread| -> Result<Counts> {
        let half = share(length, thread);
        let (from, to) = (line_start(&file, half.start)?, line_start(&file, half.end)?);
        count_part(&file, from, to)
    });
    let (mut all, rest) = (one?, two?);
    rest.into_iter().for_each(|(word, count)| *all.entry(word).or_insert(0) += count);
    Ok(all)
}

/// The first start of a line at or behind `offset`.
fn line_start(file: &File, offset: u64) -> Result<u64> {
    if offset == 0 {
        return Ok(0);
    }
    let mut buffer = [0; 4096];
    let mut at = offset - 1;
    loop {
        let read = file.read_at(&mut buffer, at)?;
        if read == 0 {
            return Ok(at);
        }
        if let Some(end) = buffer[..read].iter().position(|byte| *byte == b'\n') {
            return Ok(at + end as u64 + 1);
        }
        at += read as u64;
    }
}

/// Counts the words of whole lines, a megabyte at a time.
fn count_part(file: &File, mut from: u64, to: u64) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut buffer = vec![0; 1 << 20];
    while from < to {
        let most = buffer.len().min((to - from) as usize);
        let read = file.read_at(&mut buffer[..most], from)?;
        // What stands behind the last line's end is read again with the next megabyte.
        let whole = match buffer[..read].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None => read,
        };
        if whole == 0 {
            break;
        }
        for word in buffer[..whole].split(|byte| matches!(byte, b' ' | b'\n')) {
            if !word.is_empty() {
                *counts.entry_ref(word).or_insert(0) += 1;
            }
        }
        from += whole as u64;
    }
    Ok(counts)
}
