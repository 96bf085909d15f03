//! Sides that spill at random points, against plain maps.

use std::collections::BTreeMap;

use firesteel_types::Rng;

use super::*;
use crate::{prelude::*, task::with_random_spills};

const CASES: u64 = 100;
const ROWS_MAX: usize = 1_000;

type Pairs = Vec<(u32, String)>;

/// Random pairs of one side. Some sides have few keys, some one heavy key, some no row.
fn random_side(rng: &mut Rng) -> Pairs {
    let (rows, keys, heavy) = (rng.below(ROWS_MAX), 1 + rng.below(300), rng.below(3));
    let rows = if rng.below(10) == 0 { 0 } else { rows };
    let key = |place: usize, rng: &mut Rng| if place % 3 < heavy { 0 } else { rng.below(keys) as u32 };
    (0..rows).map(|place| (key(place, rng), place.to_string())).collect()
}

fn values_of(side: &Pairs, key: u32) -> Vec<String> {
    side.iter().filter(|pair| pair.0 == key).map(|pair| pair.1.clone()).collect()
}

/// Whether each key comes once with the values of all four sides, each side in its order.
fn is_grouped(seed: u64) -> bool {
    let task = TaskContext::current().expect("it runs in a task");
    let mut rng = Rng::new(seed);
    let sides: [Pairs; 4] = std::array::from_fn(|_| random_side(&mut rng));
    let streamed = |side: &Pairs| Loaded::Streamed(Box::new(side.clone().into_iter()));
    let groups: Vec<_> = with_random_spills(seed, 2 << (seed % 7), || {
        let mut together = Together::new("test", &task);
        together.bring(streamed(&sides[0]), Side::First, &task);
        together.bring(streamed(&sides[1]), Side::Second, &task);
        together.bring(streamed(&sides[2]), Side::Third, &task);
        together.bring(streamed(&sides[3]), Side::Fourth, &task);
        together.into_groups().collect()
    });
    let by_key: BTreeMap<u32, _> = groups.iter().cloned().collect();
    let keys: std::collections::BTreeSet<u32> = sides.iter().flatten().map(|pair| pair.0).collect();
    groups.len() == by_key.len()
        && by_key.keys().eq(keys.iter())
        && by_key.into_iter().all(|(key, (first, second, third, fourth))| {
            [first, second, third, fourth]
                .iter()
                .zip(&sides)
                .all(|(found, side)| *found == values_of(side, key))
        })
}

#[test]
fn each_key_has_the_values_of_every_side_in_order_wherever_the_table_spills() {
    let ctx = Context::local(2).unwrap();

    let wrong = ctx.range_into(0..CASES, 8).filter(|seed| !is_grouped(*seed));

    assert_eq!(wrong.collect().unwrap(), [0_u64; 0]);
}
