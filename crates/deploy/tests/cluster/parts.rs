//! Parts that another process plays: a master, a worker or an executor that can be killed.
//!
//! The process is this test binary again, started with a part in its environment.

use std::{
    env, fs,
    path::Path,
    process::{self, Child, Command},
    time::Duration,
};

use firesteel_deploy::{
    Security,
    master::{MasterServer, MasterServerConf, StoreConf},
    store::Compression,
    worker::{Watcher, WorkerServer, WorkerServerConf, WorkerWatch, variable},
};
use firesteel_net::{Address, Dialer, LineConf, Realm, Secret};
use firesteel_types::ExecutorId;

use crate::support::redial;

/// Which part. Not one of our own names, which workers do not pass on.
pub(crate) const PART: &str = "DEPLOY_TEST_PART";
const FOLDER: &str = "DEPLOY_TEST_FOLDER";
const SECRET: &str = "DEPLOY_TEST_SECRET";
const ADDRESS: &str = "DEPLOY_TEST_ADDRESS";

/// The arguments that make this binary play its part.
pub(crate) fn arguments() -> Vec<String> {
    ["parts::this_process_plays_the_part_it_was_given", "--exact", "--nocapture"].map(str::to_owned).to_vec()
}

/// Another process that plays a part. Killed when it is dropped.
pub(crate) struct Part(Child);

impl Part {
    /// Starts a part in `folder`; `address` is that of the master.
    pub(crate) fn start(part: &str, folder: &Path, secret: &Secret, address: &Address) -> Self {
        let child = Command::new(env::current_exe().expect("tests have a file"))
            .args(arguments())
            .env(PART, part)
            .env(FOLDER, folder)
            .env(SECRET, secret.to_hex())
            .env(ADDRESS, address.to_string())
            .spawn();
        Self(child.expect("the part starts"))
    }

    /// As `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("the part runs");
        self.0.wait().expect("the part can be waited for");
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Already gone after a kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does nothing in an ordinary run.
#[test]
fn this_process_plays_the_part_it_was_given() {
    let Ok(part) = env::var(PART) else { return };
    let ending = match part.as_str() {
        "master" => master(),
        "worker" => worker(),
        "executor" => executor(),
        other => panic!("there is no part {other}"),
    };
    process::exit(ending);
}

fn given(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is given"))
}

fn security() -> Security {
    let secret = Secret::from_hex(&given(SECRET)).expect("the secret is one");
    Security { secret: Some(secret), ..Security::default() }
}

fn master() -> i32 {
    let address: Address = given(ADDRESS).parse().expect("the address is one");
    let folder = Path::new(&given(FOLDER)).join("store");
    let conf = MasterServerConf {
        port_tries: 0,
        security: security(),
        store: StoreConf::Files { folder, compression: Compression::None },
        ..MasterServerConf::new("127.0.0.1", address.port)
    };
    MasterServer::start(conf).expect("the master starts").wait().code()
}

fn worker() -> i32 {
    let folder = given(FOLDER);
    let folder = Path::new(&folder);
    let masters = [given(ADDRESS).parse().expect("the address is one")];
    let conf = WorkerServerConf {
        local_dirs: vec![folder.join("local")],
        security: security(),
        redial: redial(),
        ..WorkerServerConf::new("127.0.0.1", &masters, 2, 1024, folder.join("work"))
    };
    WorkerServer::start(conf).expect("the worker starts").wait().code()
}

/// Watches its worker, notes its own number in the file `pid`, and waits.
fn executor() -> i32 {
    let secret = Secret::from_hex(&given(variable::APP_SECRET)).expect("the secret is one");
    let dialer = Dialer::new(Realm::from(given(variable::APP_ID).as_str()), secret);
    let worker: Address = given(variable::WORKER_URL).parse().expect("the address is one");
    let id = ExecutorId(given(variable::EXECUTOR_ID).parse().expect("the id is a number"));
    // Silently: the output has no reader.
    let end = |code, _| process::exit(code);
    let watch = WorkerWatch::start(&dialer, &worker, &LineConf::default(), Watcher::Executor(id), end);
    let _watch = watch.expect("the worker lets its executor watch it");
    fs::write("pid", format!("{}\n", process::id())).expect("the folder is there");
    loop {
        std::thread::park_timeout(Duration::from_secs(1000));
    }
}
