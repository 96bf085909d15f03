//! Where an application runs, as users write it.
//!
//! [`MasterUrl`] is the parsed form of a master string. It does not start anything, and does not know how many cores
//! this machine has: `local[*]` stays [`LocalCores::All`] until the context resolves it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Where an application runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MasterUrl {
    /// In the driver's own process.
    Local {
        /// How many tasks run at once.
        cores: LocalCores,
        /// How often a task may be tried; 1 is no second try.
        attempts: u32,
    },
    /// On a cluster of processes that the driver starts on its own machine.
    LocalCluster {
        /// How many workers.
        workers: u32,
        /// Cores of each.
        cores: u32,
        /// Memory of each in mebibytes.
        memory_mib: u64,
    },
    /// On a cluster with one of these masters, each `host:port`; the others stand by.
    Cluster {
        /// The addresses, at least one.
        masters: Vec<String>,
    },
}

/// The cores of local mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LocalCores {
    /// This many.
    Fixed(u32),
    /// Every core of this machine.
    All,
}

/// A text that names no master.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a master: {problem}; use {forms}", forms = MasterUrl::FORMS
)]
pub struct MasterUrlError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
    pub problem: MasterUrlProblem,
}

/// What is wrong with a text that should name a master.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterUrlProblem {
    /// It begins like none of the forms.
    #[error("it has none of the known forms")]
    UnknownForm,
    /// The brackets hold too few or too many numbers.
    #[error("the brackets hold {found} values")]
    WrongCount { found: usize },
    /// One of the values is not a number of things.
    #[error("`{value}` is not a number above 0")]
    BadNumber { value: String },
    /// More threads than a process should have.
    #[error("{cores} cores are more than {MAX_LOCAL_CORES}, the most that one process may use")]
    TooManyCores { cores: u32 },
    /// One of the addresses is not one.
    #[error("`{address}` is not host:port")]
    BadAddress { address: String },
}

/// Each core of a local master is a thread with a stack of its own.
const MAX_LOCAL_CORES: u32 = 4096;

impl MasterUrl {
    /// One core and one attempt.
    pub const LOCAL: Self = Self::Local { cores: LocalCores::Fixed(1), attempts: 1 };
    /// How masters are written, for messages.
    pub const FORMS: &'static str = "local, local[N], local[*], local[N,attempts], \
        local-cluster[workers,cores,memory-in-MiB] or firesteel://host:port,host:port";
    const SCHEME: &'static str = "firesteel://";
}

impl LocalCores {
    /// The number of cores on a machine that has `available`; at least one.
    pub fn resolve(self, available: u32) -> u32 {
        match self {
            Self::Fixed(cores) => cores,
            Self::All => available.max(1),
        }
    }
}

impl FromStr for MasterUrl {
    type Err = MasterUrlError;

    fn from_str(text: &str) -> Result<Self, MasterUrlError> {
        parse(text).map_err(|problem| MasterUrlError { text: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<MasterUrl, MasterUrlProblem> {
    if text == "local" {
        return Ok(MasterUrl::LOCAL);
    }
    if let Some(addresses) = text.strip_prefix(MasterUrl::SCHEME) {
        let masters = addresses.split(',').map(parse_address).collect::<Result<_, _>>()?;
        return Ok(MasterUrl::Cluster { masters });
    }
    let in_brackets = |prefix: &str| text.strip_prefix(prefix)?.strip_suffix(']');
    if let Some(values) = in_brackets("local[") {
        let values = split(values);
        return match values[..] {
            [cores] => Ok(MasterUrl::Local { cores: parse_cores(cores)?, attempts: 1 }),
            [cores, attempts] => {
                Ok(MasterUrl::Local { cores: parse_cores(cores)?, attempts: parse_number(attempts)? })
            }
            _ => Err(MasterUrlProblem::WrongCount { found: values.len() }),
        };
    }
    if let Some(values) = in_brackets("local-cluster[") {
        let values = split(values);
        let [workers, cores, memory] = values[..] else {
            return Err(MasterUrlProblem::WrongCount { found: values.len() });
        };
        return Ok(MasterUrl::LocalCluster {
            workers: parse_number(workers)?,
            cores: parse_number(cores)?,
            memory_mib: parse_number(memory)?,
        });
    }
    Err(MasterUrlProblem::UnknownForm)
}

fn split(values: &str) -> Vec<&str> {
    values.split(',').map(str::trim).collect()
}

fn parse_cores(value: &str) -> Result<LocalCores, MasterUrlProblem> {
    match value {
        "*" => Ok(LocalCores::All),
        number => match parse_number(number)? {
            cores if cores > MAX_LOCAL_CORES => Err(MasterUrlProblem::TooManyCores { cores }),
            cores => Ok(LocalCores::Fixed(cores)),
        },
    }
}

fn parse_number<N: FromStr + PartialOrd + From<u8>>(value: &str) -> Result<N, MasterUrlProblem> {
    let number = value.parse().ok().filter(|number| *number > N::from(0));
    // Rust parses `+1` as a number too, which is more likely a typing error here.
    number
        .filter(|_| value.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or_else(|| MasterUrlProblem::BadNumber { value: value.to_owned() })
}

fn parse_address(address: &str) -> Result<String, MasterUrlProblem> {
    let is_address = address.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty()
            && !host.contains(|c: char| c.is_whitespace() || c == '/')
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    });
    if is_address {
        Ok(address.to_owned())
    } else {
        Err(MasterUrlProblem::BadAddress { address: address.to_owned() })
    }
}

impl fmt::Display for MasterUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local { cores: LocalCores::Fixed(1), attempts: 1 } => out.write_str("local"),
            Self::Local { cores, attempts: 1 } => write!(out, "local[{cores}]"),
            Self::Local { cores, attempts } => write!(out, "local[{cores},{attempts}]"),
            Self::LocalCluster { workers, cores, memory_mib } => {
                write!(out, "local-cluster[{workers},{cores},{memory_mib}]")
            }
            Self::Cluster { masters } => write!(out, "{}{}", Self::SCHEME, masters.join(",")),
        }
    }
}

