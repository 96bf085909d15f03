//! Checkpoints.

use std::fs;

use firesteel::prelude::*;

use crate::support::{each_backend, each_backend_with_room};

fn with_directory(test: impl Fn(&Context, &std::path::Path)) {
    each_backend_with_room(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        ctx.set_checkpoint_dir(folder.path().to_str().unwrap()).unwrap();
        test(ctx, folder.path());
    });
}

/// Behaviours: CKPT-001.
#[test]
fn marking_needs_a_directory_and_writing_is_a_job_after_the_first_one() {
    each_backend(|ctx| {
        let error = ctx.range(0..3).checkpoint().err().unwrap().to_string();
        assert!(error.contains("set_checkpoint_dir"), "{error}");
    });
    with_directory(|ctx, _| {
        let computed = ctx.long_accumulator("computed");
        let rows = ctx.range_into(0..10_u64, 2).with(computed.clone()).map(|computed, x| {
            computed.add(1);
            x + 1
        });
        let rdd = rows.checkpoint().unwrap();
        assert!(!rdd.is_checkpointed());

        assert_eq!(rdd.collect().unwrap(), (1..11).collect::<Vec<_>>());
        assert!(rdd.is_checkpointed());
        assert_eq!(computed.value().sum, 20, "computed again to be written");
        assert_eq!(rdd.collect().unwrap(), (1..11).collect::<Vec<_>>());

        assert_eq!(computed.value().sum, 20, "read from the files");
        assert_eq!(ctx.status().unwrap().jobs().len(), 3);
    });
}

#[test]
fn a_cached_rdd_is_not_computed_again_to_be_written() {
    with_directory(|ctx, _| {
        let computed = ctx.long_accumulator("computed");
        let rows = ctx.range_into(0..10_u64, 2).with(computed.clone()).map(|computed, x| {
            computed.add(1);
            x
        });
        let rdd = rows.cache().checkpoint().unwrap();

        rdd.count().unwrap();

        assert!(rdd.is_checkpointed());
        assert_eq!(computed.value().sum, 10);
    });
}

/// Behaviours: CKPT-002.
#[test]
fn the_lineage_is_cut_and_rows_partitions_and_children_stay_as_they_were() {
    with_directory(|ctx, _| {
        let counts =
            ctx.range_into(0..100_u64, 4).map(|x| (x % 5, 1_u64)).reduce_by_key_into(3, |a, b| a + b);
        let rdd = counts.checkpoint().unwrap();
        let child = rdd.map(|(key, n)| (key, n * 2));
        let before = rdd.to_debug_string();
        let mut rows = rdd.collect().unwrap();
        rows.sort_unstable();

        let after = rdd.to_debug_string();
        assert!(before.contains("range["), "{before}");
        assert!(!after.contains("range["), "{after}");
        assert_eq!(rdd.num_partitions(), 3);
        let mut doubled = child.collect().unwrap();
        doubled.sort_unstable();
        assert_eq!(rows, (0..5).map(|k| (k, 20)).collect::<Vec<_>>());
        assert_eq!(doubled, (0..5).map(|k| (k, 40)).collect::<Vec<_>>());
    });
}

/// Behaviours: CKPT-003, CKPT-004, CKPT-005.
#[test]
fn files_are_named_by_rdd_and_partition_and_recovered_with_their_partitioner() {
    with_directory(|ctx, _| {
        let pairs = ctx.range_into(0..100_u64, 4).map(|x| (x % 5, x)).reduce_by_key_into(3, |a, b| a + b);
        let rdd = pairs.checkpoint().unwrap();
        let mut rows = rdd.collect().unwrap();
        rows.sort_unstable();
        let folder = rdd.checkpoint_file().unwrap();
        assert!(folder.contains("/rdd-"), "{folder}");
        for part in ["part-00000", "part-00001", "part-00002"] {
            assert!(fs::exists(format!("{folder}/{part}")).unwrap(), "{part}");
        }

        let again = ctx.checkpoint_file::<(u64, u64)>(&folder).unwrap();
        let mut recovered = again.collect().unwrap();
        recovered.sort_unstable();
        assert_eq!((recovered, again.num_partitions()), (rows, 3));
        assert_eq!(again.handle().partitioner(), rdd.handle().partitioner());
        fs::remove_file(format!("{folder}/_partitioner")).unwrap();
        let without = ctx.checkpoint_file::<(u64, u64)>(&folder).unwrap();
        assert!(without.handle().partitioner().is_none(), "recovered without it");
        fs::remove_file(format!("{folder}/part-00001")).unwrap();

        let error = ctx.checkpoint_file::<(u64, u64)>(&folder).err().unwrap().to_string();
        assert!(error.contains("part-00001"), "{error}");
    });
}

