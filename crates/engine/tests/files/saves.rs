//! Saves that are killed, that meet another one, that run out of space and whose rows cannot be written: what is
//! complete says so, and what says so is complete.

use std::{
    collections::BTreeMap,
    env, fmt,
    fs::{self, File},
    path::Path,
    process::{Child, Command},
    thread,
    time::Duration,
};

use firesteel::{Codec, prelude::*};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{
    gate::until,
    small_disk::SmallDisk,
    support::{each_backend, each_backend_with},
};

const ROWS: u64 = 1000;

/// The ways to save numbers, and to read them back.
const FORMATS: [Format; 3] = [Format::Text, Format::CompressedText, Format::Object];

#[derive(Clone, Copy, Debug)]
enum Format {
    Text,
    CompressedText,
    Object,
}

impl Format {
    fn save(self, rows: &impl Rdd<Item = u64>, path: &str) -> Result<()> {
        match self {
            Self::Text => rows.save_as_text_file(path),
            Self::CompressedText => rows.save_as_compressed_text_file(path, Codec::Gzip),
            Self::Object => rows.save_as_object_file(path),
        }
    }

    fn read(self, ctx: &Context, path: &str) -> Vec<u64> {
        let mut rows = match self {
            Self::Text | Self::CompressedText => {
                ctx.text_file(path).unwrap().map(|line| line.parse().unwrap()).collect().unwrap()
            }
            Self::Object => ctx.object_file::<u64>(path).unwrap().collect().unwrap(),
        };
        rows.sort_unstable();
        rows
    }
}

/// The names in a folder that readers see; none if it is not there.
fn visible(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "_temporary").collect();
    names.sort();
    names
}

/// Tells the child process what it shall save, and where.
const DRIVER: &str = "FIRESTEEL_TEST_SAVING_DRIVER";

/// Runs this test again as a process of its own that saves to `out` and is to be killed.
fn start_driver(test: &str, master: &str, out: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(DRIVER, format!("{master} {}", out.display()))
        .spawn()
        .unwrap()
}

/// The master and the place, if this process is such a child.
fn as_driver() -> Option<(Context, String)> {
    let order = env::var(DRIVER).ok()?;
    let (master, out) = order.split_once(' ').unwrap();
    Some((Context::builder().master(master).start().unwrap(), out.to_owned()))
}

fn kill(mut driver: Child) {
    driver.kill().unwrap();
    driver.wait().unwrap();
}

#[test]
fn a_driver_killed_while_tasks_write_leaves_nothing_that_can_be_read() {
    if let Some((ctx, out)) = as_driver() {
        // One slot: the first three partitions are written and reported when the fourth begins.
        let rows = ctx.range_into(0..ROWS, 5).with(format!("{out}.fourth")).map(|reached, x| {
            if x == ROWS / 5 * 3 {
                File::create(reached).unwrap();
                loop {
                    TaskContext::current().unwrap().check();
                    thread::sleep(Duration::from_millis(1));
                }
            }
            x
        });
        let ended = rows.save_as_text_file(&out);
        panic!("the driver was not killed: {ended:?}");
    }
    for master in ["local[1]", "local-cluster[1,1,1024]"] {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let test = "saves::a_driver_killed_while_tasks_write_leaves_nothing_that_can_be_read";
        let driver = start_driver(test, master, &out);
        until(|| folder.path().join("out.fourth").exists());

        kill(driver);

        assert_eq!(visible(&out), [""; 0], "on {master}");
        let ctx = Context::local(2).unwrap();
        let again = ctx.range(0..ROWS).save_as_text_file(out.to_str().unwrap()).unwrap_err().to_string();
        assert!(again.contains("exists"), "{again}");
    }
}

