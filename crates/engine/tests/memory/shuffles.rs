//! Shuffle files on disk: what is in them, what becomes of damaged ones, and when they go.

use std::{
    collections::BTreeSet,
    fs,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use firesteel::{Conf, prelude::*};
use tempfile::TempDir;

/// Runs `test` with shuffles that are files in a folder of its own: in one process, and with executors in others.
fn on_disk(test: impl Fn(Context, &Path)) {
    on_disk_with(&Conf::new(), test);
}

fn on_disk_with(conf: &Conf, test: impl Fn(Context, &Path)) {
    for master in ["local[2]", "local-cluster[2,1,1024]"] {
        println!("on {master}");
        let folder = TempDir::new().unwrap();
        let conf = conf.clone().set("firesteel.local.dir", folder.path().display()).unwrap();
        test(Context::builder().master(master).conf(conf).shipped(true).start().unwrap(), folder.path());
    }
}

/// The files below a folder whose names end so.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_str().unwrap().ends_with(ending) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Behaviours: SHUF-012.
#[test]
fn map_tasks_whose_files_are_damaged_run_again() {
    on_disk(|ctx, folder| {
        let ran = ctx.long_accumulator("map tasks");
        let pairs = ctx.range_into(0..1000_u64, 4).with(ran.clone()).map_partitions(|ran, rows| {
            ran.add(1);
            Rows::new(rows.map(|x| (x % 10, x)))
        });
        let sums = pairs.reduce_by_key_into(3, |a, b| a + b);
        let expected = sorted(&sums);
        assert_eq!((expected.len(), ran.value().sum), (10, 4));

        let data = files(folder, ".data");
        assert_eq!(data.len(), 4);
        fs::OpenOptions::new().write(true).open(&data[1]).unwrap().set_len(3).unwrap();
        let mut flipped = fs::read(&data[2]).unwrap();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        fs::write(&data[2], flipped).unwrap();
        fs::remove_file(&data[3]).unwrap();

        assert_eq!(sorted(&sums), expected);
        assert!(ran.value().sum > 4, "what was damaged was made again");
    });
}

/// Cuts the data file of one map task of the shuffle that has so many.
fn cut_one(folder: &Path, maps: usize) {
    let mut shuffles = std::collections::BTreeMap::<String, Vec<PathBuf>>::new();
    for path in files(folder, ".data") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let shuffle = name.rsplit_once('_').unwrap().0.to_owned();
        shuffles.entry(shuffle).or_default().push(path);
    }
    let of_shuffle = shuffles.values().find(|files| files.len() == maps).unwrap();
    fs::OpenOptions::new().write(true).open(&of_shuffle[0]).unwrap().set_len(3).unwrap();
}

/// One partition is cached when an output is damaged: the others are dealt anew, from rows in another order.
///
/// Behaviours: DAG-050.
#[test]
fn cached_partitions_are_dealt_anew_with_those_whose_map_outputs_are_damaged() {
    on_disk(|ctx, folder| {
        let in_any_order =
            ctx.range_into(0..4000_u64, 3).map(|x| (x, x)).partition_by(5).map_partitions(|rows| {
                let order = RandomState::new();
                let mut rows: Vec<u64> = rows.map(|(x, _)| x).collect();
                rows.sort_by_cached_key(|row| order.hash_one(row));
                Rows::new(rows)
            });
        let dealt = in_any_order.repartition(4).cache();
        assert_eq!(dealt.take(1).unwrap().len(), 1);

        cut_one(folder, 5);

        // The first job may have handed out cached rows when it finds the damage. Then it fails with an error.
        let rows = dealt.collect().or_else(|error| {
            assert!(error.to_string().contains("indeterminate output ran again"), "{error}");
            dealt.collect()
        });
        let rows = rows.unwrap();
        assert_eq!((rows.len(), rows.iter().collect::<BTreeSet<_>>().len()), (4000, 4000));
    });
}

