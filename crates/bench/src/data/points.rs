//! Points for k-means.
//!
//! Coordinates are whole numbers, so that sums of them are exact in any order, and all systems find the same centres to
//! the last bit.

use crate::checksum::{Digest, mix, row};

/// Coordinates of a point.
pub const DIMENSIONS: usize = 8;

/// A point in space.
pub type Point = [f64; DIMENSIONS];

/// The point number `index`, with coordinates from 0 to 1023.
#[inline]
pub fn point(index: u64) -> Point {
    std::array::from_fn(|axis| (mix(index * DIMENSIONS as u64 + axis as u64) >> 54) as f64)
}

/// The first `count` points: where the search begins.
pub fn first_centres(count: u64) -> Vec<Point> {
    (0..count).map(point).collect()
}

/// The index of the centre that is nearest to `point`; the first of several.
#[inline]
pub fn nearest(centres: &[Point], point: &Point) -> u32 {
    let mut best = (f64::INFINITY, 0);
    for (index, centre) in centres.iter().enumerate() {
        let distance: f64 = centre.iter().zip(point).map(|(a, b)| (a - b) * (a - b)).sum();
        if distance < best.0 {
            best = (distance, index as u32);
        }
    }
    best.1
}

/// The sum of two points.
#[inline]
pub fn add(one: Point, two: Point) -> Point {
    std::array::from_fn(|axis| one[axis] + two[axis])
}

/// The mean of `count` points with this sum.
pub fn mean(sum: Point, count: u64) -> Point {
    sum.map(|total| total / count as f64)
}

/// The digest of centres: each coordinate with its place, to the last bit.
pub fn digest(centres: &[Point]) -> Digest {
    let coordinates = centres.iter().flatten();
    Digest::of(coordinates.enumerate().map(|(place, coordinate)| row(place as u64, coordinate.to_bits())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_whole_numbers_in_their_range() {
        let all: Vec<f64> = (0..500).flat_map(point).collect();

        assert!(all.iter().all(|x| x.fract() == 0.0 && (0.0..1024.0).contains(x)));
        assert!(all.iter().any(|x| *x < 50.0) && all.iter().any(|x| *x > 974.0));
    }

    #[test]
    fn the_nearest_centre_is_found() {
        let centres = first_centres(5);

        let found: Vec<u32> = centres.iter().map(|centre| nearest(&centres, centre)).collect();

        assert_eq!(found, [0, 1, 2, 3, 4]);
    }
}
