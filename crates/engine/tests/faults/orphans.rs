//! Executors whose driver is killed: they end by themselves.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use firesteel::prelude::*;
use rustix::process::Signal;

use crate::{
    gate::wait_until,
    process::{executors, is_alive, signal},
};

/// Set in the child that is the driver to be killed.
const IS_DRIVER: &str = "FIRESTEEL_TEST_DRIVER_TO_BE_KILLED";

/// Behaviours: EXE-002, WORK-011.
#[test]
fn executors_end_with_their_driver() {
    if env::var_os(IS_DRIVER).is_some() {
        return be_the_driver();
    }
    let mut driver = Command::new(env::current_exe().unwrap())
        .args(["--exact", "orphans::executors_end_with_their_driver", "--nocapture"])
        .env(IS_DRIVER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find_map(|line| line.strip_prefix("executors ").map(str::to_owned)).unwrap();
    let executors: Vec<u32> = said.split(' ').map(|id| id.parse().unwrap()).collect();
    assert!(executors.iter().all(|executor| is_alive(*executor)));

    signal(driver.id(), Signal::KILL);
    driver.wait().unwrap();

    for executor in executors {
        wait_until("an executor without a driver ends", || !is_alive(executor));
    }
}

/// Starts a job that would run for ever and prints which processes run it.
fn be_the_driver() {
    let ctx = Context::builder().master("local-cluster[2,1,1024]").start().unwrap();
    let ids: Vec<String> = executors(&ctx, 2).iter().map(ToString::to_string).collect();
    println!("\nexecutors {}", ids.join(" "));
    let endless = ctx.range_into(0..2_u64, 2).for_each(|_| {
        loop {
            std::thread::sleep(std::time::Duration::from_millis(10));
            TaskContext::current().unwrap().check();
        }
    });
    panic!("the driver was not killed: {endless:?}");
}
