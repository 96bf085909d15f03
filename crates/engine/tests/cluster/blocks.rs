//! Cached partitions on executors: where they are read, and what is left when one of them goes.

use std::{collections::BTreeMap, path::Path, process::Command};

use firesteel::{Accumulator, LongSum, StorageLevel, prelude::*};
use firesteel_types::{ExecutorId, ListenerEvent, Locality};

use crate::{
    cluster, cluster_with, events, executors,
    gate::{Gate, until},
    heard, is_alive,
};

/// Four partitions, and how many rows were computed.
fn counted(ctx: &Context) -> (impl Rdd<Item = u64> + use<>, Accumulator<LongSum>) {
    let computed = ctx.long_accumulator("computed");
    let rows = ctx.range_into(0..40_u64, 4).with(computed.clone()).map(|computed, x| {
        computed.add(1);
        x
    });
    (rows, computed)
}

/// On which executor each partition was computed, and how near to its data.
fn places(heard: &[ListenerEvent]) -> BTreeMap<u32, (ExecutorId, Locality)> {
    let starts = heard.iter().filter_map(|event| match event {
        ListenerEvent::TaskStart { task, .. } => Some((task.partition.0, (task.executor, task.locality))),
        _ => None,
    });
    starts.collect()
}

/// Behaviours: BLK-010, LOC-001.
#[test]
fn kept_partitions_are_read_on_the_executors_that_have_them() {
    let ctx = cluster();
    let events = events(&ctx);
    let (rows, computed) = counted(&ctx);
    let kept = rows.cache();
    kept.count().unwrap();
    let first = places(&heard(&ctx, &events));

    for _ in 0..3 {
        assert_eq!(kept.map(|x| x + 1).collect().unwrap(), (1..41).collect::<Vec<_>>());
        let again = places(&heard(&ctx, &events));
        for (partition, (executor, _)) in &first {
            assert_eq!(again[partition], (*executor, Locality::Process), "partition {partition}");
        }
    }

    assert_eq!(computed.value().sum, 40);
}

/// Behaviours: BLK-010, BLK-011, LOC-016.
#[test]
fn a_kept_partition_whose_executor_is_busy_is_read_over_the_network() {
    for level in [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_ONLY_SER, StorageLevel::DISK_ONLY] {
        let ctx = cluster_with(|builder| builder.set("firesteel.locality.wait", "0s").unwrap());
        let events = events(&ctx);
        let (rows, computed) = counted(&ctx);
        let kept = rows.persist(level);
        kept.count().unwrap();
        let home = places(&heard(&ctx, &events))[&0].0;
        let gate = Gate::new();
        let busy = kept.with(gate.clone()).run_job_on_async([0], |gate, rows| {
            gate.pass();
            rows.count()
        });
        gate.until_reached();
        assert_eq!(places(&heard(&ctx, &events))[&0], (home, Locality::Process));

        assert_eq!(kept.run_job_on([0], |rows| rows.sum::<u64>()).unwrap(), [45]);

        let (elsewhere, locality) = places(&heard(&ctx, &events))[&0];
        assert_ne!(elsewhere, home);
        assert!(locality > Locality::Process, "{locality:?}");
        gate.open();
        assert_eq!(busy.wait().unwrap(), [10]);
        assert_eq!(computed.value().sum, 40, "{level:?}");
    }
}

/// Ends one of the executors, and waits until another has taken its place.
fn end_one_executor(ctx: &Context) {
    let [victim, other] = executors(ctx);
    let ended = ctx.range_into(0..2_u64, 2).with((victim.pid, Gate::new())).map(|(victim, gate), x| {
        if TaskContext::current().unwrap().attempt_number().0 == 0 {
            assert!(gate.meet(2));
            if std::process::id() == *victim {
                std::process::exit(7);
            }
        }
        x
    });
    assert_eq!(ended.count().unwrap(), 2);
    until(|| !is_alive(victim.pid));
    let now = executors(ctx);
    assert!(now.contains(&other) && !now.contains(&victim));
}

/// Behaviours: BLK-001, BLK-014, BLK-018.
#[test]
fn a_partition_of_two_copies_outlives_an_executor_and_one_of_a_single_copy_is_computed_again() {
    for (level, survives) in [
        (StorageLevel::MEMORY_ONLY_2, true),
        (StorageLevel::MEMORY_ONLY_SER_2, true),
        (StorageLevel::DISK_ONLY_2, true),
        (StorageLevel::MEMORY_ONLY, false),
    ] {
        let ctx = cluster();
        let (rows, computed) = counted(&ctx);
        let kept = rows.persist(level);
        kept.count().unwrap();

        end_one_executor(&ctx);

        assert_eq!(kept.collect().unwrap(), (0..40).collect::<Vec<_>>());
        assert_eq!(computed.value().sum == 40, survives, "{} rows at {level:?}", computed.value().sum);
    }
}

/// An executor: its process, and the folder where it has its blocks.
type Home = (u32, String);

/// Executors of one core that run tasks at the same time, so many.
fn homes(ctx: &Context, executors: u32) -> Vec<Home> {
    let all = u64::from(executors);
    let met = ctx.range_into(0..all, executors).with((all, Gate::new())).map(|(all, gate), _| {
        assert!(gate.meet(*all), "all run at once");
        (std::process::id(), std::env::var("FIRESTEEL_LOCAL_DIRS").unwrap())
    });
    met.collect().unwrap()
}

/// On how many of the executors each of the four partitions is.
fn copies(homes: &[Home]) -> [usize; 4] {
    fn has(folder: &Path, ending: &str) -> bool {
        let entries = std::fs::read_dir(folder).into_iter().flatten().map_while(Result::ok);
        entries.map(|entry| entry.path()).any(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("rdd_") && name.ends_with(ending) || path.is_dir() && has(&path, ending)
        })
    }
    [0, 1, 2, 3].map(|partition| {
        let ending = format!("_{partition}");
        homes.iter().filter(|(_, folder)| has(Path::new(folder), &ending)).count()
    })
}

/// Kills executors one after the other, each when the copies that went with the last are there again.
///
/// Behaviours: BLK-015.
#[test]
fn copies_that_were_lost_with_an_executor_are_made_again_by_those_that_are_left() {
    let ctx = Context::builder().master("local-cluster[3,1,1024]").start().unwrap();
    let (rows, computed) = counted(&ctx);
    let kept = rows.persist(StorageLevel::DISK_ONLY_2);
    let first = homes(&ctx, 3);
    kept.count().unwrap();
    assert_eq!(copies(&first), [2; 4]);

    for (victim, _) in first {
        assert!(Command::new("kill").args(["-9", &victim.to_string()]).status().unwrap().success());
        until(|| !is_alive(victim));
        let mut now = homes(&ctx, 3);
        now.retain(|(pid, _)| *pid != victim);
        until(|| copies(&now) == [2; 4]);
    }

    assert_eq!(kept.collect().unwrap(), (0..40).collect::<Vec<_>>());
    assert_eq!(computed.value().sum, 40, "three executors are gone, and no partition with them");
}
