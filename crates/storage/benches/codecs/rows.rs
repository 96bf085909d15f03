//! The rows that the codecs are compared on, about a frame's worth of each.

use std::fmt::Debug;

use firesteel_types::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a row must be able to do here.
pub(crate) trait Row: Serialize + DeserializeOwned + PartialEq + Debug + 'static {}

impl<T: Serialize + DeserializeOwned + PartialEq + Debug + 'static> Row for T {}

/// A row as a program with named fields has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    id: u64,
    customer: String,
    lines: u32,
    price: f64,
    note: Option<String>,
    paid: bool,
}

/// A row of one of several kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Event {
    Opened,
    Clicked { x: u32, y: u32 },
    Typed(String),
    Closed(u64, bool),
}

/// Keys and counts as they are after a map-side combine: keys spread, counts small.
pub(crate) fn pairs() -> Vec<(u64, u64)> {
    let mut rng = Rng::new(1);
    (0..16_384).map(|_| (rng.below(1_000_000) as u64, rng.below(1_000) as u64)).collect()
}

pub(crate) fn words() -> Vec<(String, u64)> {
    let mut rng = Rng::new(2);
    (0..12_000).map(|_| (word(&mut rng), 1 + rng.below(50) as u64)).collect()
}

pub(crate) fn vectors() -> Vec<(String, Vec<f64>)> {
    let mut rng = Rng::new(3);
    let coordinate = |rng: &mut Rng| rng.next_u64() as f64 / u64::MAX as f64;
    (0..1_500).map(|_| (word(&mut rng), (0..20).map(|_| coordinate(&mut rng)).collect())).collect()
}

pub(crate) fn orders() -> Vec<Order> {
    let mut rng = Rng::new(4);
    (0..6_000)
        .map(|id| Order {
            id: 7_000_000 + id,
            customer: word(&mut rng),
            lines: rng.below(20) as u32,
            price: rng.below(100_000) as f64 / 100.0,
            note: (rng.below(4) == 0).then(|| word(&mut rng)),
            paid: rng.below(2) == 0,
        })
        .collect()
}

pub(crate) fn events() -> Vec<Event> {
    let mut rng = Rng::new(5);
    (0..16_384)
        .map(|_| match rng.below(4) {
            0 => Event::Opened,
            1 => Event::Clicked { x: rng.below(2_000) as u32, y: rng.below(1_000) as u32 },
            2 => Event::Typed(word(&mut rng)),
            _ => Event::Closed(rng.below(100_000) as u64, rng.below(2) == 0),
        })
        .collect()
}

/// One of some thousand words of 4 to 13 letters.
fn word(rng: &mut Rng) -> String {
    let mut letters = Rng::new(rng.below(5_000) as u64);
    let length = 4 + letters.below(10);
    (0..length).map(|_| char::from(b'a' + letters.below(26) as u8)).collect()
}
