//! The custom resources of a worker, from a file and from programs that look for them.

use std::{collections::BTreeMap, fs, process::Command};

use firesteel_scheduler::deploy::Addresses;
use firesteel_types::ResourceName;
use serde::Deserialize;

/// One entry of a resource file, in Spark's form: `[{"id":{"resourceName":"gpu"},"addresses":["0"]}]`.
#[derive(Deserialize)]
struct Allocation {
    id: AllocationId,
    addresses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllocationId {
    resource_name: String,
}

/// What a discovery script prints, in Spark's form: `{"name":"gpu","addresses":["0"]}`.
#[derive(Deserialize)]
struct Discovered {
    name: String,
    addresses: Vec<String>,
}

/// What a file lists, and what the scripts of those it does not list have found.
pub(super) fn find(
    file: Option<&str>,
    scripts: &BTreeMap<ResourceName, String>,
) -> Result<(Addresses, Addresses), String> {
    let from_file = match file {
        Some(path) => read_file(path).map_err(|reason| format!("the resource file {path}: {reason}"))?,
        None => Addresses::new(),
    };
    let mut discovered = Addresses::new();
    for (name, script) in scripts.iter().filter(|(name, _)| !from_file.contains_key(*name)) {
        let found = run_script(name, script);
        let found = found.map_err(|reason| format!("the discovery script {script} of {name}: {reason}"))?;
        discovered.insert(name.clone(), found.into_iter().map(Into::into).collect());
    }
    Ok((from_file, discovered))
}

fn read_file(path: &str) -> Result<Addresses, String> {
    let json = fs::read(path).map_err(|error| error.to_string())?;
    let list: Vec<Allocation> = serde_json::from_slice(&json).map_err(|error| error.to_string())?;
    let mut addresses = Addresses::new();
    for Allocation { id, addresses: found } in list {
        let of_name = addresses.entry(id.resource_name.as_str().into()).or_default();
        of_name.extend(found.into_iter().map(Into::into));
    }
    Ok(addresses)
}

fn run_script(name: &ResourceName, script: &str) -> Result<Vec<String>, String> {
    let output = Command::new(script).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("it failed with {}: {}", output.status, errors.trim()));
    }
    let found: Discovered = serde_json::from_slice(&output.stdout).map_err(|error| {
        let form = r#"{"name":"gpu","addresses":["0"]}"#;
        format!("it printed `{}`, not {form}: {error}", String::from_utf8_lossy(&output.stdout).trim())
    })?;
    if found.name == **name { Ok(found.addresses) } else { Err(format!("it speaks of {}", found.name)) }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, path::Path};

    use super::*;

    fn script(folder: &Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn addresses(name: &str, list: &[&str]) -> Addresses {
        Addresses::from([(name.into(), list.iter().map(|&address| address.into()).collect())])
    }

    /// Behaviours: WORK-015.
    #[test]
    fn the_file_lists_some_resources_and_scripts_find_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("resources.json");
        let json = r#"[{"id":{"componentName":"spark.worker","resourceName":"gpu"},"addresses":["0","1"]}]"#;
        fs::write(&file, json).unwrap();
        let scripts = [
            ("gpu".into(), "/does/not/run".to_owned()),
            ("fpga".into(), script(folder.path(), "find", r#"echo '{"name":"fpga","addresses":["f1"]}'"#)),
        ];

        let found = find(file.to_str(), &scripts.into()).unwrap();

        assert_eq!(found, (addresses("gpu", &["0", "1"]), addresses("fpga", &["f1"])));
        assert_eq!(find(None, &BTreeMap::new()), Ok((Addresses::new(), Addresses::new())));
    }

    /// Behaviours: WORK-015.
    #[test]
    fn what_cannot_be_understood_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str, text: &str| {
            let script = script(folder.path(), name, text);
            find(None, &[("gpu".into(), script.clone())].into()).unwrap_err().replace(&script, "S")
        };
        let file = folder.path().join("broken.json");
        fs::write(&file, "{").unwrap();

        let failed = run("a", "echo no driver >&2; exit 3");
        assert_eq!(failed, "the discovery script S of gpu: it failed with exit status: 3: no driver");
        assert_eq!(
            run("b", r#"echo '{"name":"fpga","addresses":[]}'"#),
            "the discovery script S of gpu: it speaks of fpga"
        );
        assert!(run("c", "echo 0 1").contains("it printed `0 1`, not"));
        assert!(find(file.to_str(), &BTreeMap::new()).unwrap_err().contains("broken.json"));
        assert!(find(Some("/no/such/file"), &BTreeMap::new()).unwrap_err().contains("/no/such/file"));
    }
}
