//! Files of large rows: no more of them are read ahead than fit in a small buffer.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use firesteel::{Conf, prelude::*};
use tempfile::TempDir;

use crate::child::{BESIDE, in_child};

/// As many rows as are 192 MiB together.
const ROWS: u64 = 48;
const ROW_BYTES: usize = 4 << 20;
/// The row that is used, the next one, and buffers.
const LARGE_ROWS_MAX: u64 = 6;

/// Runs a case in a child that reads files of large rows; it takes few of them at once.
fn case(test: &str, run: fn(&Context, &Path)) {
    let peak = in_child(test, || {
        // A file is one partition.
        let conf = Conf::new().set("firesteel.files.maxPartitionBytes", "1g").unwrap();
        let ctx = Context::builder().master("local[1]").conf(conf).start().unwrap();
        let folder = TempDir::new().unwrap();
        run(&ctx, folder.path());
    });
    if let Some(peak) = peak {
        let most = LARGE_ROWS_MAX * ROW_BYTES as u64 + BESIDE;
        assert!(peak <= most, "{test} took {} MiB of {}", peak >> 20, most >> 20);
    }
}

/// Writes rows without holding them.
fn write(path: &Path, end: &[u8]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for _ in 0..ROWS {
        let piece = [b'x'; 4096];
        (0..ROW_BYTES / piece.len()).for_each(|_| file.write_all(&piece).unwrap());
        file.write_all(end).unwrap();
    }
}

#[test]
fn of_long_lines_few_are_read_ahead() {
    case("read_ahead::of_long_lines_few_are_read_ahead", |ctx, folder| {
        let path = folder.join("lines");
        write(&path, b"\n");
        let lines = ctx.text_file_into(path.to_str().unwrap(), 1).unwrap();
        assert_eq!(lines.num_partitions(), 1);
        assert_eq!(lines.filter(|line| line.len() == ROW_BYTES).count().unwrap(), ROWS);
    });
}

#[test]
fn of_long_records_few_are_read_ahead() {
    case("read_ahead::of_long_records_few_are_read_ahead", |ctx, folder| {
        let path = folder.join("records");
        write(&path, b"");
        let records = ctx.binary_records(path.to_str().unwrap(), ROW_BYTES as u64).unwrap();
        assert!(records.num_partitions() <= 2);
        assert_eq!(records.filter(|record| record.len() == ROW_BYTES).count().unwrap(), ROWS);
    });
}

#[test]
fn of_large_objects_few_are_read_ahead() {
    case("read_ahead::of_large_objects_few_are_read_ahead", |ctx, folder| {
        let path = folder.join("objects");
        let rows = ctx.range_into(0..ROWS, 1).map(|x| vec![x as u8 | 1; ROW_BYTES]);
        rows.save_as_object_file(path.to_str().unwrap()).unwrap();
        let read = ctx.object_file::<Vec<u8>>(path.to_str().unwrap()).unwrap();
        assert_eq!(read.filter(|row| row.len() == ROW_BYTES).count().unwrap(), ROWS);

        ctx.set_checkpoint_dir(folder.join("checkpoints").to_str().unwrap()).unwrap();
        let kept = rows.checkpoint().unwrap();
        for _ in 0..2 {
            assert_eq!(kept.filter(|row| row.len() == ROW_BYTES).count().unwrap(), ROWS);
        }
    });
}
