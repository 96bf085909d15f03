//! The application of all tests: this very program, started again.

use std::{collections::BTreeMap, env, fs, path::Path};

use firesteel::{Conf, prelude::*, settings};

use crate::gate::pass;

/// The arguments by which this program becomes the application.
pub(crate) const ARGUMENTS: [&str; 4] = ["--exact", "job::sums", "--ignored", "--nocapture"];

/// The variable that names the folder of all gates. Not one of our own names, which workers do not pass on.
pub(crate) const GATES: &str = "FAULTS_GATES";

/// The file among the gates that makes executors fail at their start.
pub(crate) const BROKEN: &str = "executors-are-broken";

/// Runs before an executor does.
#[ctor::ctor(unsafe)]
fn fail_if_broken() {
    let is_executor = env::args_os().nth(1).is_some_and(|argument| argument == "--firesteel-executor");
    if is_executor && env::var_os(GATES).is_some_and(|gates| Path::new(&gates).join(BROKEN).exists()) {
        std::process::exit(3);
    }
}

const ROWS: u64 = 10_000;
const PARTITIONS: u32 = 8;
const KEYS: u64 = 37;

/// The answer that the application prints in the end.
pub(crate) fn answer() -> String {
    let mut sums = BTreeMap::<u64, u64>::new();
    for x in 0..ROWS {
        *sums.entry(x % KEYS).or_default() += x;
    }
    in_words(&sums)
}

fn in_words(sums: &BTreeMap<u64, u64>) -> String {
    format!("the sums are {sums:?}")
}

fn gate(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// Sums with a shuffle. The driver comes to its gate `driver`, each map task after its last row to `map`, each reduce
/// task with each of its rows to `reduce`, in the folder that has the name of the application.
#[test]
#[ignore = "an application, run by other tests"]
fn sums() {
    let conf = Conf::from_env().unwrap();
    let gates = Path::new(&env::var_os(GATES).unwrap()).join(conf.get(settings::APP_NAME).unwrap());
    let ctx = Context::builder().conf(conf).start().unwrap();
    println!("\napplication {}", ctx.application_id());
    pass(&gate(&gates, "driver"));
    let rows = ctx.range_into(0..ROWS, PARTITIONS).with(gate(&gates, "map")).map(|gate, x| {
        if (x + 1) % (ROWS / u64::from(PARTITIONS)) == 0 {
            pass(gate);
        }
        (x % KEYS, x)
    });
    let summed = rows.reduce_by_key(|a, b| a + b).with(gate(&gates, "reduce")).map(|gate, row| {
        pass(gate);
        row
    });
    let sums = summed.collect().unwrap().into_iter().collect();
    println!("\n{}", in_words(&sums));
    // A driver that a worker runs is not heard by the test.
    if gates.exists() {
        fs::write(gates.join("answer"), in_words(&sums)).unwrap();
    }
}
