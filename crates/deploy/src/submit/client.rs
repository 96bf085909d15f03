//! Asks masters about drivers: [`SubmitClient`].

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use firesteel_net::{Address, Closed, Handler, Line, LineConf, Service};
use firesteel_scheduler::{
    deploy::{Artifact, ArtifactKind, ArtifactSource, Command},
    master::{AppWait, DriverDescription, DriverStatus, RecoveryState, Reply},
};
use firesteel_types::{AppId, DriverId};

use super::{
    error::SubmitError,
    submission::{DriverSubmission, file_name},
};
use crate::{
    artifact::{ArtifactClient, hash_reader},
    protocol::{ClientToMaster, FromMaster, ToMaster},
    security::Security,
};

/// What a client is told at its start.
#[derive(Clone, Debug)]
pub struct SubmitConf {
    /// Every master that may lead.
    pub masters: Vec<Address>,
    /// The secret and the certificates.
    pub security: Security,
    /// What its lines allow.
    pub line: LineConf,
    /// How long a master may take to answer.
    pub answer_timeout: Duration,
    /// How long a new driver has before it is first asked after.
    pub first_look: Duration,
    /// How often it is asked after from then on.
    pub look_every: Duration,
}

impl SubmitConf {
    /// A client of `masters`, with the usual settings.
    pub fn new(masters: Vec<Address>) -> Self {
        Self {
            masters,
            security: Security::default(),
            line: LineConf::default(),
            answer_timeout: Duration::from_secs(30),
            first_look: Duration::from_secs(5),
            look_every: Duration::from_secs(10),
        }
    }
}

/// Asks the masters of a cluster about drivers.
///
/// Every call finds the master that leads anew, so a client outlives a change of masters.
///
/// ```
/// use std::time::Duration;
/// use firesteel_deploy::{
///     LocalCluster, LocalClusterConf,
///     submit::{DriverSubmission, SubmitClient, SubmitConf},
/// };
/// use firesteel_scheduler::{deploy::DriverState, master::DriverStatus};
///
/// let cluster = LocalCluster::start(LocalClusterConf::new(1, 1, 512))?;
/// let client = SubmitClient::new(SubmitConf {
///     security: cluster.security(),
///     first_look: Duration::ZERO,
///     look_every: Duration::from_millis(20),
///     ..SubmitConf::new(vec![cluster.master().clone()])
/// });
///
/// let driver = DriverSubmission { memory_mib: 64, ..DriverSubmission::new("/bin/true") };
/// let id = client.submit(&driver)?;
/// let end = client.follow(&id, true, |_, _| {})?;
/// assert!(matches!(end, Some(DriverStatus::Ended { state: DriverState::Finished, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SubmitClient {
    conf: SubmitConf,
}

impl SubmitClient {
    /// A client with this configuration. It connects when it is asked something.
    pub fn new(conf: SubmitConf) -> Self {
        Self { conf }
    }

