//! What is left when an application is over, however it ended.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use firesteel::{StorageLevel, prelude::*};

use crate::{cluster_with, executors, gate::until, is_alive};

const CASE: &str = "FIRESTEEL_TEST_CASE";
const FOLDER: &str = "FIRESTEEL_TEST_FOLDER";
const MASTER: &str = "FIRESTEEL_TEST_MASTER";

/// A context whose folders are all below one, with files in it.
fn busy(folder: &str) -> Context {
    let ctx = cluster_with(|builder| builder.set("firesteel.local.dir", folder).unwrap());
    let kept = ctx.range_into(0..1000_u64, 4).map(|x| (x % 10, x)).persist(StorageLevel::DISK_ONLY);
    assert_eq!(kept.reduce_by_key(|a, b| a + b).count().unwrap(), 10);
    assert!(fs::read_dir(folder).unwrap().count() > 0);
    ctx
}

fn entries(folder: &str) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn nothing_is_left_in_the_local_folders_when_a_context_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let ctx = busy(folder);

    ctx.stop().unwrap();
    drop(ctx);

    assert_eq!(entries(folder), Vec::<String>::new());
}

#[test]
fn nothing_is_left_in_the_local_folders_when_a_context_was_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();

    drop(busy(folder));

    until(|| entries(folder).is_empty());
}

/// Ends the driver in the middle of a job, in a process of its own, in the way that the argument gives.
fn executors_end_with_their_driver(test: &str, end: fn()) {
    if env::var(CASE).is_ok_and(|running| running == test) {
        let ctx = cluster_with(|builder| builder);
        let [one, other] = executors(&ctx);
        println!("\npids {} {}", one.pid, other.pid);
        end();
        unreachable!("the process has ended");
    }
    // Where the child leaves what it has no time to remove.
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CASE, test)
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let pids = lines.find_map(|line| line.strip_prefix("pids ").map(str::to_owned)).unwrap();
    child.wait().unwrap();

    for pid in pids.split(' ') {
        let pid = pid.parse().unwrap();
        until(|| !is_alive(pid));
    }
}

#[test]
fn executors_end_when_their_driver_is_killed() {
    executors_end_with_their_driver("leftovers::executors_end_when_their_driver_is_killed", || {
        let own = std::process::id().to_string();
        Command::new("kill").args(["-9", &own]).status().unwrap();
        std::thread::park();
    });
}

#[test]
fn executors_end_when_their_driver_exits_without_a_word() {
    let test = "leftovers::executors_end_when_their_driver_exits_without_a_word";
    executors_end_with_their_driver(test, || std::process::exit(3));
}

#[test]
fn executors_end_when_their_driver_panics() {
    executors_end_with_their_driver("leftovers::executors_end_when_their_driver_panics", || panic!("over"));
}

#[test]
fn what_a_killed_process_left_in_the_local_folders_goes_when_the_next_one_starts() {
    let test = "leftovers::what_a_killed_process_left_in_the_local_folders_goes_when_the_next_one_starts";
    let shuffled = |folder: &str, master: &str| {
        let ctx = Context::builder().master(master).set("firesteel.local.dir", folder).unwrap().shipped(true);
        let ctx = ctx.start().unwrap();
        assert_eq!(ctx.range_into(0..100_u64, 4).map(|x| (x % 10, x)).group_by_key().count().unwrap(), 10);
        ctx
    };
    if env::var(CASE).is_ok_and(|running| running == test) {
        let _ctx = shuffled(&env::var(FOLDER).unwrap(), &env::var(MASTER).unwrap());
        Command::new("kill").args(["-9", &std::process::id().to_string()]).status().unwrap();
        std::thread::park();
    }
    for master in ["local[2]", "local-cluster[2,1,1024]"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .envs([(CASE, test), (FOLDER, folder), (MASTER, master)])
            .output()
            .unwrap();
        assert!(!child.status.success(), "it was killed");
        let left = entries(folder);
        assert!(!left.is_empty(), "it had no time to remove anything");

        // Executors of the killed one may live a moment longer.
        until(|| {
            let ctx = shuffled(folder, master);
            ctx.stop().unwrap();
            drop(ctx);
            let now = entries(folder);
            left.iter().all(|entry| !now.contains(entry))
        });
    }
}
