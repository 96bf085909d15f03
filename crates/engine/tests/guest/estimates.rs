//! Keyed operators under little memory, measured by what they estimate.

use std::{collections::BTreeMap, sync::mpsc};

use firesteel::{ContextBuilder, ListenerEvent, Order, prelude::*};

use crate::support::each_backend_with;

const ROWS: u64 = 120_000;
const KEYS: u64 = 30_000;
const BUDGET: u64 = 512 << 10;

fn pair(row: u64) -> (u64, u64) {
    (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) % KEYS, row)
}

fn tight(builder: ContextBuilder) -> ContextBuilder {
    builder.set("firesteel.memory.budget", format!("{BUDGET}b")).unwrap()
}

#[test]
fn without_the_counting_allocator_operators_spill_and_give_the_same_rows() {
    let mut model: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (key, row) in (0..ROWS).map(pair) {
        model.entry(key).or_default().push(row);
    }

    each_backend_with(tight, |ctx| {
        let pairs = ctx.range_into(0..ROWS, 4).map(pair);

        let mut sums = pairs.reduce_by_key(|one, other| one + other).collect().unwrap();
        sums.sort_unstable();
        assert!(sums.into_iter().eq(model.iter().map(|(key, rows)| (*key, rows.iter().sum()))));

        let groups = pairs.group_by_key().map(|(key, rows)| {
            let mut rows: Vec<_> = rows.into_iter().collect();
            rows.sort_unstable();
            (key, rows)
        });
        assert_eq!(groups.collect().unwrap().into_iter().collect::<BTreeMap<_, _>>(), model);

        let sorted = pairs.map(|(key, row)| (row, key)).sort_by_key(Order::Ascending).unwrap().keys();
        assert!(sorted.collect().unwrap().into_iter().eq(0..ROWS));

        let joined = pairs.join(&pairs.filter(|(_, row)| row % 10 == 0)).count().unwrap();
        let partners = |rows: &[u64]| rows.len() * rows.iter().filter(|row| *row % 10 == 0).count();
        assert_eq!(joined, model.values().map(|rows| partners(rows) as u64).sum::<u64>());
    });
}

#[test]
fn the_peak_of_a_task_is_what_its_operators_estimate() {
    each_backend_with(tight, |ctx| {
        let (tell, told) = mpsc::channel();
        let listener = move |event: &ListenerEvent| {
            if let ListenerEvent::TaskEnd { metrics, .. } = event {
                tell.send(metrics.peak_memory_bytes).unwrap();
            }
        };
        ctx.add_listener(listener).unwrap();

        let groups = ctx.range_into(0..ROWS, 2).map(pair).group_by_key_into(2);
        assert_eq!(groups.count().unwrap(), KEYS);
        ctx.stop().unwrap();

        // The tables of all keys would take more than there is, so each spilled, and each came near its share before.
        let peaks: Vec<_> = told.iter().collect();
        assert_eq!(peaks.len(), 4);
        assert!(peaks.iter().all(|peak| (BUDGET / 16..=2 * BUDGET).contains(peak)), "{peaks:?}");
    });
}
