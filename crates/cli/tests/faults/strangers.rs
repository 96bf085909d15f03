//! Peers that should not be there: they are refused, the log tells why, and the job goes on.

use std::{
    env, fs,
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use firesteel_net::{Address, Dialer, MAGIC, Realm, Secret, Service, VERSION};

use crate::{
    app::App,
    cluster::{Cluster, SECRET},
    process::{LIMIT, environment, listening, wait_until},
};

/// Longer than a stranger may take to prove itself, with room for a slow machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A listening port, and what a peer must know to be let in.
struct Door {
    what: &'static str,
    port: u16,
    service: Service,
    realm: Realm,
    secret: Secret,
}

impl Door {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    fn address(&self) -> Address {
        Address::new("127.0.0.1", self.port)
    }

    /// Sends bytes; gives what is answered until the connection is closed.
    fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        let (mut stream, mut answer) = (self.connect(), Vec::new());
        // Who has heard enough closes, and so the rest may not get through.
        let _ = stream.write_all(bytes);
        match stream.read_to_end(&mut answer) {
            Ok(_) => answer,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => answer,
            Err(error) => panic!("{} keeps a stranger: {error}", self.what),
        }
    }

    /// The first bytes of a peer.
    fn prelude(&self, version: u8) -> Vec<u8> {
        [&MAGIC[..], &[version, 0, self.service as u8]].concat()
    }

    fn is_bothered(&self) {
        let garbage: Vec<u8> =
            (0..100_000_u32).map(|x| (x.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        self.answer(&garbage);
        self.answer(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n");
        self.answer(&self.prelude(VERSION + 1));
        // A first message of four gibibytes, which never comes.
        let large = self.answer(&[&self.prelude(VERSION)[..], &[0xFF, 0xFF, 0xFF, 0xFE]].concat());
        assert!(large.starts_with(&MAGIC), "{} greets who speaks as a peer", self.what);

        let wrong = Dialer::new(self.realm.clone(), Secret::random());
        let refused = wrong.stream(&self.address(), self.service).map(drop).unwrap_err().to_string();
        assert!(refused.contains("secret"), "{}: {refused}", self.what);
        // One that knows the secret, and then announces four gibibytes.
        let known = Dialer::new(self.realm.clone(), self.secret.clone());
        let mut stream = known.stream(&self.address(), self.service).unwrap();
        stream.write_all(&[0xF0, 0xFF, 0xFF, 0xFF]).unwrap();
        stream.flush().unwrap();
        let ended = thread::spawn(move || stream.read_to_end(&mut Vec::new()).map(drop));
        wait_until("who announces too much is cut off", || ended.is_finished());
    }

    /// A peer that sends its first bytes one a second is not waited for.
    fn bores(&self) {
        let (mut stream, began) = (self.connect(), Instant::now());
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let bytes = [&self.prelude(VERSION)[..], &[64, 0, 0, 0], &[0; 64]].concat();
        for byte in bytes {
            assert!(began.elapsed() < TIMEOUT, "{} waits for a peer that is too slow", self.what);
            let sent = stream.write_all(&[byte]);
            let mut answer = [0; 256];
            match stream.read(&mut answer) {
                Ok(0) => return,
                Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return,
                _ if sent.is_err() => return,
                _ => (),
            }
        }
    }
}

fn doors(cluster: &Cluster, app: &App, executor: u32, worker: usize) -> Vec<Door> {
    let variable = |name: &str| {
        let found = environment(executor).into_iter().find(|(of, _)| of == name);
        found.unwrap_or_else(|| panic!("{name} is set")).1
    };
    let realm = Realm::from(variable("FIRESTEEL_APP_ID").as_str());
    let secret = Secret::from_hex(&variable("FIRESTEEL_APP_SECRET")).unwrap();
    let of_cluster = Secret::new(SECRET.as_bytes()).unwrap();
    let driver = variable("FIRESTEEL_DRIVER_URL").rsplit_once(':').unwrap().1.parse().unwrap();
    assert!(listening(app.pid()).contains(&driver));
    let own = listening(executor);
    assert_eq!(own.len(), 1, "an executor listens only for those who want its blocks");
    let door = |what, port, service, realm: &Realm, secret: &Secret| Door {
        what,
        port,
        service,
        realm: realm.clone(),
        secret: secret.clone(),
    };
    vec![
        door("master", cluster.master.port(), Service::Master, &Realm::cluster(), &of_cluster),
        door("worker", cluster.workers[worker].port(), Service::Worker, &Realm::cluster(), &of_cluster),
        door("driver", driver, Service::Driver, &realm, &secret),
        door("executor", own[0], Service::Blocks, &realm, &secret),
    ]
}

#[test]
fn at_all_doors_while_a_job_runs() {
    let cluster = Cluster::with_workers(2);
    let gate = cluster.gate("app", "map");
    let app = cluster.app("app", &[]);
    let executors = gate.wait(2);
    let executor = *executors.first().unwrap();
    let worker = cluster.worker_of(executor);
    let doors = doors(&cluster, &app, executor, worker);

    thread::scope(|scope| {
        for door in &doors {
            scope.spawn(|| door.bores());
            scope.spawn(|| door.is_bothered());
        }
    });

    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let told = [
        "the first bytes are not those of a peer",
        "the peer speaks version",
        "the handshake took too long",
        "NotAuthenticated",
        "4294967280 bytes",
    ];
    for told in told {
        let is_told = |log: String| log.contains(told);
        wait_until(&format!("the master tells: {told}"), || is_told(read(&cluster.master.log)));
        wait_until(&format!("the worker tells: {told}"), || is_told(read(&cluster.workers[worker].log)));
        wait_until(&format!("the driver tells: {told}"), || is_told(read(&app.log)));
        wait_until(&format!("the executor tells: {told}"), || is_told(cluster.executor_logs(worker)));
    }
    gate.open();
    app.finish();
    assert_eq!(gate.came(), executors, "no executor was lost");
    cluster.finish();
}

/// This program as another build: the same but for the linker's id.
fn another_build(cluster: &Cluster) -> PathBuf {
    let mut program = fs::read(env::current_exe().unwrap()).unwrap();
    // The note of the id: lengths of name and content, its kind, its name.
    let note = [&[4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0"].concat();
    if let Some(at) = program.windows(note.len()).position(|window| window == note) {
        program[at + note.len()] ^= 0xFF;
    }
    // Without an id the whole file counts.
    program.push(0);
    let path = cluster.path().join("another-build");
    fs::write(&path, program).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn an_executor_of_another_build() {
    let cluster = Cluster::with_workers(1);
    let gate = cluster.gate("app", "map");
    let app = cluster.app("app", &[]);
    let executor = *gate.wait(1).first().unwrap();

    let mut stranger = Command::new(another_build(&cluster));
    stranger.env_clear().envs(environment(executor)).arg("--firesteel-executor");
    stranger.env("FIRESTEEL_EXECUTOR_ID", "77").stdout(Stdio::null()).stderr(Stdio::piped());
    let refused = stranger.output().unwrap();

    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("another build") && said.contains("the same executable"), "{said}");
    let log = fs::read_to_string(&app.log).unwrap();
    assert!(log.contains("another build"), "{log}");
    gate.open();
    app.finish();
    cluster.finish();
}