/// Behaviours: CKPT-005.
#[test]
fn a_checkpoint_that_is_not_whole_is_refused_and_what_is_wrong_is_named() {
    with_directory(|ctx, _| {
        // What is done to a checkpoint of ten parts, and the error.
        let damaged = |damage: &dyn Fn(&std::path::Path)| {
            let rdd = ctx.range_into(0..1000_u64, 10).checkpoint().unwrap();
            assert_eq!(rdd.count().unwrap(), 1000);
            let folder = rdd.checkpoint_file().unwrap();
            damage(folder.as_ref());
            let error = ctx.checkpoint_file::<u64>(&folder).err().unwrap().to_string();
            let expected = format!("the checkpoint {folder} is not whole: ");
            error.split_once(&expected).unwrap_or_else(|| panic!("{error}")).1.to_owned()
        };
        let remove = |folder: &std::path::Path, names: &[&str]| {
            for name in names {
                fs::remove_file(folder.join(name)).unwrap();
            }
        };
        let last = |folder: &std::path::Path| remove(folder, &["part-00009"]);
        let three_of_ten = |folder: &std::path::Path| {
            for part in 3..10 {
                remove(folder, &[&format!("part-{part:05}")]);
            }
        };

        assert_eq!(
            damaged(&|folder| remove(folder, &["_SUCCESS"])),
            "it has no _SUCCESS, so it was not written to its end"
        );
        assert_eq!(damaged(&|folder| remove(folder, &["_checkpoint"])), "it has no _checkpoint");
        assert_eq!(damaged(&last), "part-00009 of 10 parts is missing");
        assert_eq!(damaged(&three_of_ten), "part-00003 of 10 parts is missing");
        assert_eq!(
            damaged(&|folder| fs::write(folder.join("part-00010"), "").unwrap()),
            "part-00010 is none of its 10 parts"
        );
        let eleven = "firesteel checkpoint 1\npartitions 11\n";
        assert_eq!(
            damaged(&|folder| fs::write(folder.join("_checkpoint"), eleven).unwrap()),
            "part-00010 of 11 parts is missing"
        );
    });
}

/// As text, part-100000 comes before part-99999.
#[test]
fn a_checkpoint_of_more_than_a_hundred_thousand_partitions_is_recovered() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    ctx.set_checkpoint_dir(folder.path().to_str().unwrap()).unwrap();
    let one = ctx.range_into(7..8_u64, 1).checkpoint().unwrap();
    assert_eq!(one.count().unwrap(), 1);
    let one = std::path::PathBuf::from(one.checkpoint_file().unwrap());
    let many = folder.path().join("many");
    fs::create_dir(&many).unwrap();
    for part in 1..100_000 {
        fs::File::create(many.join(format!("part-{part:05}"))).unwrap();
    }
    for name in ["part-00000", "part-100000"] {
        fs::copy(one.join("part-00000"), many.join(name)).unwrap();
    }
    fs::write(many.join("_checkpoint"), "firesteel checkpoint 1\npartitions 100001\n").unwrap();
    fs::write(many.join("_SUCCESS"), "").unwrap();

    let recovered = ctx.checkpoint_file::<u64>(many.to_str().unwrap()).unwrap();

    assert_eq!(recovered.num_partitions(), 100_001);
    let ends = recovered.prune_partitions(|part| part % 100_000 == 0);
    assert_eq!(ends.collect().unwrap(), [7, 7]);
}

/// Behaviours: CKPT-005.
#[test]
fn a_directory_that_cannot_be_made_fails_the_action() {
    with_directory(|ctx, folder| {
        fs::write(folder.join("file"), "not a folder").unwrap();
        ctx.set_checkpoint_dir(folder.join("file").to_str().unwrap()).unwrap();
        let rdd = ctx.range(0..3).checkpoint().unwrap();

        assert!(rdd.count().is_err());
    });
}

/// Behaviours: CKPT-006.
#[test]
fn only_the_nearest_marked_rdd_is_written_unless_all_are_asked_for() {
    with_directory(|ctx, _| {
        let far = ctx.range(0..10_u64).checkpoint().unwrap();
        let near = far.map(|x| x + 1).checkpoint().unwrap();

        near.count().unwrap();
        assert!(near.is_checkpointed() && !far.is_checkpointed());

        ctx.set_local_property("spark.checkpoint.checkpointAllMarkedAncestors", Some("true"));
        let far = ctx.range(0..10_u64).checkpoint().unwrap();
        let near = far.map(|x| x + 1).checkpoint().unwrap();
        assert_eq!(near.collect().unwrap(), (1..11).collect::<Vec<_>>());
        ctx.set_local_property("spark.checkpoint.checkpointAllMarkedAncestors", None);

        assert!(near.is_checkpointed() && far.is_checkpointed());
    });
}

/// Behaviours: CKPT-007.
#[test]
fn a_local_checkpoint_computes_what_the_job_did_not_and_cuts_the_lineage() {
    each_backend(|ctx| {
        let computed = ctx.long_accumulator("computed");
        let rows = ctx.range_into(0..8_u64, 4).with(computed.clone()).map(|computed, x| {
            computed.add(1);
            x * 3
        });
        let rdd = rows.local_checkpoint();

        assert_eq!(rdd.first().unwrap(), 0);
        assert!(rdd.is_checkpointed());
        assert_eq!(computed.value().sum, 8, "all partitions, once");
        assert_eq!(rdd.collect().unwrap(), (0..8).map(|x| x * 3).collect::<Vec<_>>());

        assert_eq!(computed.value().sum, 8);
        assert!(!rdd.to_debug_string().contains("range["));
    });
}