/// Behaviours: DAG-052.
#[test]
fn a_map_task_that_gives_other_rows_when_it_runs_again_rolls_back_what_was_made_of_the_first() {
    let setting = "firesteel.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch";
    for rolls_back in [true, false] {
        on_disk_with(&Conf::new().set(setting, rolls_back).unwrap(), |ctx, folder| {
            let marker = TempDir::new().unwrap();
            let path = marker.path().join("is another run").to_str().unwrap().to_owned();
            // Each row tells which run made it: nothing that the lineage knows of.
            let rows = ctx.range_into(0..400_u64, 4).with(path.clone()).map(|path, x| {
                let run = u64::from(Path::new(path).exists());
                (x, (x / 100, run))
            });
            let again = rows.partition_by(3).map(|(x, row)| (x / 2, row)).partition_by(2);
            let count =
                |run: u64| again.with(run).filter(|run, (_, (_, made_by))| made_by == run).count().unwrap();
            assert_eq!((count(0), count(1)), (400, 0));
            fs::write(&path, "").unwrap();

            cut_one(folder, 4);
            cut_one(folder, 3);

            let second = count(1);
            assert_eq!(count(0) + second, 400, "no row is lost or there twice");
            println!("{second} rows of the second run, rolls back: {rolls_back}");
            if rolls_back {
                let whole = second > 0 && second % 100 == 0;
                assert!(whole, "{second}: every map task has all its rows of one run");
            }
        });
    }
}

/// Waits for what another thread does soon.
fn until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not happen");
        thread::yield_now();
    }
}

fn sorted<R: Rdd<Item: Ord>>(rdd: &R) -> Vec<R::Item> {
    let mut rows = rdd.collect().unwrap();
    rows.sort();
    rows
}

/// Behaviours: SHUF-015.
#[test]
fn as_much_is_read_as_was_written() {
    for (master, shipped) in [("local[2]", false), ("local[2]", true), ("local-cluster[2,1,1024]", false)] {
        println!("on {master}");
        let ctx = Context::builder().master(master).shipped(shipped).start().unwrap();
        let pairs = ctx.range_into(0..1000_u64, 4).map(|x| (format!("key {}", x % 50), x));

        assert_eq!(pairs.group_by_key_into(3).count().unwrap(), 50);

        let stages = ctx.status().unwrap().stages();
        let sum = |figure: fn(&firesteel::TaskMetrics) -> u64| {
            stages.iter().map(|stage| figure(&stage.metrics)).sum::<u64>()
        };
        assert_eq!(sum(|of| of.shuffle_records_written), 1000);
        assert_eq!(sum(|of| of.shuffle_records_read), 1000);
        assert_eq!(sum(|of| of.shuffle_bytes_written), sum(|of| of.shuffle_bytes_read));
        assert!(sum(|of| of.shuffle_bytes_written) > 0);
    }
}

/// Behaviours: SHUF-016, BLK-024.
#[test]
fn the_files_of_a_shuffle_go_with_its_last_handle_and_all_others_with_the_context() {
    on_disk(|ctx, folder| {
        let (kept, dropped) =
            (ctx.range_into(0..100, 3).map(|x| (x % 5, x)), ctx.range_into(0..100, 2).map(|x| (x % 5, x)));
        let kept = kept.group_by_key_into(2);
        assert_eq!(kept.count().unwrap(), 5);
        assert_eq!(dropped.group_by_key_into(2).count().unwrap(), 5);

        let left = || (files(folder, ".data").len(), files(folder, ".index").len());
        until(|| left() == (3, 3));
        drop(kept);
        until(|| left() == (0, 0));
        drop(ctx);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "not even the folder is left");
    });
}

#[test]
fn every_compression_gives_the_same_rows() {
    for (codec, shuffle, spill) in [
        ("lz4", "true", "false"),
        ("zstd", "true", "true"),
        ("lz4", "false", "true"),
        ("zstd", "false", "false"),
    ] {
        let conf = Conf::new()
            .set("firesteel.io.compression.codec", codec)
            .and_then(|conf| conf.set("firesteel.shuffle.compress", shuffle))
            .and_then(|conf| conf.set("firesteel.shuffle.spill.compress", spill))
            .and_then(|conf| conf.set("firesteel.memory.budget", "1m"))
            .unwrap();
        for master in ["local[2]", "local-cluster[2,1,1024]"] {
            println!("on {master}, {codec}, {shuffle}, {spill}");
            let ctx = Context::builder().master(master).conf(conf.clone()).shipped(true).start().unwrap();

            let rows = ctx.range_into(0..200_000_u64, 3).map(|x| (x % 1000, x)).repartition(2);

            assert_eq!(rows.map(|(_, x)| x).reduce(|a, b| a + b).unwrap(), 199_999 * 100_000);
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named_with_the_setting() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    let conf = Conf::new().set("firesteel.local.dir", file.display()).unwrap();
    let ctx = Context::builder().master("local[2]").conf(conf).shipped(true).start().unwrap();

    let error = ctx.range(0..10).map(|x| (x, x)).group_by_key().count().unwrap_err().to_string();

    assert!(error.contains("a file") && error.contains("firesteel.local.dir"), "{error}");
    assert_eq!(ctx.range(0..10).count().unwrap(), 10);
}
