//! Reducing rows that are floating-point numbers four at a time: [`reduce`].

use std::any::TypeId;

/// Reduces rows with a function that is associative, from the left to the right.
///
/// To add one floating-point number after the other to a sum is to wait for each addition, and the compiler must not change
/// their order, as it does with whole numbers. We may: so each four neighbours are reduced before they meet the sum, and
/// only one addition in four waits. The steps need no look where rows come in blocks whose length is a multiple of four:
/// there the compiler knows which one it is.
#[inline]
pub(super) fn reduce<T: Clone + 'static>(
    mut rows: impl Iterator<Item = T>,
    f: impl Fn(T, T) -> T,
) -> Option<T> {
    if ![TypeId::of::<f64>(), TypeId::of::<f32>()].contains(&TypeId::of::<T>()) {
        return rows.reduce(f);
    }
    let first = rows.next()?;
    let nothing = (first.clone(), first.clone(), 0);
    let (sum, (left, right, waiting)) =
        rows.fold((first, nothing), |(sum, (left, right, waiting)), row| match waiting {
            0 => (sum, (row, right, 1)),
            1 => (sum, (f(left, row), right, 2)),
            2 => (sum, (left, row, 3)),
            _ => (f(sum, f(left.clone(), f(right.clone(), row))), (left, right, 0)),
        });
    Some(match waiting {
        0 => sum,
        1 | 2 => f(sum, left),
        _ => f(sum, f(left, right)),
    })
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
        for rows in (0..20).chain([10_000]) {
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