    /// The first master that leads.
    pub fn leader(&self) -> Result<Address, SubmitError> {
        let mut tried = Vec::new();
        for master in &self.conf.masters {
            match self.ask(master, ClientToMaster::State) {
                Ok(FromMaster::State(RecoveryState::Alive)) => return Ok(master.clone()),
                Ok(FromMaster::State(state)) => tried.push(format!("{master} is {state:?}")),
                Ok(answer) => tried.push(protocol(master, &answer).to_string()),
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(SubmitError::NoMaster { tried: tried.join("; ") })
    }

    /// Uploads a driver's executable and files, and has it run. Gives its id.
    pub fn submit(&self, driver: &DriverSubmission) -> Result<DriverId, SubmitError> {
        driver.check()?;
        let master = self.leader()?;
        let mut artifacts = vec![self.upload(&master, &driver.executable, ArtifactKind::Executable)?];
        for file in &driver.files {
            artifacts.push(self.upload(&master, file, ArtifactKind::File)?);
        }
        let command = Command {
            program: Command::EXECUTABLE.to_owned(),
            arguments: driver.arguments.clone(),
            environment: driver.environment.clone(),
            artifacts,
        };
        let description = DriverDescription {
            cores: driver.cores,
            memory_mib: driver.memory_mib,
            resources: driver.resources.clone(),
            supervise: driver.supervise,
            command: Arc::new(command),
        };
        match self.request(&master, ClientToMaster::SubmitDriver(Box::new(description)))? {
            Reply::DriverSubmitted { driver } => Ok(driver),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// Gives a file to the master that leads at `master`, unless it has it.
    pub fn upload(&self, master: &Address, path: &Path, kind: ArtifactKind) -> Result<Artifact, SubmitError> {
        let unreadable = |source| SubmitError::File { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(unreadable)?;
        let (sha256, len) = hash_reader(&mut file).map_err(unreadable)?;
        let name = file_name(path).unwrap_or("driver").to_owned();
        let failed = |source| SubmitError::Upload { name: name.clone(), source };
        let never = || false;
        let mut client =
            ArtifactClient::connect(&self.conf.security.dialer(), master, &never).map_err(failed)?;
        client.put(path, &file, sha256, len).map_err(failed)?;
        Ok(Artifact { name, sha256, len, kind, from: ArtifactSource::Master })
    }

    /// Has a driver end; false when it is unknown or has ended.
    pub fn kill(&self, driver: &DriverId) -> Result<bool, SubmitError> {
        let master = self.leader()?;
        match self.request(&master, ClientToMaster::KillDriver { driver: driver.clone() })? {
            Reply::DriverKilled { accepted, .. } => Ok(accepted),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// Has every driver end.
    pub fn kill_all(&self) -> Result<(), SubmitError> {
        let master = self.leader()?;
        match self.request(&master, ClientToMaster::KillAllDrivers)? {
            Reply::AllDriversKilled => Ok(()),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// How a driver does; none when it is unknown.
    pub fn status(&self, driver: &DriverId) -> Result<Option<DriverStatus>, SubmitError> {
        let master = self.leader()?;
        match self.request(&master, ClientToMaster::DriverStatus { driver: driver.clone() })? {
            Reply::DriverStatus { status, .. } => Ok(status),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// Looks after a driver that was just submitted, as Spark's client does: once after a while, and with `until_end`
    /// again and again until it has ended. Returns what it saw last; none when the driver is unknown.
    ///
    /// A driver that was submitted again because its worker was lost is followed under its new id. `saw` is told every
    /// status.
    pub fn follow(
        &self,
        driver: &DriverId,
        until_end: bool,
        mut saw: impl FnMut(&DriverId, &DriverStatus),
    ) -> Result<Option<DriverStatus>, SubmitError> {
        let mut driver = driver.clone();
        thread::sleep(self.conf.first_look);
        loop {
            let Some(status) = self.status(&driver)? else { return Ok(None) };
            saw(&driver, &status);
            match &status {
                DriverStatus::Relaunched { new_id, .. } => driver = new_id.clone(),
                DriverStatus::Submitted | DriverStatus::Running { .. } if until_end => {
                    thread::sleep(self.conf.look_every);
                }
                DriverStatus::Submitted | DriverStatus::Running { .. } | DriverStatus::Ended { .. } => {
                    return Ok(Some(status));
                }
            }
        }
    }

    /// Asks the master that leads why an application has no executor; none if it has one.
    pub fn why_waits(&self, app: &AppId) -> Result<Option<AppWait>, SubmitError> {
        let master = self.leader()?;
        match self.ask(&master, ClientToMaster::WhyWaits { app: app.clone() })? {
            FromMaster::AppWaits(wait) => Ok(wait),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// Empties the history of the master that leads.
    pub fn clear_completed(&self) -> Result<(), SubmitError> {
        let master = self.leader()?;
        match self.request(&master, ClientToMaster::ClearCompleted)? {
            Reply::CompletedCleared => Ok(()),
            answer => Err(protocol(&master, &answer)),
        }
    }

    /// Has every worker on these hosts leave, and gives how many they are.
    pub fn decommission_hosts(&self, hosts: Vec<String>) -> Result<u32, SubmitError> {
        let master = self.leader()?;
        match self.request(&master, ClientToMaster::DecommissionHosts { hosts })? {
            Reply::WorkersDecommissioned { workers } => Ok(workers),
            answer => Err(protocol(&master, &answer)),
        }
    }

    fn request(&self, master: &Address, question: ClientToMaster) -> Result<Reply, SubmitError> {
        match self.ask(master, question)? {
            FromMaster::Reply(Reply::NotAlive { state }) => {
                Err(SubmitError::NotAlive { master: master.clone(), state })
            }
            FromMaster::Reply(reply) => Ok(reply),
            answer => Err(protocol(master, &answer)),
        }
    }

    fn ask(&self, master: &Address, question: ClientToMaster) -> Result<FromMaster, SubmitError> {
        let (tell, told) = channel();
        let dialer = self.conf.security.dialer();
        let line: Line<ToMaster> = dialer.line(master, Service::Master, &self.conf.line, Answers { tell })?;
        let no_answer = || SubmitError::NoAnswer { master: master.clone() };
        line.send(&ToMaster::Client(question)).map_err(|_| no_answer())?;
        let answer = told.recv_timeout(self.conf.answer_timeout).map_err(|_| no_answer());
        line.close();
        answer
    }
}

/// Passes answers on; when the line ends, so does the wait for them.
struct Answers {
    tell: Sender<FromMaster>,
}

impl Handler<FromMaster> for Answers {
    fn messages(&mut self, messages: &mut Vec<FromMaster>) {
        for message in messages.drain(..) {
            // The caller does not wait any more.
            let _ = self.tell.send(message);
        }
    }

    fn closed(&mut self, _: Closed) {}
}

fn protocol(master: &Address, answer: &impl std::fmt::Debug) -> SubmitError {
    SubmitError::Protocol { master: master.clone(), answer: format!("{answer:?}") }
}
