//! Every way that a value takes, with types that bytes cannot always follow: what comes back is what was sent, or an
//! error names the attribute.

use std::collections::HashMap;

use firesteel::{StorageLevel, prelude::*};

use crate::{
    support::each_backend,
    types::{
        Adjacent, Aliased, Awkward, Defaults, Flat, Plain, Skips, Tagged, Untagged,
        one_sided::{Generic, Positions, Price, ReadsLess, Shifted, Variants, WritesLess},
    },
};

/// The values of `T`, made in the tasks of two partitions.
fn made<T: Awkward>(ctx: &Context) -> impl Rdd<Item = T> + use<T> {
    ctx.range_into(0..2_u32, 2).flat_map(|_| T::values())
}

fn twice<T: Awkward>() -> Vec<T> {
    [T::values(), T::values()].concat()
}

#[track_caller]
fn right_or_named<T: Awkward, U: PartialEq + std::fmt::Debug>(
    way: &str,
    got: firesteel::Result<U>,
    expected: &U,
) {
    match got {
        Ok(got) => assert_eq!(got, *expected, "{way}"),
        Err(error) => {
            let text = error.to_string();
            let attribute = T::ATTRIBUTE;
            assert!(
                !attribute.is_empty() && text.contains(attribute),
                "{way} does not name {attribute}: {text}"
            );
        }
    }
}

fn results<T: Awkward>(ctx: &Context) {
    let (values, twice) = (T::values(), twice::<T>());
    right_or_named::<T, _>("collect", made::<T>(ctx).collect(), &twice);
    right_or_named::<T, _>("take", made::<T>(ctx).take(3), &twice[..3].to_vec());
    right_or_named::<T, _>("reduce", made::<T>(ctx).reduce(|first, _| first), &values[0]);
    right_or_named::<T, _>(
        "parallelize",
        ctx.parallelize_into(values.clone(), 2).count(),
        &(values.len() as u64),
    );
    let through =
        ctx.parallelize_into(values.clone(), 2).map(|value| T::values().iter().position(|v| *v == value));
    let expected: Vec<_> = (0..values.len()).map(Some).collect();
    right_or_named::<T, _>("parallelize, compared in tasks", through.collect(), &expected);
}

fn environments<T: Awkward>(ctx: &Context) {
    for (index, value) in T::values().into_iter().enumerate() {
        let compared = ctx.range_into(0..2_u32, 2).with((value.clone(), index));
        let compared = compared.map(|(value, index), _| *value == T::values()[*index]);
        right_or_named::<T, _>("with", compared.collect(), &vec![true; 2]);
        // What follows the environment in the shipped form is found, regardless of what it wrote.
        let boxed =
            ctx.range_into(0..2_u32, 1).with(value).map(|_, x| x).union(&ctx.range_into(5..7, 1).boxed());
        right_or_named::<T, _>("with, in front of boxed", boxed.collect(), &vec![0, 1, 5, 6]);
    }
    let compared = ctx.broadcast(T::values()).and_then(|values| {
        let compared =
            ctx.range_into(0..2_u32, 2).with(values).map(|values, _| *values.value() == T::values());
        compared.collect()
    });
    right_or_named::<T, _>("broadcast", compared, &vec![true; 2]);
    let all = ctx.collection_accumulator::<T>("values");
    let added = ctx.range_into(0..1_u32, 1).with(all.clone()).for_each(|all, _| {
        for value in T::values() {
            all.add(value);
        }
    });
    right_or_named::<T, _>("accumulator", added.map(|()| all.value().0), &T::values());
}

fn storage<T: Awkward>(ctx: &Context) {
    let twice = twice::<T>();
    let shuffled = made::<T>(ctx).map(|value| (1_u32, value)).partition_by(2).values();
    right_or_named::<T, _>("shuffle", shuffled.count(), &(twice.len() as u64));
    let sorted = made::<T>(ctx).map(|value| (1_u32, value)).group_by_key().map(|(_, values)| values.len());
    right_or_named::<T, _>("group", sorted.collect(), &vec![twice.len()]);
    for level in [StorageLevel::MEMORY_ONLY_SER, StorageLevel::DISK_ONLY, StorageLevel::MEMORY_ONLY] {
        let kept = made::<T>(ctx).persist(level);
        for turn in ["kept", "read"] {
            right_or_named::<T, _>(&format!("{turn} in {level}"), kept.collect(), &twice);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects");
    let path = path.to_str().unwrap();
    let read = made::<T>(ctx).save_as_object_file(path).and_then(|()| ctx.object_file::<T>(path)?.collect());
    right_or_named::<T, _>("object file", read, &twice);
    ctx.set_checkpoint_dir(folder.path().to_str().unwrap()).unwrap();
    let checkpointed = made::<T>(ctx).checkpoint().unwrap();
    for turn in ["written to a checkpoint", "read from a checkpoint"] {
        right_or_named::<T, _>(turn, checkpointed.collect(), &twice);
    }
}

fn all_ways<T: Awkward>() {
    each_backend(|ctx| {
        results::<T>(ctx);
        environments::<T>(ctx);
        storage::<T>(ctx);
    });
}

#[test]
fn plain_types_come_back() {
    all_ways::<Plain>();
}

#[test]
fn a_field_with_several_names_comes_back() {
    all_ways::<Aliased>();
}

#[test]
fn a_field_that_is_sometimes_left_out() {
    all_ways::<Skips>();
    all_ways::<Defaults>();
}

#[test]
fn an_enum_without_a_tag() {
    all_ways::<Untagged>();
}

#[test]
fn an_enum_with_its_tag_inside() {
    all_ways::<Tagged>();
}

#[test]
fn an_enum_with_its_tag_beside_it() {
    all_ways::<Adjacent>();
}

#[test]
fn a_flattened_field() {
    all_ways::<Flat>();
}

#[test]
fn a_field_that_is_read_and_never_written() {
    all_ways::<WritesLess>();
    all_ways::<Vec<Option<WritesLess>>>();
}

#[test]
fn a_field_that_is_written_and_never_read() {
    all_ways::<ReadsLess>();
    all_ways::<HashMap<u32, ReadsLess>>();
}

#[test]
fn a_field_without_a_name_that_is_only_read_or_only_written() {
    all_ways::<Generic<u32>>();
    all_ways::<Positions>();
}

#[test]
fn a_field_of_a_variant_that_is_read_and_never_written() {
    all_ways::<Variants>();
}

#[test]
fn a_field_that_is_read_and_never_written_beside_one_that_refuses_made_up_values() {
    all_ways::<Price>();
}

#[test]
fn a_variant_that_is_skipped_in_front_of_others() {
    all_ways::<Shifted>();
}

#[test]
fn many_rows_without_bytes_come_back() {
    each_backend(|ctx| {
        let units = ctx.range_into(0..200_000_u32, 2).map(|_| ());

        assert_eq!(units.collect().unwrap().len(), 200_000);
        assert_eq!(ctx.parallelize_into(vec![(); 200_000], 2).count().unwrap(), 200_000);
    });
}

#[test]
fn an_object_file_of_another_type_is_refused() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("objects");
        let path = path.to_str().unwrap();
        ctx.range_into(0..10_u64, 2).map(|x| (x, x.to_string())).save_as_object_file(path).unwrap();

        let error = ctx.object_file::<(i64, String)>(path).unwrap().collect().unwrap_err().to_string();

        assert!(error.contains("holds rows of (u64, String), not (i64, String)"), "{error}");
        assert_eq!(ctx.object_file::<(u64, String)>(path).unwrap().count().unwrap(), 10);
    });
}