impl fmt::Display for LocalCores {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(cores) => write!(out, "{cores}"),
            Self::All => out.write_str("*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> MasterUrl {
        text.parse().unwrap()
    }

    fn local(cores: LocalCores, attempts: u32) -> MasterUrl {
        MasterUrl::Local { cores, attempts }
    }

    /// Behaviours: TSI-020.
    #[test]
    fn local_masters_say_how_many_cores_and_attempts() {
        assert_eq!(read("local"), local(LocalCores::Fixed(1), 1));
        assert_eq!(read("local[5]"), local(LocalCores::Fixed(5), 1));
        assert_eq!(read("local[*]"), local(LocalCores::All, 1));
        assert_eq!(read("local[4, 2]"), local(LocalCores::Fixed(4), 2));
        assert_eq!(read("local[*,3]"), local(LocalCores::All, 3));
        assert_eq!((LocalCores::All.resolve(16), LocalCores::Fixed(5).resolve(16)), (16, 5));
        assert_eq!(LocalCores::All.resolve(0), 1, "a machine that does not say still has a core");
    }

    /// Behaviours: TSI-020.
    #[test]
    fn cluster_masters_name_workers_or_addresses() {
        let masters =
            |list: &[&str]| MasterUrl::Cluster { masters: list.iter().copied().map(str::to_owned).collect() };

        let started = MasterUrl::LocalCluster { workers: 3, cores: 2, memory_mib: 512 };
        assert_eq!(read("local-cluster[ 3 , 2 , 512 ]"), started);
        assert_eq!(read("firesteel://h1:7077"), masters(&["h1:7077"]));
        assert_eq!(read("firesteel://h1:7077,[::1]:7078"), masters(&["h1:7077", "[::1]:7078"]));
    }

    /// Behaviours: TSI-020.
    #[test]
    fn malformed_masters_are_rejected_with_what_is_wrong() {
        let number = |value: &str| MasterUrlProblem::BadNumber { value: value.to_owned() };
        let address = |address: &str| MasterUrlProblem::BadAddress { address: address.to_owned() };
        let cases = [
            ("", MasterUrlProblem::UnknownForm),
            ("localhost", MasterUrlProblem::UnknownForm),
            ("local[2", MasterUrlProblem::UnknownForm),
            ("local[2]x", MasterUrlProblem::UnknownForm),
            ("Local[2]", MasterUrlProblem::UnknownForm),
            ("spark://h1:7077", MasterUrlProblem::UnknownForm),
            ("local[]", number("")),
            ("local[0]", number("0")),
            ("local[+1]", number("+1")),
            ("local[-1]", number("-1")),
            ("local[4294967296]", number("4294967296")),
            ("local[4097]", MasterUrlProblem::TooManyCores { cores: 4097 }),
            ("local[2*]", number("2*")),
            ("local[2,*]", number("*")),
            ("local[2,0]", number("0")),
            ("local[1,2,3]", MasterUrlProblem::WrongCount { found: 3 }),
            ("local-cluster[1,2]", MasterUrlProblem::WrongCount { found: 2 }),
            ("local-cluster[*,2,512]", number("*")),
            ("local-cluster[1,0,512]", number("0")),
            ("firesteel://", address("")),
            ("firesteel://h1", address("h1")),
            ("firesteel://h1:0", address("h1:0")),
            ("firesteel://h1:70000", address("h1:70000")),
            ("firesteel://:7077", address(":7077")),
            ("firesteel://h1:7077,", address("")),
            ("firesteel://h1:7077/x", address("h1:7077/x")),
        ];

        for (text, problem) in cases {
            let expected = MasterUrlError { text: text.to_owned(), problem };
            assert_eq!(text.parse::<MasterUrl>(), Err(expected));
        }
        assert_eq!(
            "local[0]".parse::<MasterUrl>().map_err(|error| error.to_string()),
            Err("`local[0]` is not a master: `0` is not a number above 0; use local, local[N], local[*], \
                 local[N,attempts], local-cluster[workers,cores,memory-in-MiB] or \
                 firesteel://host:port,host:port"
                .to_owned())
        );
    }

    /// Behaviours: TSI-020.
    #[test]
    fn a_master_is_written_as_it_is_read() {
        let texts = [
            "local",
            "local[5]",
            "local[*]",
            "local[1,4]",
            "local[*,4]",
            "local-cluster[3,2,512]",
            "firesteel://h1:7077,h2:7077",
        ];

        let written = texts.map(|text| read(text).to_string());

        assert_eq!(written, texts);
    }
}
