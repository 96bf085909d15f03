//! From a request to a driver: what it means in our words, or what is wrong with it.

use std::{collections::BTreeMap, fmt::Write as _};

use firesteel_deploy::submit::DriverSubmission;
use firesteel_types::settings::{self, Setting, SettingType};

use super::messages::CreateSubmissionRequest;

/// A driver to run, and the fields of the request that were not understood.
#[derive(Debug)]
pub(super) struct Understood {
    pub(super) driver: DriverSubmission,
    pub(super) unknown: Vec<String>,
}

/// Reads a request for a driver on the cluster of `master`.
pub(super) fn understand(body: &[u8], master: &str) -> Result<Understood, String> {
    let request: CreateSubmissionRequest =
        serde_json::from_slice(body).map_err(|error| format!("malformed request: {error}"))?;
    if request.action != "CreateSubmissionRequest" {
        return Err(format!(
            "malformed request: its action is `{}`, not CreateSubmissionRequest",
            request.action
        ));
    }
    let mut unknown: Vec<String> = request.others.into_keys().collect();
    let properties = properties(&request.spark_properties, &mut unknown)?;
    let read = Properties(&properties);
    let mut environment = request.environment_variables;
    environment.insert("FIRESTEEL_MASTER".to_owned(), master.to_owned());
    environment.insert("FIRESTEEL_SETTINGS".to_owned(), read.lines());
    let files = read.get(settings::FILES);
    let driver = DriverSubmission {
        executable: path(&request.app_resource)?.into(),
        arguments: request.app_args,
        environment,
        files: files.iter().flat_map(|list| list.split(',')).map(|file| file.trim().into()).collect(),
        cores: read.get(settings::DRIVER_CORES),
        memory_mib: read.get(settings::DRIVER_MEMORY) >> 20,
        resources: BTreeMap::new(),
        supervise: read.get(settings::DRIVER_SUPERVISE),
    };
    Ok(Understood { driver, unknown })
}

/// The file that a resource names on the master's machine.
fn path(resource: &str) -> Result<&str, String> {
    let path = match resource.strip_prefix("file:") {
        // `file:/a`, `file:///a`: no host, or an empty one.
        Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
        None => resource,
    };
    if path.starts_with('/') {
        Ok(path)
    } else {
        Err(format!("appResource `{resource}` is not the full path of an executable on the master's machine"))
    }
}

/// The settings among the properties, under our keys. Of Spark's, those that we do not have are put to `unknown`.
fn properties(
    given: &BTreeMap<String, String>,
    unknown: &mut Vec<String>,
) -> Result<BTreeMap<&'static str, String>, String> {
    let mut properties = BTreeMap::new();
    for (key, value) in given {
        let ours = key.strip_prefix("spark.").map(|rest| format!("firesteel.{rest}"));
        let Some(entry) = settings::find(ours.as_deref().unwrap_or(key)) else {
            if ours.is_none() {
                return Err(format!("unknown setting `{key}` in sparkProperties"));
            }
            unknown.push(format!("sparkProperties.{key}"));
            continue;
        };
        // Where the driver runs is decided here, and Spark's clients always send it in a form of their own.
        if entry.key == settings::MASTER.key() {
            continue;
        }
        let value = value.trim();
        entry.kind.parse(value).map_err(|error| format!("setting `{key}` cannot be `{value}`: {error}"))?;
        properties.insert(entry.key, value.to_owned());
    }
    Ok(properties)
}

struct Properties<'a>(&'a BTreeMap<&'static str, String>);

impl Properties<'_> {
    fn get<T: SettingType>(&self, setting: Setting<T>) -> T {
        let entry = setting.entry();
        let preset = match entry.preset {
            settings::Preset::Is(text) => Some(text),
            settings::Preset::SameAs(_) | settings::Preset::Unset => None,
        };
        let text = self.0.get(entry.key).map(String::as_str).or(preset);
        let value = text.map(|text| entry.kind.parse(text).expect("checked before, or a default"));
        T::from_value(value).expect("a setting has the type of its kind")
    }

    /// As another process takes them from its environment.
    fn lines(&self) -> String {
        self.0.iter().fold(String::new(), |mut lines, (key, value)| {
            writeln!(lines, "{key}={value}").expect("a text takes whatever is written to it");
            lines
        })
    }
}
