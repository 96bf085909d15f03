//! What the machine can do: copy memory, write a file, read it back.

use std::fs::{self, File};
use std::io::{Read, Write};

use crate::{bench_size::sized, table::Table};

const PIECE: usize = 256 * 1024;

pub(crate) fn run(table: &mut Table) {
    let bytes: usize = sized(32_000_000, 320_000);
    let from: Vec<u8> = (0..bytes).map(|index| index as u8).collect();
    let mut to = vec![0; bytes];
    let mut line = |what: &str, call: &mut dyn FnMut()| {
        table.line("bytes", what, bytes as u64, || {
            call();
            bytes as u64
        });
    };
    line("memory copy", &mut || to.copy_from_slice(&from));

    let folder = tempfile::tempdir().expect("a folder for files");
    let path = folder.path().join("plain");
    line("plain file write", &mut || {
        // A new file each time, as the shuffle has it: pages of an old one would be there already.
        let _ = fs::remove_file(&path);
        let mut file = File::create(&path).expect("a new file");
        for piece in from.chunks(PIECE) {
            file.write_all(piece).expect("room for the file");
        }
    });
    let mut piece = vec![0; PIECE];
    line("plain file read", &mut || {
        let mut file = File::open(&path).expect("the file just written");
        while file.read(&mut piece).expect("a sound disk") > 0 {}
    });
}
