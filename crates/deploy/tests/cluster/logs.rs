//! What processes write, cut into files.

use firesteel_deploy::worker::{LogOwner, LogRequest, LogRolling, LogStream};
use firesteel_types::ExecutorKey;

use crate::support::*;

#[test]
fn a_long_log_is_cut_and_its_oldest_parts_go() {
    let cluster = Cluster::new();
    let mut conf = cluster.worker_conf("w", 1);
    conf.rolling = LogRolling { max_bytes: Some(1_000), retained: Some(3) };
    let worker = started(conf);

    // A hundred thousand bytes: "00000" to "99990" and a newline each would be more than the pipe holds.
    let script = "i=0; while [ $i -lt 10000 ]; do printf '%09d\\n' $i; i=$((i+1)); done; exit 1";
    let app = cluster.app(script);
    let id = app.id();
    app.removed(0);

    let owner = LogOwner::Executor(ExecutorKey::new(id.clone(), 0));
    let request = LogRequest { owner, stream: LogStream::Stdout, offset: None, length: 20 };
    let tail = worker.log(&request).unwrap();
    assert_eq!(tail.bytes, b"000009998\n000009999\n");
    assert_eq!((tail.first, tail.end), (96_000, 100_000), "three full files and the last one");
    let at = worker.log(&LogRequest { offset: Some(97_990), length: 20, ..request }).unwrap();
    assert_eq!((at.start, &*at.bytes), (97_990, &b"000009799\n000009800\n"[..]), "a part may span files");
    let folder = cluster.work_dir("w").join(id.as_str()).join("0");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "stderr",
            "stdout",
            "stdout.000000000000096000",
            "stdout.000000000000097000",
            "stdout.000000000000098000"
        ]
    );
}
