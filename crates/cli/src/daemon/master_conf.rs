//! From settings to what a master is told.

use anyhow::{Result, anyhow};
use firesteel::{Conf, settings};
use firesteel_deploy::{
    master::{MasterServerConf, StoreConf},
    store::Compression,
};
use firesteel_scheduler::master::{MasterConfig, Placement, WorkerSelection};
use firesteel_types::settings::{RecoveryMode, StoreCodec, WorkerSelectionPolicy};

use super::place::{Place, port};

/// What a master is told at its start.
pub(super) fn master_conf(conf: &Conf, place: &Place) -> Result<MasterServerConf> {
    let store = store(conf)?;
    // What drivers were submitted with must outlive a master that remembers them.
    let artifacts = match &store {
        StoreConf::None => None,
        StoreConf::Files { folder, .. } => Some(folder.join("artifacts")),
    };
    Ok(MasterServerConf {
        public_host: place.public_host.clone(),
        port_tries: place.port_tries,
        machine: machine(conf),
        store,
        artifacts,
        security: place.security.clone(),
        ..MasterServerConf::new(place.host.as_str(), port(conf, settings::MASTER_PORT))
    })
}

fn store(conf: &Conf) -> Result<StoreConf> {
    let folder = conf.get(settings::DEPLOY_RECOVERY_DIRECTORY);
    match (conf.get(settings::DEPLOY_RECOVERY_MODE), folder) {
        (RecoveryMode::None, _) => Ok(StoreConf::None),
        (RecoveryMode::Filesystem, Some(folder)) => {
            let compression = match conf.get(settings::DEPLOY_RECOVERY_COMPRESSION_CODEC) {
                StoreCodec::None => Compression::None,
                StoreCodec::Zstd => Compression::Zstd,
            };
            Ok(StoreConf::Files { folder: folder.into(), compression })
        }
        (RecoveryMode::Filesystem, None) => Err(anyhow!(
            "firesteel.deploy.recoveryMode is FILESYSTEM, which needs a folder; set firesteel.deploy.recoveryDirectory"
        )),
    }
}

fn machine(conf: &Conf) -> MasterConfig {
    let count = |number: u32| number as usize;
    let placement = |spread_out| if spread_out { Placement::SpreadOut } else { Placement::Packed };
    MasterConfig {
        app_id_pattern: conf.get(settings::DEPLOY_APP_ID_PATTERN),
        app_number_modulo: conf.get(settings::DEPLOY_APP_NUMBER_MODULO).map(u64::from),
        driver_id_pattern: conf.get(settings::DEPLOY_DRIVER_ID_PATTERN),
        worker_timeout: conf.get(settings::WORKER_TIMEOUT),
        dead_worker_persistence: conf.get(settings::DEAD_WORKER_PERSISTENCE),
        recovery_timeout: conf.get(settings::DEPLOY_RECOVERY_TIMEOUT),
        max_drivers: conf.get(settings::DEPLOY_MAX_DRIVERS),
        max_executor_retries: Some(conf.get(settings::DEPLOY_MAX_EXECUTOR_RETRIES))
            .filter(|retries| *retries > 0),
        retained_apps: count(conf.get(settings::DEPLOY_RETAINED_APPLICATIONS)),
        retained_drivers: count(conf.get(settings::DEPLOY_RETAINED_DRIVERS)),
        app_placement: placement(conf.get(settings::DEPLOY_SPREAD_OUT_APPS)),
        driver_placement: placement(conf.get(settings::DEPLOY_SPREAD_OUT_DRIVERS)),
        worker_selection: match conf.get(settings::DEPLOY_WORKER_SELECTION_POLICY) {
            WorkerSelectionPolicy::CoresFreeAsc => WorkerSelection::FewestCoresFree,
            WorkerSelectionPolicy::CoresFreeDesc => WorkerSelection::MostCoresFree,
            WorkerSelectionPolicy::MemoryFreeAsc => WorkerSelection::LeastMemoryFree,
            WorkerSelectionPolicy::MemoryFreeDesc => WorkerSelection::MostMemoryFree,
            WorkerSelectionPolicy::WorkerId => WorkerSelection::WorkerId,
        },
        default_cores: conf.get(settings::DEPLOY_DEFAULT_CORES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_at_their_defaults_are_the_machines_own_defaults() {
        assert_eq!(machine(&Conf::new()), MasterConfig::default());
    }

    #[test]
    fn files_that_survive_need_a_folder() {
        let conf = Conf::new().set("firesteel.deploy.recoveryMode", "filesystem").unwrap();

        assert!(store(&conf).unwrap_err().to_string().contains("firesteel.deploy.recoveryDirectory"));
        let conf = conf.set("firesteel.deploy.recoveryDirectory", "/var/lib/firesteel").unwrap();
        let files = StoreConf::Files { folder: "/var/lib/firesteel".into(), compression: Compression::None };
        assert_eq!(store(&conf).unwrap(), files);
    }
}
