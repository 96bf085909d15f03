//! The pages of an application: what they show, and where.

use std::{
    env,
    sync::{Arc, Weak},
};

use firesteel_deploy::Security;
use firesteel_storage::block::BlockId;
use firesteel_types::{ExecutorId, PartitionId, StorageLevel, settings};
use firesteel_ui::{
    AppSource, Pages, Site, SiteConf, SiteError,
    app::{ApplicationData, EnvironmentData, ExecutorData, JobData, RddStorageData, StageData},
    executor_logs,
};

use crate::{Conf, Error, Result, driver::Driver};
use firesteel_listener::StatusStore;

/// Serves the pages of an application that runs at `master`; `host` is where others reach its driver, if they do.
///
/// A port that is not free is no reason to fail: another application has it.
pub(crate) fn start(
    driver: &Arc<Driver>,
    master: String,
    host: Option<String>,
    security: Security,
) -> Result<()> {
    let conf = &driver.conf;
    if !conf.get(settings::UI_ENABLED) {
        return Ok(());
    }
    let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    // Where the driver listens, if it is reached by another name.
    let bridged = host.as_ref().and(conf.get(settings::DRIVER_BIND_ADDRESS));
    let place = SiteConf {
        public_host: bridged.as_ref().and(host.clone()),
        host: conf
            .get(settings::UI_HOST)
            .or(bridged)
            .or(host.clone())
            .unwrap_or_else(|| "127.0.0.1".to_owned()),
        port: small(conf.get(settings::UI_PORT)),
        port_tries: small(conf.get(settings::PORT_MAX_RETRIES)),
        security,
    };
    let source = DriverSource {
        driver: Arc::downgrade(driver),
        status: driver.status.clone(),
        conf: conf.clone(),
        master,
    };
    match Site::start(&place, Pages::app(Arc::new(source))) {
        Ok(site) => {
            tracing::info!(url = site.url(), "the application's pages are served");
            driver.ui.get_or_init(|| site);
            Ok(())
        }
        Err(error @ SiteError::Unprotected(_)) => Err(Error::security(format!("firesteel.ui.host: {error}"))),
        Err(error) => {
            // In local mode several applications on one machine are nothing special.
            match host {
                Some(_) => tracing::warn!(%error, "the application has no pages"),
                None => tracing::debug!(%error, "the application has no pages"),
            }
            Ok(())
        }
    }
}

/// The data source of the pages. Does not keep the driver alive.
struct DriverSource {
    driver: Weak<Driver>,
    status: StatusStore,
    conf: Conf,
    master: String,
}

impl AppSource for DriverSource {
    fn application(&self) -> ApplicationData {
        let driver = self.driver.upgrade();
        let user = ["USER", "LOGNAME"].into_iter().find_map(|variable| env::var(variable).ok());
        ApplicationData {
            id: driver.as_ref().map(|driver| driver.application_id()).unwrap_or_default(),
            name: self.conf.app_name(),
            user: user.unwrap_or_default(),
            master: self.master.clone(),
            started: driver.map(|driver| driver.clock.began()).unwrap_or_default(),
        }
    }

    fn jobs(&self) -> Vec<JobData> {
        self.status.jobs()
    }

    fn stages(&self) -> Vec<StageData> {
        self.status.stages()
    }

    fn executors(&self) -> Vec<ExecutorData> {
        let mut executors = self.status.executors();
        if let Some((driver, app)) = self.driver.upgrade().and_then(|driver| {
            let app = driver.backend.app_id()?;
            Some((driver, app))
        }) {
            for executor in &mut executors {
                if let Some(page) = driver.backend.worker_page(executor.id) {
                    executor.executor_logs = executor_logs(&page, &app, executor.id);
                }
            }
        }
        executors
    }

    fn storage(&self) -> Vec<RddStorageData> {
        self.driver.upgrade().map(|driver| driver.stored_rdds()).unwrap_or_default()
    }

    fn environment(&self) -> EnvironmentData {
        let executable = env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
        let runtime = [
            ("Firesteel", env!("CARGO_PKG_VERSION").to_owned()),
            ("Operating system", env::consts::OS.to_owned()),
            ("Architecture", env::consts::ARCH.to_owned()),
            ("Executable", executable),
        ];
        EnvironmentData::new(self.conf.iter().map(|(key, value, _)| (key, value)), runtime)
    }
}

impl Driver {
    /// What is kept of RDDs.
    fn stored_rdds(&self) -> Vec<RddStorageData> {
        let rdds: Vec<_> = self.query(|scheduler| {
            let copied = scheduler.cached_rdds().map(|(node, holders)| {
                let generation = scheduler.generation(node.id);
                (node.id, generation, node.name.clone(), node.partitions, node.storage, holders.to_vec())
            });
            copied.collect()
        });
        let described = rdds.into_iter().map(|(id, generation, name, partitions, storage_level, holders)| {
            let (mut memory, mut disk) = (0, 0);
            for (partition, executors) in (0..).zip(&holders) {
                let id = BlockId::Rdd { rdd: id, partition: PartitionId(partition), generation };
                for executor in executors {
                    let bytes = self.stored_bytes(*executor, id);
                    (memory, disk) = (memory + bytes.0, disk + bytes.1);
                }
            }
            RddStorageData {
                id,
                name: name.to_string(),
                num_partitions: partitions,
                num_cached_partitions: holders.iter().filter(|executors| !executors.is_empty()).count()
                    as u32,
                storage_level,
                memory_used: Some(memory),
                disk_used: Some(disk),
            }
        });
        // What is not wanted any more is on its way out.
        described.filter(|rdd| rdd.storage_level != StorageLevel::NONE).collect()
    }

    /// How many bytes of a block an executor keeps, in memory and on disk.
    fn stored_bytes(&self, executor: ExecutorId, id: BlockId) -> (u64, u64) {
        let stored = match executor {
            ExecutorId::DRIVER => Some(self.environment.blocks.manager().status(id)),
            _ => self.backend.stored_at(executor, id),
        };
        stored.map_or((0, 0), |block| (block.memory_size, block.disk_size))
    }
}
