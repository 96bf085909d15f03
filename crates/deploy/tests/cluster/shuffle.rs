//! Workers serve the shuffle files of their executors.

use std::path::PathBuf;

use firesteel_deploy::worker::variable;
use firesteel_net::{Dialer, Realm, Secret};
use firesteel_storage::{
    block::BlockId,
    codec::Compression,
    disk::LocalDirs,
    shuffle::files::MapOutputWriter,
    transfer::{BlockClient, ClientConf, PeerAddr, Retry},
};
use firesteel_types::{AppId, AttemptId, ExecutorId, PartitionId, ShuffleId};

use crate::support::*;

/// An application whose only executor ends as soon as the file `go` is in its folder.
fn app(cluster: &Cluster, secret: &Secret) -> App {
    let mut command = shell("echo $FIRESTEEL_LOCAL_DIRS; while [ ! -f go ]; do sleep 0.01; done; exit 1");
    let sealed = cluster.security.seal_app_secret(secret);
    command.environment.insert(variable::APP_SECRET.to_owned(), sealed);
    cluster.app_with(description(command))
}

fn write_map_output(folder: PathBuf) {
    let dirs = LocalDirs::attach([folder]);
    let (shuffle, map) = (ShuffleId(0), PartitionId(3));
    let mut output = MapOutputWriter::new(&dirs, shuffle, map, 2, Compression::None, AttemptId(1));
    output.start(PartitionId(1));
    let mut rows = output.rows();
    rows.extend(&[(1_u64, 2_u64), (3, 4)]).unwrap();
    rows.finish().unwrap();
    output.commit().unwrap();
}

/// The block of reduce partition `reduce`, or why there is none.
fn fetch(realm: &AppId, secret: &Secret, peer: &PeerAddr, reduce: u32) -> Result<usize, String> {
    let conf = ClientConf {
        retry: Retry { max_tries: 1, ..Retry::default() },
        ..ClientConf::new(Dialer::new(Realm::from(realm), secret.clone()))
    };
    let block = BlockId::Shuffle { shuffle: ShuffleId(0), map: PartitionId(3), reduce: PartitionId(reduce) };
    let mut got = None;
    BlockClient::new(conf).fetch_bytes(peer, &[block], 1 << 20, &mut |_, block| {
        got = Some(block.map(|bytes| bytes.len()).map_err(|error| error.to_string()));
    });
    got.expect("every block is answered")
}

#[test]
fn the_files_of_a_dead_executor_are_served_to_its_application_and_to_no_other() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 2);
    let (secret, other_secret) = (Secret::random(), Secret::random());
    let first = app(&cluster, &secret);
    let id = first.id();
    let folder =
        eventually("it says its folder", || stdout(&worker, &id, 0).filter(|said| said.ends_with('\n')));
    write_map_output(folder.trim().into());
    let second = app(&cluster, &other_secret);
    let other = second.id();
    eventually("the other one runs", || stdout(&worker, &other, 0).filter(|said| !said.is_empty()));
    std::fs::write(cluster.work_dir("w").join(id.as_str()).join("0/go"), "").unwrap();
    first.removed(0);

    let peer = PeerAddr::new(ExecutorId(0), "127.0.0.1", worker.address().port);
    let len = fetch(&id, &secret, &peer, 1).unwrap();
    assert!(len > 0);
    assert_eq!(fetch(&id, &secret, &peer, 0), Ok(0), "an empty block");
    let beyond = fetch(&id, &secret, &peer, 2).unwrap_err();
    assert!(beyond.contains("partition-2"), "{beyond}");
    let wrong = fetch(&id, &other_secret, &peer, 1).unwrap_err();
    assert!(wrong.contains("refused"), "{wrong}");
    let not_theirs = fetch(&other, &other_secret, &peer, 1).unwrap_err();
    assert!(not_theirs.contains("is not at"), "{not_theirs}");
    let unknown = PeerAddr::new(ExecutorId(9), "127.0.0.1", worker.address().port);
    assert!(fetch(&id, &secret, &unknown, 1).is_err());

    first.client.stop();
    eventually("the secret is forgotten with the application", || {
        fetch(&id, &secret, &peer, 1).err().filter(|error| error.contains("refused"))
    });
}