/// Kills the driver as soon as the first part has its name: in the middle of giving out the names, or right after.
#[test]
fn a_driver_killed_while_it_publishes_leaves_a_success_beside_all_parts_or_none() {
    const PARTS: u32 = 400;
    if let Some((ctx, out)) = as_driver() {
        ctx.range_into(0..ROWS, PARTS).save_as_text_file(&out).unwrap();
        return;
    }
    for _ in 0..5 {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("out");
        let test = "saves::a_driver_killed_while_it_publishes_leaves_a_success_beside_all_parts_or_none";
        let driver = start_driver(test, "local[2]", &out);
        until(|| !visible(&out).is_empty());

        kill(driver);

        let names = visible(&out);
        println!("{} names, success: {}", names.len(), names.contains(&"_SUCCESS".to_owned()));
        if names.contains(&"_SUCCESS".to_owned()) {
            let ctx = Context::local(2).unwrap();
            assert!(Format::Text.read(&ctx, out.to_str().unwrap()).into_iter().eq(0..ROWS));
        }
    }
}

#[test]
fn of_several_saves_to_one_place_one_is_there_whole_and_the_others_fail() {
    each_backend(|ctx| {
        for (round, format) in FORMATS.into_iter().cycle().take(6).enumerate() {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("out").to_str().unwrap().to_owned();
            // Each has rows of its own, so that they can be told apart.
            let save = |number: u64| {
                let rows = ctx.range_into(number * ROWS..(number + 1) * ROWS, 4);
                format.save(&rows, &path)
            };
            let ended: BTreeMap<u64, Result<()>> = thread::scope(|scope| {
                let running: Vec<_> =
                    (0..4).map(|number| (number, scope.spawn(move || save(number)))).collect();
                running.into_iter().map(|(number, save)| (number, save.join().unwrap())).collect()
            });

            let winners: Vec<u64> =
                ended.iter().filter(|(_, ended)| ended.is_ok()).map(|(number, _)| *number).collect();
            assert_eq!(winners.len(), 1, "round {round}, {format:?}: {ended:?}");
            for error in ended.into_values().filter_map(Result::err) {
                assert!(error.to_string().contains("exists"), "{error}");
            }
            let expected = winners[0] * ROWS..(winners[0] + 1) * ROWS;
            assert!(format.read(ctx, &path).into_iter().eq(expected), "round {round}, {format:?}");
            assert!(Path::new(&path).join("_SUCCESS").exists());
        }
    });
}

#[test]
fn a_save_without_space_fails_names_the_file_and_leaves_the_space_free() {
    // What tasks write for themselves lies elsewhere.
    let elsewhere = TempDir::new().unwrap();
    let set = |builder: firesteel::ContextBuilder| {
        builder.set("firesteel.local.dir", elsewhere.path().display()).unwrap()
    };
    each_backend_with(set, |ctx| {
        let Some(disk) = SmallDisk::mount(512) else { return };
        let out = disk.path().join("out");
        let path = out.to_str().unwrap();
        for format in FORMATS {
            // Numbers that cannot be compressed: two megabytes and more, and a few of them.
            let many = ctx.range_into(0..400_000_u64, 4).map(|x| x.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let few = ctx.range_into(0..ROWS, 4);

            let error = format.save(&many, path).unwrap_err().to_string();

            assert!(error.contains(path) && error.contains("No space left"), "{format:?}: {error}");
            assert!(!out.exists(), "{format:?} left something");
            // Another task of the job that failed may hold its file for a moment longer.
            until(|| format.save(&few, path).is_ok());
            assert!(format.read(&ctx, path).into_iter().eq(0..ROWS));
            fs::remove_dir_all(&out).unwrap();
        }
    });
}

/// A row whose `Display` fails after it has written something, for one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fragile(u32);

impl fmt::Display for Fragile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "row {}", self.0)?;
        if self.0 == 17 { Err(fmt::Error) } else { Ok(()) }
    }
}

#[test]
fn a_display_that_fails_fails_the_save_with_the_place_and_type_of_the_row() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let path = out.to_str().unwrap();
        let rows = ctx.range_into(0..40_u32, 4).map(Fragile);
        let plain = rows.save_as_text_file(path).unwrap_err().to_string();
        let packed = rows.save_as_compressed_text_file(path, Codec::Gzip).unwrap_err().to_string();

        for error in [plain, packed] {
            for part in
                [&format!("cannot save row 7 of partition 1 to {path}/part-00001"), "::Fragile` failed"]
            {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
        assert!(!out.exists(), "nothing is published");
        rows.filter(|row| row.0 != 17).save_as_text_file(path).unwrap();
        assert_eq!(ctx.text_file(path).unwrap().count().unwrap(), 39);
    });
}
