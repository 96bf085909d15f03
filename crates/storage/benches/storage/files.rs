//! Rows to shuffle files and back: spills, map outputs, and spills made into outputs.

use firesteel_storage::codec::Compression;
use firesteel_storage::disk::LocalDirs;
use firesteel_storage::shuffle::files::{
    FileRange, MapOutputFile, MapOutputWriter, SpillFile, SpillWriter, remove_shuffle,
};
use firesteel_types::{AttemptId, PartitionId, ShuffleId};

use crate::codec::COMPRESSIONS;
use crate::rows::Kind;
use crate::table::Table;

const PARTITIONS: u32 = 200;
const SPILLS: usize = 4;
const SHUFFLE: ShuffleId = ShuffleId(0);
const MAP: PartitionId = PartitionId(0);

pub(crate) fn run(table: &mut Table) {
    kind::<(u64, u64)>(table);
    kind::<(String, u64)>(table);
    kind::<Vec<u8>>(table);
}

fn kind<T: Kind>(table: &mut Table) {
    let folder = tempfile::tempdir().expect("a folder for files");
    let dirs = LocalDirs::create(&[folder.path().to_owned()], "bench").expect("a folder for files");
    let (rows, bytes) = T::rows();
    for compression in COMPRESSIONS {
        let mut line = |what: &str, call: &mut dyn FnMut() -> u64| {
            table.line(T::NAME, &format!("{what}, {compression}"), bytes, call);
        };
        line("map output write", &mut || {
            remove_shuffle(&dirs, SHUFFLE).expect("the last output");
            write_output(&dirs, compression, &rows, false)
        });
        line("map output read", &mut || read_output::<T>(&dirs));
        line("map output write with sums", &mut || {
            remove_shuffle(&dirs, SHUFFLE).expect("the last output");
            write_output(&dirs, compression, &rows, true)
        });
        let mut spills = Vec::new();
        line("spill", &mut || {
            let per_spill = rows.len().div_ceil(SPILLS);
            spills = rows.chunks(per_spill).map(|rows| spill(&dirs, compression, rows)).collect();
            spills.iter().map(SpillFile::bytes).sum()
        });
        line("spills to map output", &mut || {
            remove_shuffle(&dirs, SHUFFLE).expect("the last output");
            merge(&dirs, &spills)
        });
    }
}

fn write_output<T: Kind>(dirs: &LocalDirs, compression: Compression, rows: &[T], sums: bool) -> u64 {
    let mut output = MapOutputWriter::new(dirs, SHUFFLE, MAP, PARTITIONS, compression, AttemptId(0));
    for (partition, rows) in (0..).zip(rows.chunks(rows.len().div_ceil(PARTITIONS as usize))) {
        output.start(PartitionId(partition));
        let mut writer = output.rows();
        if sums {
            writer = writer.with_content_sum(partition);
        }
        writer.extend(rows).expect("room for the output");
        writer.finish().expect("room for the output");
    }
    output.commit().expect("room for the output").file.lengths().iter().sum()
}

fn read_output<T: Kind>(dirs: &LocalDirs) -> u64 {
    let file = MapOutputFile::open(dirs, SHUFFLE, MAP).expect("the output just written");
    let mut batch: Vec<T> = Vec::new();
    for block in (0..PARTITIONS).filter_map(|reduce| file.block(PartitionId(reduce))) {
        let mut reader = block.rows();
        while reader.next_batch(&mut batch).expect("the rows that were written") {
            batch.clear();
        }
    }
    file.lengths().iter().sum()
}

fn spill<T: Kind>(dirs: &LocalDirs, compression: Compression, rows: &[T]) -> SpillFile {
    let mut spill = SpillWriter::new(dirs, compression);
    for (partition, rows) in (0..).zip(rows.chunks(rows.len().div_ceil(PARTITIONS as usize))) {
        spill.start(partition);
        let mut writer = spill.rows();
        writer.extend(rows).expect("room for the spill");
        writer.finish().expect("room for the spill");
    }
    spill.finish().expect("room for the spill")
}

fn merge(dirs: &LocalDirs, spills: &[SpillFile]) -> u64 {
    let mut output = MapOutputWriter::new(dirs, SHUFFLE, MAP, PARTITIONS, Compression::Lz4, AttemptId(0));
    for reduce in 0..PARTITIONS {
        output.start(PartitionId(reduce));
        for block in spills.iter().filter_map(|spill| spill.block(reduce)) {
            append(&mut output, &block);
        }
    }
    output.commit().expect("room for the output").file.lengths().iter().sum()
}

fn append(output: &mut MapOutputWriter, block: &FileRange) {
    output.append(block).expect("a sound spill");
}
