//! Artifacts over real connections.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

use firesteel_net::{Address, Dialer, Listener, ListenerConf, OneSecret, Realm, Secret, Service, Services};
use firesteel_scheduler::deploy::{Artifact, ArtifactKind, ArtifactSource, ContentHash};
use parking_lot::Mutex;

use super::*;

/// A server of artifacts, and a dialer that may ask it.
struct Served {
    listener: Listener,
    dialer: Dialer,
}

impl Served {
    fn new(shelf: Arc<dyn Shelf>) -> Self {
        let (realm, secret) = (Realm::cluster(), Secret::random());
        let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
        let services = Services::new().streams(Service::Artifacts, serve(shelf));
        let listener = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services).unwrap();
        Self { listener, dialer: Dialer::new(realm, secret) }
    }

    fn client(&self) -> ArtifactClient<'static> {
        let to = Address::from(self.listener.address());
        ArtifactClient::connect(&self.dialer, &to, &|| false).unwrap()
    }

    fn fetch(&self, artifact: &Artifact) -> Result<Box<dyn Read>, ArtifactError> {
        Ok(Box::new(self.client().get(artifact.sha256, artifact.len)?))
    }
}

fn offered(folder: &Path, content: &[u8]) -> (Arc<Offer>, Artifact) {
    let path = folder.join("offered");
    fs::write(&path, content).unwrap();
    let offer = Arc::new(Offer::default());
    let artifact = offer.add(&path, "program", ArtifactKind::Executable).unwrap();
    (offer, artifact)
}

fn files_in(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn content_is_fetched_once_however_many_want_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..5_000_000_u32).map(|at| (at % 251) as u8).collect();
    let (offer, artifact) = offered(folder.path(), &content);
    let served = Served::new(offer);
    let cache = Cache::open(folder.path().join("cache")).unwrap();
    let (fetches, start) = (AtomicUsize::new(0), Barrier::new(4));

    let paths: Vec<_> = thread::scope(|scope| {
        let get = || {
            start.wait();
            let fetch = || {
                fetches.fetch_add(1, Ordering::Relaxed);
                served.fetch(&artifact)
            };
            cache.get(&artifact, fetch).unwrap()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(get)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });

    assert_eq!(fetches.load(Ordering::Relaxed), 1);
    assert!(paths.iter().all(|path| *path == paths[0]));
    assert_eq!(fs::read(&paths[0]).unwrap(), content);
    assert_eq!(fs::metadata(&paths[0]).unwrap().permissions().mode() & 0o777, 0o555);
    let again = Cache::open(folder.path().join("cache")).unwrap();
    let nobody_asked = || unreachable!("it is there");
    assert_eq!(again.get(&artifact, nobody_asked).unwrap(), paths[0], "a new worker finds it");
}

#[test]
fn what_was_offered_can_be_had_after_the_file_was_replaced_but_not_after_it_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (offer, artifact) = offered(folder.path(), b"first");
    let served = Served::new(offer);
    let path = folder.path().join("offered");
    let new = folder.path().join("new");
    fs::write(&new, "other").unwrap();

    fs::copy(&path, folder.path().join("kept")).unwrap();
    fs::rename(&new, &path).unwrap();
    let replaced = Cache::open(folder.path().join("a")).unwrap();
    assert_eq!(fs::read(replaced.get(&artifact, || served.fetch(&artifact)).unwrap()).unwrap(), b"first");

    let (offer, artifact) = offered(folder.path(), b"first");
    let served = Served::new(offer);
    fs::write(&path, "SECON").unwrap();
    let changed = Cache::open(folder.path().join("b")).unwrap();
    let error = changed.get(&artifact, || served.fetch(&artifact)).unwrap_err();
    assert!(matches!(error, ArtifactError::WrongHash { expected, .. } if expected == artifact.sha256));
    assert_eq!(files_in(&folder.path().join("b")), 0, "what is wrong is not kept");
}

#[test]
fn wrong_lengths_and_unknown_hashes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (offer, artifact) = offered(folder.path(), b"12345");
    let served = Served::new(offer);
    let cache = Cache::open(folder.path().join("cache")).unwrap();
    let get = |artifact: &Artifact| cache.get(artifact, || served.fetch(artifact)).unwrap_err();

    let longer = get(&Artifact { len: 6, ..artifact.clone() });
    let unknown = get(&Artifact { sha256: ContentHash([7; 32]), ..artifact.clone() });
    let short = cache.get(&artifact, || Ok(Box::new(&b"1234"[..]))).unwrap_err();

    assert!(matches!(longer, ArtifactError::WrongLength { expected: 6, actual: 5 }), "{longer}");
    assert!(matches!(unknown, ArtifactError::Refused { .. }), "{unknown}");
    assert!(matches!(short, ArtifactError::WrongLength { expected: 5, actual: 4 }), "{short}");
    assert_eq!(files_in(&folder.path().join("cache")), 0);
}

