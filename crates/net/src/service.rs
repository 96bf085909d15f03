//! Which protocol a connection is for: [`Service`].

use std::fmt;

/// Which protocol a connection is for, said in its first bytes and part of what both ends prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Service {
    /// The transfer of blocks.
    Blocks = 1,
    /// Executors to their driver.
    Driver = 2,
    /// Workers, applications and clients to a master.
    Master = 3,
    /// Executors and clients to a worker.
    Worker = 4,
    /// Executables and files by their content.
    Artifacts = 5,
}

impl Service {
    const ALL: [Self; 5] = [Self::Blocks, Self::Driver, Self::Master, Self::Worker, Self::Artifacts];

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|service| *service as u8 == byte)
    }
}

impl fmt::Display for Service {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Blocks => "blocks",
            Self::Driver => "driver",
            Self::Master => "master",
            Self::Worker => "worker",
            Self::Artifacts => "artifacts",
        })
    }
}
