//! A driver to run on the cluster: [`DriverSubmission`].

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use firesteel_types::ResourceName;

use super::error::SubmitError;

/// A driver to run on the cluster. The defaults are Spark's: one core, 1024 MiB, not supervised.
///
/// ```
/// use firesteel_deploy::submit::DriverSubmission;
///
/// let driver = DriverSubmission { supervise: true, ..DriverSubmission::new("target/release/word_count") };
/// assert_eq!((driver.cores, driver.memory_mib), (1, 1024));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSubmission {
    /// The executable, on this machine.
    pub executable: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// Files to send along, on this machine.
    pub files: Vec<PathBuf>,
    /// Its cores.
    pub cores: u32,
    /// Its memory in mebibytes.
    pub memory_mib: u64,
    /// Whole addresses of custom resources.
    pub resources: BTreeMap<ResourceName, u32>,
    /// Whether it is started again when it fails or its worker is lost.
    pub supervise: bool,
}

impl DriverSubmission {
    /// The executable at `executable`, with the usual resources.
    pub fn new(executable: impl Into<PathBuf>) -> Self {
        Self {
            executable: executable.into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            files: Vec::new(),
            cores: 1,
            memory_mib: 1024,
            resources: BTreeMap::new(),
            supervise: false,
        }
    }

    /// Refuses what cannot be run, before anything is sent.
    pub(super) fn check(&self) -> Result<(), SubmitError> {
        let path = &self.executable;
        let bad = |reason: &str| SubmitError::BadDriver { path: path.clone(), reason: reason.to_owned() };
        if path.as_os_str().is_empty() {
            return Err(bad("it has no name"));
        }
        if path.to_string_lossy().contains("://") {
            return Err(bad("it is a URL"));
        }
        let metadata = fs::metadata(path).map_err(|error| bad(&error.to_string()))?;
        if !metadata.is_file() {
            return Err(bad("it is not a file"));
        }
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err(bad("it is not executable"));
        }
        match self.files.iter().find(|file| file_name(file).is_none()) {
            Some(file) => Err(SubmitError::BadDriver {
                path: path.clone(),
                reason: format!("the file {} has no name", file.display()),
            }),
            None => Ok(()),
        }
    }
}

/// The name of a file, as one that can be sent.
pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: CLI-010.
    #[test]
    fn what_cannot_be_a_driver_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("driver");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        let reason = |path: &Path| DriverSubmission::new(path).check().unwrap_err().to_string();

        assert!(reason(&file).contains("it is not executable"));
        assert!(reason(folder.path()).contains("it is not a file"));
        assert!(reason(Path::new("")).contains("it has no name"));
        assert!(reason(Path::new("http://host/driver")).contains("it is a URL"));
        assert!(reason(Path::new("/no/such/driver")).contains("No such file"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(DriverSubmission::new(&file).check().is_ok());
        let unnamed = DriverSubmission { files: vec!["/..".into()], ..DriverSubmission::new(&file) };
        assert!(unnamed.check().is_err());
    }
}
