//! Samples of an exact size.

use firesteel::{Replacement, prelude::*};
use proptest::prelude::*;

use super::support::each_backend;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    /// Behaviours: RDD-020.
    #[test]
    fn a_sample_has_its_exact_size_and_depends_on_rows_seed_and_partitions_only(
        rows in 0..80_usize, partitions in 1..6_u32, n in 0..100_usize, seed: u64,
    ) {
        let mut before = None;
        let backends = std::cell::RefCell::new(Vec::new());
        each_backend(|ctx| {
            let rdd = ctx.range_into(0..rows, partitions);
            let without = rdd.take_sample(Replacement::Without, n, seed).unwrap();
            let with = rdd.take_sample(Replacement::With, n, seed).unwrap();

            assert_eq!(rdd.take_sample_async(Replacement::Without, n, seed).wait().unwrap(), without);
            assert_eq!(without.len(), n.min(rows));
            assert_eq!(with.len(), if rows == 0 { 0 } else { n });
            let mut sorted = without.clone();
            sorted.sort_unstable();
            assert!(sorted.is_sorted_by(|a, b| a < b), "no row twice");
            assert!(with.iter().chain(&without).all(|row| (0..rows).contains(row)));
            backends.borrow_mut().push((without, with));
        });
        for sample in backends.into_inner() {
            assert_eq!(*before.get_or_insert_with(|| sample.clone()), sample, "the same on each backend");
        }
    }
}

/// Behaviours: RDD-020.
#[test]
fn other_seeds_give_other_samples() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..1000, 4);
        let sample = |seed| rdd.take_sample(Replacement::Without, 20, seed).unwrap();

        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
    });
}
