//! Reducing rows that are floating-point numbers several at a time: [`reduce`].

use std::{any::TypeId, array};

/// Rows that wait to be reduced together.
const WAITING: usize = 256;
/// How many of them are reduced side by side: as many additions as a processor has under way at once.
const LANES: usize = 8;
const LANE: usize = WAITING / LANES;

/// Reduces rows with a function that is associative, from the left to the right.
///
/// To add one floating-point number after the other to a sum is to wait for each addition, and the compiler must not change
/// their order, as it does with whole numbers. We may: so neighbours are first reduced to one each, a few groups of them
/// side by side.
#[inline]
pub(super) fn reduce<T: Clone + 'static>(
    mut rows: impl Iterator<Item = T>,
    f: impl Fn(T, T) -> T,
) -> Option<T> {
    if ![TypeId::of::<f64>(), TypeId::of::<f32>()].contains(&TypeId::of::<T>()) {
        return rows.reduce(f);
    }
    let first = rows.next()?;
    let mut waiting: [T; WAITING] = array::from_fn(|_| first.clone());
    let (reduced, left) = rows.fold((first, 0), |(reduced, at), row| {
        waiting[at] = row;
        if at + 1 < WAITING { (reduced, at + 1) } else { (f(reduced, in_lanes(&waiting, &f)), 0) }
    });
    Some(waiting[..left].iter().cloned().fold(reduced, f))
}

/// Reduces neighbours, each of [`LANES`] groups for itself and then their results.
#[inline(never)]
fn in_lanes<T: Clone>(rows: &[T; WAITING], f: &impl Fn(T, T) -> T) -> T {
    let mut lanes: [T; LANES] = array::from_fn(|lane| rows[lane * LANE].clone());
    for place in 1..LANE {
        for (lane, reduced) in lanes.iter_mut().enumerate() {
            *reduced = f(reduced.clone(), rows[lane * LANE + place].clone());
        }
    }
    let [first, others @ ..] = lanes;
    others.into_iter().fold(first, f)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIME: f64 = 101.0;

    /// One map `x → a x + b` after the other, each as the number `101 a + b`: associative, and not commutative.
    fn after(one: f64, two: f64) -> f64 {
        let [(a, b), (c, d)] = [one, two].map(|map| ((map / PRIME).floor(), map % PRIME));
        a * c % PRIME * PRIME + (c * b + d) % PRIME
    }

    #[test]
    fn rows_are_reduced_from_the_left_to_the_right() {
        for rows in [0, 1, 2, 255, 256, 257, 258, 512, 513, 514, 10_000] {
            let maps = (0..rows).map(f64::from).map(|row| (PRIME + row * row) % (PRIME * PRIME));
            assert_eq!(reduce(maps.clone(), after), maps.reduce(after), "{rows} rows");
        }
    }

    #[test]
    fn other_rows_are_reduced_too() {
        assert_eq!(
            reduce(["a", "b", "c"].map(str::to_owned).into_iter(), |a, b| a + &b),
            Some("abc".to_owned())
        );
        assert_eq!(reduce(0..1000, |a, b| a + b), Some(499_500));
        assert_eq!(reduce(0..0, |a, b| a + b), None);
    }
}
