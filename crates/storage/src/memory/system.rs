//! What the operating system reports about memory: of the machine or container, and of this process.
//!
//! Reads `/proc` and the control groups of Linux; elsewhere it answers with an error.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// How much memory of the machine this process occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResidentMemory {
    /// Now.
    pub now: u64,
    /// The most so far.
    pub peak: u64,
}

/// How much memory this process can have: the machine's, or less if its control group has a lower limit.
///
/// ```no_run
/// use firesteel_storage::memory::{MemoryConf, physical_memory};
///
/// let conf = MemoryConf::of_system(physical_memory()?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn physical_memory() -> io::Result<u64> {
    physical_memory_under(Path::new("/"))
}

/// How much memory of the machine this process occupies, now and at most so far.
pub fn resident_memory() -> io::Result<ResidentMemory> {
    resident_memory_under(Path::new("/"))
}

fn physical_memory_under(root: &Path) -> io::Result<u64> {
    let machine = kibibytes_of(&root.join("proc/meminfo"), "MemTotal:")?;
    // A system without control groups has no such file.
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| group_limit(root, line));
    Ok(limits.fold(machine, u64::min))
}

fn resident_memory_under(root: &Path) -> io::Result<ResidentMemory> {
    let status = root.join("proc/self/status");
    Ok(ResidentMemory { now: kibibytes_of(&status, "VmRSS:")?, peak: kibibytes_of(&status, "VmHWM:")? })
}

/// The limit that a line of `/proc/self/cgroup` leads to: `0::/path` in version 2, `4:memory:/path` in version 1.
fn group_limit(root: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (mount, file) = if number == "0" && controllers.is_empty() {
        (root.join("sys/fs/cgroup"), "memory.max")
    } else if controllers.split(',').any(|controller| controller == "memory") {
        (root.join("sys/fs/cgroup/memory"), "memory.limit_in_bytes")
    } else {
        return None;
    };
    lowest_limit(&mount, path, file)
}

/// The lowest limit of a group and the groups around it: each of them binds.
///
/// Seen from inside a container the path may be the host's, of which nothing but the root exists here.
fn lowest_limit(mount: &Path, path: &str, file: &str) -> Option<u64> {
    let group = PathBuf::from(path.trim_start_matches('/'));
    let limits = group.ancestors().filter_map(|group| fs::read_to_string(mount.join(group).join(file)).ok());
    limits.filter_map(|text| text.trim().parse().ok()).min()
}

/// The value of a line such as `MemTotal:       24105356 kB`.
fn kibibytes_of(file: &Path, field: &str) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    let value = text.lines().find_map(|line| line.strip_prefix(field));
    let number = value.and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
    let missing = || {
        io::Error::new(io::ErrorKind::InvalidData, format!("{} has no number for {field}", file.display()))
    };
    Ok(number.ok_or_else(missing)? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// A machine with 16 GiB and the given control groups.
    fn machine(groups: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let meminfo = ("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1024 kB\n");
        for (path, text) in files.iter().chain([&meminfo, &("proc/self/cgroup", groups)]) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn memory_of(groups: &str, files: &[(&str, &str)]) -> u64 {
        physical_memory_under(machine(groups, files).path()).unwrap()
    }

    #[test]
    fn without_a_limit_it_is_the_machines_memory() {
        assert_eq!(memory_of("", &[]), 16 * GIB);
        assert_eq!(memory_of("0::/a\n", &[("sys/fs/cgroup/a/memory.max", "max\n")]), 16 * GIB);
        let unlimited = [("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")];
        assert_eq!(memory_of("4:memory:/\n", &unlimited), 16 * GIB);
    }

    #[test]
    fn the_lowest_limit_of_nested_groups_binds() {
        let files = [
            ("sys/fs/cgroup/a/b/memory.max", "8589934592\n"),
            ("sys/fs/cgroup/a/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/other/memory.max", "1073741824\n"),
        ];
        assert_eq!(memory_of("0::/a/b\n", &files), 4 * GIB);
    }

    #[test]
    fn the_memory_controller_of_version_1_is_found_among_others() {
        let files = [("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n")];
        assert_eq!(memory_of("5:cpu,memory:/job\n4:pids:/x\n0::/\n", &files), 2 * GIB);
    }

    #[test]
    fn in_a_container_the_root_of_the_mount_counts_when_the_hosts_path_is_not_there() {
        let files = [("sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n")];
        assert_eq!(memory_of("4:memory:/docker/0123\n", &files), 3 * GIB);
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        let root = machine("", &[("proc/self/status", "VmRSS:\t 2048 kB\nVmHWM:\t 4096 kB\n")]);
        let seen = resident_memory_under(root.path()).unwrap();
        assert_eq!(seen, ResidentMemory { now: 2 << 20, peak: 4 << 20 });

        fs::write(root.path().join("proc/self/status"), "VmRSS:\t 2048 kB\n").unwrap();
        let error = resident_memory_under(root.path()).unwrap_err().to_string();
        assert!(error.ends_with("status has no number for VmHWM:"), "{error}");
    }

    #[test]
    fn this_process_is_within_this_machine() {
        let resident = resident_memory().unwrap();

        assert!(resident.now > 0 && resident.peak >= resident.now);
        assert!(resident.peak < physical_memory().unwrap());
    }
}
