//! Broadcast variables that are larger than a piece.

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    cluster,
    gate::{Gate, until},
};

/// A large value whose copies report when they are dropped.
#[derive(Clone, Serialize, Deserialize)]
struct Table {
    rows: Vec<u64>,
    /// The process that made it.
    made_by: u32,
    gone: Gate,
}

impl Drop for Table {
    fn drop(&mut self) {
        if std::process::id() != self.made_by {
            self.gone.arrive();
        }
    }
}

/// Behaviours: BC-001, BC-002, BC-003.
#[test]
fn twenty_mebibytes_are_read_on_both_executors_and_their_copies_go_when_they_are_told() {
    let ctx = cluster();
    // Numbers that cannot be compressed.
    let rows: Vec<u64> = (0..20_u64 << 17).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let sum = rows.iter().copied().fold(0, u64::wrapping_add);
    let gone = Gate::new();
    let table = Table { rows, made_by: std::process::id(), gone: gone.clone() };
    let table = ctx.broadcast(table).unwrap();
    // Two tasks at once, so one on each executor, and two more that find the value there.
    let read = || {
        let read = ctx.range_into(0..4_u64, 4).with((table.clone(), Gate::new())).map(|(table, gate), _| {
            assert!(gate.meet(2));
            let sum = table.value().rows.iter().copied().fold(0, u64::wrapping_add);
            (sum, std::process::id())
        });
        read.collect()
    };

    let mut sums = read().unwrap();
    assert!(sums.iter().all(|read| read.0 == sum));
    sums.sort_unstable();
    sums.dedup();
    assert_eq!(sums.len(), 2, "on both executors");
    assert_eq!(gone.arrivals(), 0);

    table.unpersist();
    until(|| gone.arrivals() == 2);
    assert!(read().unwrap().iter().all(|read| read.0 == sum), "fetched again");

    table.destroy();
    until(|| gone.arrivals() == 4);
    let error = read().unwrap_err().to_string();
    assert!(error.contains("broadcast-") && error.contains("destroyed"), "{error}");
}

/// Behaviours: BLK-024.
#[test]
fn the_copies_of_a_broadcast_variable_go_when_no_handle_is_left() {
    let ctx = cluster();
    let gone = Gate::new();
    let table = Table { rows: vec![7; 1 << 20], made_by: std::process::id(), gone: gone.clone() };
    let table = ctx.broadcast(table).unwrap();
    let read = ctx.range_into(0..2_u64, 2).with((table.clone(), Gate::new())).map(|(table, gate), _| {
        assert!(gate.meet(2), "one task on each executor");
        table.value().rows[5]
    });
    assert_eq!(read.collect().unwrap(), [7, 7]);

    drop(table);
    assert_eq!(read.collect().unwrap(), [7, 7], "the RDD has a handle");
    assert_eq!(gone.arrivals(), 0);
    drop(read);

    until(|| gone.arrivals() == 2);
}
