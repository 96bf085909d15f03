//! A cluster in one process.

use std::fs;

use firesteel_deploy::{LocalCluster, LocalClusterConf, client::AppClientConf};
use firesteel_scheduler::deploy::{Artifact, ArtifactKind, ArtifactSource, Command, ContentHash};

use crate::support::*;

#[test]
fn a_local_cluster_runs_executables_of_its_own_machine_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("cluster");
    let conf = LocalClusterConf { folder: Some(work.clone()), ..LocalClusterConf::new(2, 1, 512) };
    let cluster = LocalCluster::start(conf).unwrap();
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let program = Artifact {
        name: "sh".to_owned(),
        sha256: ContentHash([0; 32]),
        len: fs::metadata(&shell).unwrap().len(),
        kind: ArtifactKind::Executable,
        from: ArtifactSource::Path(shell.to_str().unwrap().to_owned()),
    };
    let mut app = description(Command {
        program: Command::EXECUTABLE.to_owned(),
        arguments: vec!["-c".to_owned(), "echo $$ > pid; exec sleep 1000".to_owned()],
        artifacts: vec![program],
        ..Command::default()
    });
    app.executor_limit = Some(2);

    let app = App::start(AppClientConf {
        security: cluster.security(),
        ..AppClientConf::new(&[cluster.master().clone()], app)
    });
    let id = app.id();
    let status = cluster.status().unwrap();
    assert_eq!(status.workers.len(), 2);
    let pids: Vec<i32> = eventually("both run, one on each worker", || {
        let files: Vec<_> = (0..2)
            .flat_map(|worker| (0..2).map(move |executor| (worker, executor)))
            .map(|(worker, executor)| work.join(format!("worker-{worker}/{id}/{executor}/pid")))
            .filter(|path| path.exists())
            .collect();
        (files.len() == 2).then(|| files.iter().map(|path| number_in(path)).collect())
    });
    let ports: Vec<u16> = cluster.workers().iter().map(|worker| worker.address().port).collect();

    cluster.stop();

    assert!(pids.into_iter().all(|pid| !is_running(pid)));
    for port in ports.into_iter().chain([cluster.master().port]) {
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    }
    assert_eq!(fs::read_dir(work.join("local")).unwrap().count(), 0, "no local files");
    assert!(cluster.status().is_none());
}

#[test]
fn a_folder_that_nobody_asked_for_goes_with_the_cluster() {
    let before = clusters();
    let cluster = LocalCluster::start(LocalClusterConf::new(1, 1, 512)).unwrap();
    let made: Vec<_> = clusters().into_iter().filter(|folder| !before.contains(folder)).collect();
    assert!(!made.is_empty());

    drop(cluster);

    let after = clusters();
    assert!(made.iter().any(|folder| !after.contains(folder)));
}

fn clusters() -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("firesteel-cluster-"));
    ours.map(|entry| entry.path()).collect()
}