#[test]
fn a_fetch_that_panics_wakes_those_who_wait_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let (_, artifact) = offered(folder.path(), b"12345");
    let cache = Cache::open(folder.path().join("cache")).unwrap();
    let (begun, go_on) = (Barrier::new(2), Barrier::new(2));

    thread::scope(|scope| {
        let panicking = scope.spawn(|| {
            let fetch = || -> Result<Box<dyn Read>, ArtifactError> {
                begun.wait();
                go_on.wait();
                panic!("on purpose")
            };
            let _ = cache.get(&artifact, fetch);
        });
        begun.wait();
        let waiting = scope.spawn(|| cache.get(&artifact, || Ok(Box::new(&b"12345"[..]))).map(|_| ()));
        go_on.wait();
        assert!(panicking.join().is_err());
        // Those that came before the end of the flight hear of its end, others fetch by themselves.
        assert!(matches!(waiting.join().unwrap(), Ok(()) | Err(ArtifactError::Cancelled)));
    });
    assert!(cache.get(&artifact, || Ok(Box::new(&b"12345"[..]))).is_ok());
}

#[test]
fn a_wait_for_content_ends_when_nobody_wants_it() {
    /// Does not answer until the test is over.
    struct Stuck(Mutex<Receiver<()>>);

    impl Shelf for Stuck {
        fn open(&self, _: &ContentHash) -> Option<(Arc<fs::File>, u64)> {
            self.0.lock().recv().ok();
            None
        }
    }

    let (over, waits) = channel();
    let served = Served::new(Arc::new(Stuck(Mutex::new(waits))));
    let cancelled = AtomicBool::new(false);
    let is_cancelled = || cancelled.swap(true, Ordering::Relaxed);
    let to = Address::from(served.listener.address());
    let client = ArtifactClient::connect(&served.dialer, &to, &is_cancelled).unwrap();

    let error = client.get(ContentHash([1; 32]), 1).map(|_| ()).unwrap_err();

    assert!(matches!(error, ArtifactError::Cancelled), "{error}");
    drop(over);
}

#[test]
fn an_upload_is_verified_kept_and_not_sent_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("local");
    fs::write(&path, vec![9; 3_000_000]).unwrap();
    let (sha256, len) = hash_file(&path).unwrap();
    let uploads = Arc::new(Uploads::open(folder.path().join("uploads"), 4_000_000).unwrap());
    let served = Served::new(uploads.clone());
    let file = fs::File::open(&path).unwrap();
    let mut client = served.client();

    let wrong = client.put(&path, &file, ContentHash([1; 32]), len).unwrap_err();
    assert!(
        matches!(&wrong, ArtifactError::Refused { reason, .. } if reason.contains("expected")),
        "{wrong}"
    );
    client.put(&path, &file, sha256, len).unwrap();
    // A file that is not sent need not have the content.
    let empty = fs::File::open("/dev/null").unwrap();
    client.put(&path, &empty, sha256, len).unwrap();
    let long = client.put(&path, &file, ContentHash([2; 32]), 4_000_001).unwrap_err();

    assert!(matches!(&long, ArtifactError::Refused { reason, .. } if reason.contains("4000001")), "{long}");
    let mut body = Vec::new();
    served.client().get(sha256, len).unwrap().read_to_end(&mut body).unwrap();
    assert_eq!(body.len() as u64, len);
    uploads.sweep(Duration::ZERO, |needed| *needed == sha256);
    assert_eq!(files_in(&folder.path().join("uploads")), 1);
    uploads.sweep(Duration::from_secs(3600), |_| false);
    assert_eq!(files_in(&folder.path().join("uploads")), 1, "it is young");
    uploads.sweep(Duration::ZERO, |_| false);
    assert_eq!(files_in(&folder.path().join("uploads")), 0);
}

#[test]
fn an_offer_takes_no_uploads() {
    let folder = tempfile::tempdir().unwrap();
    let (offer, _) = offered(folder.path(), b"x");
    let served = Served::new(offer);
    let file = fs::File::open("/dev/null").unwrap();

    let error = served.client().put(Path::new("x"), &file, ContentHash([1; 32]), 1).unwrap_err();

    assert!(matches!(error, ArtifactError::Refused { .. }), "{error}");
}

#[test]
fn a_placed_artifact_outlives_the_cache_and_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let (_, artifact) = offered(folder.path(), b"#!/bin/sh\n");
    let cache = Cache::open(folder.path().join("cache")).unwrap();
    let cached = cache.get(&artifact, || Ok(Box::new(&b"#!/bin/sh\n"[..]))).unwrap();
    fs::write(folder.path().join("program"), "old").unwrap();

    let placed = place(&cached, folder.path(), "program").unwrap();
    cache.sweep(Duration::ZERO);

    assert!(!cached.exists());
    assert_eq!(fs::read(&placed).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn unfinished_files_of_dead_processes_are_removed_and_those_of_live_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    // No process has such a number.
    fs::write(folder.path().join(".new-2147483647-0"), "x").unwrap();
    let live = folder.path().join(format!(".new-{}-999999", std::process::id()));
    fs::write(&live, "x").unwrap();

    Cache::open(folder.path()).unwrap();

    assert_eq!(files_in(folder.path()), 1);
    assert!(live.exists());
}

#[test]
fn only_files_can_be_offered() {
    let error = Offer::default().add("/", "root", ArtifactKind::File).unwrap_err();
    assert!(matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let (_, artifact) = offered(folder.path(), b"x");
    assert_eq!(artifact.from, ArtifactSource::Driver);
}
