//! Samples and splits.

use std::collections::BTreeSet;

use firesteel::{Error, Replacement, prelude::*};

use crate::support::each_backend;

/// Behaviours: RDD-020.
#[test]
fn a_sample_depends_on_rows_partitions_and_seed_only() {
    let samples = |ctx: &Context, replacement| {
        let rows = ctx.range_into(0..10_000, 4);
        let sample = |seed| rows.sample(replacement, 0.1, seed).collect().unwrap();
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
        let in_another_cut = ctx.range_into(0..10_000, 5).sample(replacement, 0.1, 1).collect().unwrap();
        assert_ne!(sample(1), in_another_cut);
        sample(1)
    };
    let all = std::sync::Mutex::new(BTreeSet::new());
    each_backend(|ctx| {
        let with = samples(ctx, Replacement::With);
        let without = samples(ctx, Replacement::Without);
        assert!((800..1200).contains(&with.len()) && (800..1200).contains(&without.len()));
        assert!(without.is_sorted_by(|a, b| a < b), "each row at most once");
        assert!(with.is_sorted() && with.windows(2).any(|pair| pair[0] == pair[1]), "some rows twice");
        all.lock().unwrap().insert((with, without));
    });
    assert_eq!(all.into_inner().unwrap().len(), 1, "the same on every backend");
}

#[test]
fn partitions_are_sampled_apart() {
    each_backend(|ctx| {
        let same = ctx.range_into(0..2, 2).flat_map(|_| 0..1000).sample(Replacement::Without, 0.5, 3);
        let parts = same.glom().collect().unwrap();

        assert_ne!(parts[0], parts[1]);
    });
}

/// Behaviours: RDD-020.
#[test]
fn the_parts_of_a_split_are_disjoint_and_cover_all() {
    each_backend(|ctx| {
        let parts = ctx.range_into(0..3000, 3).random_split(&[1.0, 2.0, 3.0], 11);
        let parts: Vec<Vec<i32>> = parts.iter().map(|part| part.collect().unwrap()).collect();

        for (part, mean) in parts.iter().zip([500_usize, 1000, 1500]) {
            assert!(part.len().abs_diff(mean) < 150, "{} of {mean}", part.len());
        }
        let mut all = parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..3000).collect::<Vec<_>>());
    });
}

/// Behaviours: RDD-020.
#[test]
fn fractions_and_weights_that_cannot_be_are_errors_of_the_first_action() {
    each_backend(|ctx| {
        let rows = ctx.range(0..10);
        let bad = [
            rows.sample(Replacement::Without, -0.1, 1).count(),
            rows.sample(Replacement::Without, 1.5, 1).count(),
            rows.sample(Replacement::With, f64::NAN, 1).count(),
            rows.random_split(&[1.0, -1.0], 1)[0].count(),
            rows.random_split(&[0.0, 0.0], 1)[1].count(),
        ];

        for result in bad {
            assert!(matches!(result, Err(Error::Invalid { .. })), "{result:?}");
        }
        assert!(rows.random_split(&[], 1).is_empty());
    });
}
