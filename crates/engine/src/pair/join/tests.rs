//! The lineages of operators over several RDDs: what is read in place and what is shuffled.

use crate::{
    HashPartitioner,
    prelude::*,
    rdd::{Parent, RddHandle},
};

/// How many shuffles lie between an RDD and its sources.
fn shuffles(rdd: &impl Rdd) -> usize {
    fn behind(handle: &RddHandle) -> usize {
        let of =
            |parent: &Parent| usize::from(matches!(parent, Parent::Shuffle(_))) + behind(parent.handle());
        handle.parents().iter().map(of).sum()
    }
    behind(rdd.handle())
}

fn pairs(ctx: &Context) -> BoxRdd<(u32, u32)> {
    ctx.range_into(0..10, 3).map(|x| (x, x)).boxed()
}

/// Pairs dealt by hash to so many partitions: one shuffle.
fn dealt(ctx: &Context, partitions: u32) -> BoxRdd<(u32, u32)> {
    pairs(ctx).reduce_by_key_into(partitions, |one, _| one).boxed()
}

/// Behaviours: RDD-005.
#[test]
fn inputs_with_the_partitioner_of_the_result_are_not_shuffled_again() {
    let ctx = Context::local(1).unwrap();
    let (one, two) = (dealt(&ctx, 4), dealt(&ctx, 4));

    assert_eq!(shuffles(&one.join(&two)), 2);
    assert_eq!(shuffles(&one.left_outer_join(&two)), 2);
    assert_eq!(shuffles(&one.right_outer_join(&two)), 2);
    assert_eq!(shuffles(&one.full_outer_join(&two)), 2);
    assert_eq!(shuffles(&one.subtract_by_key(&two)), 2);
    assert_eq!(shuffles(&one.cogroup(&two)), 2);
    assert_eq!(shuffles(&one.cogroup3(&two, &one)), 3);
    assert_eq!(shuffles(&one.cogroup4(&two, &one, &two)), 4);
}

/// Behaviours: RDD-005.
#[test]
fn only_the_input_with_another_partitioner_is_shuffled() {
    let ctx = Context::local(1).unwrap();
    let (four, five, plain) = (dealt(&ctx, 4), dealt(&ctx, 5), pairs(&ctx));

    assert_eq!(shuffles(&four.join_into(&five, 4)), 3);
    assert_eq!(shuffles(&four.join_into(&five, 5)), 3);
    assert_eq!(shuffles(&four.join_into(&five, 6)), 4);
    assert_eq!(shuffles(&four.join(&plain)), 2);
    assert_eq!(shuffles(&plain.join(&four)), 2);
    assert_eq!(shuffles(&four.cogroup4(&plain, &five, &plain)), 5);
    assert_eq!(shuffles(&four.subtract_by_key(&five)), 3);
}

#[test]
fn a_chain_over_the_same_keys_shuffles_each_source_once() {
    let ctx = Context::local(1).unwrap();
    let sums = dealt(&ctx, 4);

    let joined = sums.join(&pairs(&ctx));
    let chain = joined.filter(|_| true).left_outer_join(&sums).subtract_by_key(&joined).cogroup(&joined);

    // Two for the first join, one for `sums` again, and the two once more for each time that `joined` is
    // read.
    assert_eq!(shuffles(&chain), 2 + 1 + 2 + 2);
    assert_eq!(chain.num_partitions(), 4);
    assert_eq!(chain.handle().partitioner(), sums.handle().partitioner());
}

#[test]
fn an_rdd_joined_with_itself_is_shuffled_for_each_side() {
    let ctx = Context::local(1).unwrap();
    let (plain, four) = (pairs(&ctx), dealt(&ctx, 4));

    assert_eq!(shuffles(&plain.join(&plain)), 2);
    assert_eq!(shuffles(&four.join(&four)), 2, "behind each side lies the one shuffle of the sums");
}

/// A partitioner deals by key, and a set has none: rows of one key are not rows that are equal.
#[test]
fn set_operations_shuffle_even_rows_that_are_dealt_by_key() {
    let ctx = Context::local(1).unwrap();
    let (four, plain) = (dealt(&ctx, 4), pairs(&ctx));

    let common = four.intersection_into(&plain, HashPartitioner::new(4));
    let rest = four.subtract_into(&plain, HashPartitioner::new(4));

    assert_eq!((shuffles(&common), shuffles(&rest)), (3, 3));
    assert_eq!((common.handle().partitioner(), rest.handle().partitioner()), (None, None));
}
