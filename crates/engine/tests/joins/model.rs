//! What joins and set operations give, worked out over plain vectors.

pub(crate) type Pairs<V> = Vec<(u8, V)>;

/// Every pair of rows with the same key, and the rows of either side that have no partner.
pub(crate) fn full_outer<V: Clone, W: Clone>(
    left: &Pairs<V>,
    right: &Pairs<W>,
) -> Pairs<(Option<V>, Option<W>)> {
    let mut rows = Vec::new();
    for (key, value) in left {
        for (_, partner) in right.iter().filter(|(other, _)| other == key) {
            rows.push((*key, (Some(value.clone()), Some(partner.clone()))));
        }
        if right.iter().all(|(other, _)| other != key) {
            rows.push((*key, (Some(value.clone()), None)));
        }
    }
    for (key, value) in right.iter().filter(|(key, _)| left.iter().all(|(other, _)| other != key)) {
        rows.push((*key, (None, Some(value.clone()))));
    }
    rows
}

/// The keys of all sides, each once, in order.
pub(crate) fn keys(sides: &[Vec<u8>]) -> Vec<u8> {
    let mut keys = sides.concat();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The values of one key, in order.
pub(crate) fn values<V: Clone + Ord>(side: &Pairs<V>, key: u8) -> Vec<V> {
    sorted(side.iter().filter(|(other, _)| *other == key).map(|(_, value)| value.clone()).collect())
}

pub(crate) fn sorted<T: Ord>(mut rows: Vec<T>) -> Vec<T> {
    rows.sort_unstable();
    rows
}
