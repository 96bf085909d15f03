//! What an application without executors is told.

use firesteel_types::AppId;

use super::{
    super::{AppWait, MasterConfig},
    harness::{alive, app, worker},
};

#[test]
fn an_application_without_executors_is_told_what_it_lacks() {
    let mut cluster = alive(MasterConfig::default());
    let small = cluster.app(app(1, 512));
    let large = cluster.app(app(1, 4096));
    assert_eq!(cluster.why_waits(&small), Some(AppWait::NoWorkers));

    cluster.worker(worker(0, 2, 1024));

    assert_eq!(cluster.why_waits(&small), None);
    let too_large = AppWait::TooLarge {
        cores: 1,
        memory_mib: 4096,
        workers: 1,
        largest_cores: 2,
        largest_memory_mib: 1024,
    };
    assert_eq!(cluster.why_waits(&large), Some(too_large));
    let late = cluster.app(app(1, 1024));
    assert_eq!(cluster.why_waits(&late), Some(AppWait::Busy { cores: 1, memory_mib: 1024, workers: 1 }));
    assert_eq!(cluster.why_waits(&AppId::from("app-9")), None);
}
