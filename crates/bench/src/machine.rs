//! What the figures were taken on: processor, memory, system, versions, commit.

use std::{fs, path::Path, process::Command};

use firesteel_types::Timestamp;

/// The machine and the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Processor, cores, memory, system.
    pub hardware: String,
    /// The version of Firesteel and its commit.
    pub commit: String,
    /// The version of the compiler.
    pub compiler: String,
    /// The day, as year-month-day.
    pub day: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        Self {
            hardware: hardware(),
            commit: commit(),
            compiler: first_line("rustc", &["--version"]),
            day: day(),
        }
    }

    /// Each thing in a line, for the head of a table.
    pub fn lines(&self) -> Vec<String> {
        let build = if cfg!(debug_assertions) { ", NOT OPTIMISED: the figures mean nothing" } else { "" };
        vec![self.hardware.clone(), format!("Firesteel {}{build}", self.commit), self.compiler.clone()]
    }
}

fn hardware() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let model = field(&cpu, "model name").unwrap_or("unknown processor");
    let cores = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let kib: u64 =
        field(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0);
    let system = read("/proc/sys/kernel/osrelease");
    format!("{model}, {cores} cores, {} GiB, Linux {}", (kib + (1 << 19)) >> 20, system.trim())
}

/// The value behind `name` and a colon.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

fn commit() -> String {
    let commit = first_line("git", &["rev-parse", "--short", "HEAD"]);
    let changed = !first_line("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
    let version = env!("CARGO_PKG_VERSION");
    format!("{version}, commit {commit}{}", if changed { " with changes" } else { "" })
}

/// The first line that a program prints, or nothing.
pub fn first_line(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let text = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned()
}

/// The version that a folder `name-VERSION.dist-info` among Python's packages tells.
pub fn package_version(packages: &Path, name: &str) -> Option<String> {
    let entries = fs::read_dir(packages).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.into_iter().find_map(|folder| {
        let version = folder.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".dist-info")?;
        Some(version.to_owned())
    })
}

fn day() -> String {
    let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
    let compact = Timestamp::from_secs(seconds).compact_utc();
    format!("{}-{}-{}", &compact[..4], &compact[4..6], &compact[6..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = Machine::here();

        assert!(machine.hardware.contains("cores") && machine.hardware.contains("GiB"), "{machine:?}");
        assert!(machine.commit.starts_with(env!("CARGO_PKG_VERSION")), "{machine:?}");
        assert_eq!(machine.lines().len(), 3);
        assert_eq!(machine.day.split('-').map(str::len).collect::<Vec<_>>(), [4, 2, 2]);
    }

    #[test]
    fn versions_of_packages_are_read_from_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pyspark-4.3.0.dist-info")).unwrap();

        assert_eq!(package_version(folder.path(), "pyspark").as_deref(), Some("4.3.0"));
        assert_eq!(package_version(folder.path(), "ray"), None);
    }
}
