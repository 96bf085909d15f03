//! Rows to frames in memory, and back.

use firesteel_storage::codec::{Compression, FrameWriter, RowsReader, RowsWriter};

use crate::rows::Kind;
use crate::table::Table;

pub(crate) const COMPRESSIONS: [Compression; 3] =
    [Compression::None, Compression::Lz4, Compression::Zstd { level: 1 }];

pub(crate) fn run(table: &mut Table) {
    kind::<(u64, u64)>(table);
    kind::<(String, u64)>(table);
    kind::<Vec<u8>>(table);
}

fn kind<T: Kind>(table: &mut Table) {
    let (rows, bytes) = T::rows();
    for compression in COMPRESSIONS {
        let mut out = Vec::new();
        table.line(T::NAME, &format!("encode, {compression}"), bytes, || {
            out.clear();
            let frames = FrameWriter::new(&mut out, compression).expect("a compressor");
            let mut writer = RowsWriter::new(frames);
            writer.extend(&rows).and_then(|()| writer.finish()).expect("rows that can be written");
            out.len() as u64
        });
        let mut batch: Vec<T> = Vec::new();
        table.line(T::NAME, &format!("decode, {compression}"), bytes, || {
            let mut reader = RowsReader::new(&out[..]);
            while reader.next_batch(&mut batch).expect("rows that were written") {
                batch.clear();
            }
            out.len() as u64
        });
    }
}
