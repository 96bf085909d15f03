//! From settings to what a worker is told.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use firesteel::{Conf, settings};
use firesteel_deploy::worker::{LogRolling, WorkerServerConf};
use firesteel_net::Address;
use firesteel_scheduler::worker::{ResourceRequest, WorkerConfig};
use firesteel_types::{MasterUrl, ResourceName};

use super::place::{Place, port};
use crate::{args::WorkerArgs, exit::Usage, memory::default_resources};

/// What a worker is told at its start.
pub(super) fn worker_conf(conf: &Conf, place: &Place, args: &WorkerArgs) -> Result<WorkerServerConf> {
    let masters = masters(&args.master)?;
    let (cores, memory_mib) = match (conf.get(settings::WORKER_CORES), conf.get(settings::WORKER_MEMORY)) {
        (Some(cores), Some(memory)) => (cores, memory >> 20),
        (cores, memory) => {
            let usual = default_resources()?;
            (cores.unwrap_or(usual.0), memory.map_or(usual.1, |memory| memory >> 20))
        }
    };
    let work_dir = PathBuf::from(conf.get(settings::WORKER_DIR));
    let usual = WorkerServerConf::new(place.host.as_str(), &masters, cores, memory_mib, work_dir);
    Ok(WorkerServerConf {
        public_host: place.public_host.clone(),
        port: port(conf, settings::WORKER_PORT),
        port_tries: place.port_tries,
        local_dirs: local_dirs(conf),
        machine: machine(conf, usual.machine, &args.resources)?,
        shuffle_service: conf.get(settings::SHUFFLE_SERVICE_ENABLED),
        rolling: LogRolling {
            max_bytes: conf.get(settings::EXECUTOR_LOGS_ROLLING_MAX_SIZE),
            retained: conf
                .get(settings::EXECUTOR_LOGS_ROLLING_MAX_RETAINED_FILES)
                .map(|files| files as usize),
        },
        environment: tls_variables(conf)?,
        security: place.security.clone(),
        ..usual
    })
}

fn machine(conf: &Conf, usual: WorkerConfig, resources: &[String]) -> Result<WorkerConfig> {
    Ok(WorkerConfig {
        resources: resources.iter().map(|text| resource(text)).collect::<Result<_>>()?,
        resource_file: conf.get(settings::WORKER_RESOURCES_FILE),
        id_pattern: conf.get(settings::WORKER_ID_PATTERN),
        initial_registration_tries: conf.get(settings::WORKER_INITIAL_REGISTRATION_RETRIES),
        max_registration_tries: conf.get(settings::WORKER_MAX_REGISTRATION_RETRIES),
        prefer_configured_master_address: conf.get(settings::WORKER_PREFER_CONFIGURED_MASTER_ADDRESS),
        heartbeat_interval: conf.get(settings::WORKER_TIMEOUT) / 4,
        cleaning_enabled: conf.get(settings::WORKER_CLEANUP_ENABLED),
        cleaning_interval: conf.get(settings::WORKER_CLEANUP_INTERVAL),
        app_data_retention: conf.get(settings::WORKER_CLEANUP_APP_DATA_TTL),
        retained_executors: conf.get(settings::WORKER_UI_RETAINED_EXECUTORS) as usize,
        retained_drivers: conf.get(settings::WORKER_UI_RETAINED_DRIVERS) as usize,
        terminate_timeout: conf.get(settings::WORKER_DRIVER_TERMINATE_TIMEOUT),
        decommission_enabled: conf.get(settings::DECOMMISSION_ENABLED),
        ..usual
    })
}

/// The addresses in `firesteel://host:port,host:port`.
fn masters(url: &str) -> Result<Vec<Address>> {
    let parsed: MasterUrl = url.parse()?;
    let MasterUrl::Cluster { masters } = parsed else {
        return Err(
            Usage(format!("`{url}` is no master that a worker can join; use firesteel://host:7077")).into()
        );
    };
    masters.iter().map(|master| Ok(master.parse()?)).collect()
}

/// `gpu=2:/opt/find-gpus`: a name, how many, and the program that finds them.
fn resource(text: &str) -> Result<(ResourceName, ResourceRequest)> {
    let parse = || {
        let (name, rest) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let (amount, program) = match rest.split_once(':') {
            Some((amount, program)) => (amount, Some(program.to_owned())),
            None => (rest, None),
        };
        let request = ResourceRequest { amount: amount.parse().ok()?, discovery_script: program };
        Some((name.into(), request))
    };
    let usage = || Usage(format!("--resource {text}: write it as gpu=2 or gpu=2:/path/of/program"));
    Ok(parse().ok_or_else(usage)?)
}

fn local_dirs(conf: &Conf) -> Vec<PathBuf> {
    let set = conf.get(settings::LOCAL_DIR);
    let folders: Vec<PathBuf> =
        set.iter().flat_map(|list| list.split(',')).map(|folder| folder.trim().into()).collect();
    if folders.is_empty() { vec![env::temp_dir()] } else { folders }
}

/// How executors and drivers find the certificates, wherever they run.
fn tls_variables(conf: &Conf) -> Result<BTreeMap<String, String>> {
    let files = [
        ("FIRESTEEL_SSL_CERTIFICATE", settings::SSL_CERTIFICATE),
        ("FIRESTEEL_SSL_KEY", settings::SSL_KEY),
        ("FIRESTEEL_SSL_TRUSTED", settings::SSL_TRUSTED),
    ];
    let set = files.into_iter().filter_map(|(variable, setting)| Some((variable, conf.get(setting)?)));
    set.map(|(variable, path)| {
        let full = Path::new(&path).canonicalize().with_context(|| format!("cannot read {path}"))?;
        Ok((variable.to_owned(), full.to_string_lossy().into_owned()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_at_their_defaults_are_the_machines_own_defaults() {
        let usual = WorkerConfig::new("h", 0, vec!["m:7077".into()], 2, 1024);

        assert_eq!(machine(&Conf::new(), usual.clone(), &[]).unwrap(), usual);
    }

    #[test]
    fn a_worker_joins_masters_and_nothing_else() {
        let addresses: Vec<String> =
            masters("firesteel://h1:7077,h2:7078").unwrap().iter().map(ToString::to_string).collect();

        assert_eq!(addresses, ["h1:7077", "h2:7078"]);
        assert!(masters("local[2]").unwrap_err().to_string().contains("firesteel://host:7077"));
        assert!(masters("h1:7077").is_err());
    }

    #[test]
    fn resources_have_a_name_an_amount_and_perhaps_a_program() {
        let request = |amount, program: Option<&str>| ResourceRequest {
            amount,
            discovery_script: program.map(str::to_owned),
        };

        assert_eq!(resource("gpu=2").unwrap(), ("gpu".into(), request(2, None)));
        assert_eq!(resource("gpu=2:/bin/find").unwrap(), ("gpu".into(), request(2, Some("/bin/find"))));
        for bad in ["gpu", "=2", "gpu=two", "gpu=-1"] {
            assert!(resource(bad).unwrap_err().is::<Usage>(), "{bad}");
        }
    }
}
