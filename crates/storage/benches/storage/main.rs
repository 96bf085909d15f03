//! How fast rows get to bytes, to files and back, beside what the machine can do at best in the same run.
//!
//! Every figure is in megabytes of rows per second, counted as the rows are in memory without their headers: so figures
//! compare across compressions, and one that is above the plain file means that compression paid. Files are written
//! without waiting for the disk and are read from the page cache, like shuffle files that are read soon.
//!
//! `cargo bench -p firesteel-storage --bench storage`, with the beginning of a group's name to see one group.
//! A new group is a file with a function that takes the [`Table`], and a line in `main`.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

mod baseline;
#[path = "../../../../testing/bench_size.rs"]
mod bench_size;
mod codec;
mod files;
mod rows;
mod table;

use table::Table;

fn main() {
    let only = bench_size::start().unwrap_or_default();
    let groups: [(&str, fn(&mut Table)); 3] =
        [("baseline", baseline::run), ("codec", codec::run), ("files", files::run)];
    let mut table = Table::new();
    for (name, run) in groups {
        if name.starts_with(&only) {
            table.group(name);
            run(&mut table);
        }
    }
}
