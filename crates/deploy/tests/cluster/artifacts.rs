//! Executors fetch their executable and files from their driver.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use firesteel_deploy::{
    artifact::{Offer, Shelf, serve},
    worker::variable,
};
use firesteel_net::{Listener, ListenerConf, Realm, Secret, Secrets, Service, Services};
use firesteel_scheduler::{
    deploy::{Artifact, ArtifactKind, ArtifactSource, Command, ContentHash},
    master::AppDescription,
};

use crate::support::*;

/// The secret of an application that does not know its id when it is first asked.
struct OfTheApp {
    secret: Secret,
    asked: AtomicUsize,
}

impl Secrets for OfTheApp {
    fn secret(&self, realm: &Realm) -> Option<Secret> {
        let is_known = self.asked.fetch_add(1, Ordering::Relaxed) > 0;
        (is_known && *realm != Realm::cluster()).then(|| self.secret.clone())
    }
}

/// Counts how often something is fetched.
struct Counting {
    offer: Offer,
    fetched: AtomicUsize,
}

impl Shelf for Counting {
    fn open(&self, sha256: &ContentHash) -> Option<(Arc<File>, u64)> {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        self.offer.open(sha256)
    }
}

/// A driver that offers files.
struct Driver {
    shelf: Arc<Counting>,
    listener: Listener,
    secret: Secret,
}

impl Driver {
    fn new() -> Self {
        let shelf = Arc::new(Counting { offer: Offer::default(), fetched: AtomicUsize::new(0) });
        let secret = Secret::random();
        let services = Services::new().streams(Service::Artifacts, serve(shelf.clone()));
        let conf =
            ListenerConf::new(Arc::new(OfTheApp { secret: secret.clone(), asked: AtomicUsize::new(0) }));
        let listener = Listener::bind("127.0.0.1", 0, 0, conf, services).unwrap();
        Self { shelf, listener, secret }
    }

    /// Offers a script as the executable.
    fn executable(&self, folder: &Path, text: &str) -> Artifact {
        let path = folder.join("program");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        self.shelf.offer.add(&path, "program", ArtifactKind::Executable).unwrap()
    }

    fn app(&self, cluster: &Cluster, artifacts: Vec<Artifact>, executors: u32) -> AppDescription {
        let sealed = cluster.security.seal_app_secret(&self.secret);
        AppDescription {
            executor_limit: Some(executors),
            driver_url: self.listener.address().to_string(),
            ..description(Command {
                program: Command::EXECUTABLE.to_owned(),
                environment: [(variable::APP_SECRET.to_owned(), sealed)].into(),
                artifacts,
                ..Command::default()
            })
        }
    }
}

#[test]
fn all_executors_of_a_worker_cost_one_transfer_and_wait_for_a_driver_that_is_not_ready() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 4);
    let driver = Driver::new();
    let program = driver.executable(
        cluster.folder.path(),
        "#!/bin/sh\ncat \"$FIRESTEEL_FILES_DIR/table\"; exec sleep 1000\n",
    );
    let path = cluster.folder.path().join("data");
    fs::write(&path, "rows\n").unwrap();
    let table = driver.shelf.offer.add(&path, "table", ArtifactKind::File).unwrap();

    let app = cluster.app_with(driver.app(&cluster, vec![program, table], 4));
    let id = app.id();

    for executor in 0..4 {
        eventually("it reads its file", || stdout(&worker, &id, executor).filter(|said| said == "rows\n"));
    }
    assert_eq!(driver.shelf.fetched.load(Ordering::Relaxed), 2, "one for each artifact");
    assert_eq!(fs::read_dir(cluster.work_dir("w").join("cache")).unwrap().count(), 2);
}

/// Behaviours: WORK-005.
#[test]
fn a_wrong_hash_a_name_that_escapes_and_a_path_of_the_worker_are_refused() {
    let cluster = Cluster::with(|conf, _| conf.machine.max_executor_retries = Some(1));
    let _worker = cluster.worker("w", 1);
    let driver = Driver::new();
    let refused = |artifact: Artifact| {
        let app = cluster.app_with(driver.app(&cluster, vec![artifact], 1));
        app.dead();
        app.removed(0).0
    };

    let good = driver.executable(cluster.folder.path(), "#!/bin/sh\nexit 0\n");
    fs::write(cluster.folder.path().join("program"), "#!/bin/sh\nexit 1\n").unwrap();
    let changed = refused(good.clone());
    assert!(changed.contains("was expected"), "{changed}");
    let escapes = refused(Artifact { name: "../../escaped".to_owned(), ..good.clone() });
    assert!(escapes.contains("`../../escaped` cannot be the name of a file"), "{escapes}");
    let from = ArtifactSource::Path("/bin/sh".to_owned());
    let foreign = refused(Artifact { from, ..good.clone() });
    assert!(foreign.contains("only the workers of a local cluster"), "{foreign}");
    let unknown = refused(Artifact { sha256: ContentHash([7; 32]), ..good });
    assert!(unknown.contains("it is not here"), "{unknown}");
    assert_eq!(fs::read_dir(cluster.work_dir("w").join("cache")).unwrap().count(), 0);
}

#[test]
fn a_secret_that_was_sealed_for_another_cluster_is_refused() {
    let cluster = Cluster::with(|conf, _| conf.machine.max_executor_retries = Some(1));
    let _worker = cluster.worker("w", 1);
    let elsewhere = firesteel_deploy::Security { secret: Some(Secret::random()), ..Default::default() };
    let mut command = shell("exit 0");
    let sealed = elsewhere.seal_app_secret(&Secret::random());
    command.environment.insert(variable::APP_SECRET.to_owned(), sealed);

    let app = cluster.app_with(description(command));

    app.dead();
    assert!(app.removed(0).0.contains("same cluster secret"), "{}", app.removed(0).0);
}
