//! Disks that are full: real ones, a few hundred kilobytes of memory mounted as a folder.

use std::path::Path;

use firesteel::{Conf, prelude::*};
use tempfile::TempDir;

use crate::small_disk::SmallDisk;

fn context(master: &str, folders: &[&Path]) -> Context {
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let conf = Conf::new().set("firesteel.local.dir", folders.join(",")).unwrap();
    Context::builder().master(master).conf(conf).shipped(true).start().unwrap()
}

/// Numbers that cannot be compressed: two megabytes and more in each shuffle file.
fn shuffle_much(ctx: &Context) -> Result<u64> {
    let rows = ctx.range_into(0..400_000_u64, 2).map(|x| (x.wrapping_mul(0x9E37_79B9_7F4A_7C15), x));
    rows.partition_by(4).count()
}

#[test]
fn a_full_disk_fails_the_job_names_itself_and_leaves_nothing_behind() {
    let Some(disk) = SmallDisk::mount(512) else { return };
    // One slot: a second task could still be writing when the first has failed the job.
    let ctx = context("local[1]", &[disk.path()]);

    let error = shuffle_much(&ctx).unwrap_err().to_string();

    assert!(error.contains(&disk.path().display().to_string()), "{error}");
    assert!(error.contains("no room left") && error.contains("firesteel.local.dir"), "{error}");
    assert_eq!(ctx.range(0..100).map(|x| (x % 3, x)).group_by_key().count().unwrap(), 3, "what fits goes on");
    drop(ctx);
    assert_eq!(std::fs::read_dir(disk.path()).unwrap().count(), 0);
}

#[test]
fn a_task_that_met_a_full_disk_succeeds_on_another() {
    let Some(disk) = SmallDisk::mount(512) else { return };
    let large = TempDir::new().unwrap();
    let ctx = context("local[2,4]", &[disk.path(), large.path()]);

    assert_eq!(shuffle_much(&ctx).unwrap(), 400_000);
}
