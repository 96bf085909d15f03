//! [`MemoryConf`]: how much there is to divide.

use super::amount::Amount;

/// The memory that is never divided: for the process itself.
const RESERVED: u64 = 300 << 20;
/// The least memory of a process: half as much again as is reserved.
const PROCESS_BYTES_MIN: u64 = RESERVED + RESERVED / 2;

/// The part of the memory behind the reserve that is divided, unless told otherwise.
const FRACTION: f64 = 0.6;
/// The part of the budget that cached blocks keep, unless told otherwise.
const STORAGE_FRACTION: f64 = 0.5;

/// How much memory tasks and cached blocks share.
///
/// ```
/// use firesteel_storage::memory::MemoryConf;
///
/// let conf = MemoryConf::of_system(1300 << 20)?;
/// assert_eq!(conf.budget, 600 << 20);
/// assert_eq!(conf.storage_fraction, 0.5);
/// assert!(MemoryConf::of_system(449 << 20).is_err());
/// # Ok::<(), firesteel_storage::memory::MemoryConfError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryConf {
    /// The bytes that execution and storage share.
    pub budget: u64,
    /// The part of the budget below which execution evicts no blocks, from 0 to 1.
    pub storage_fraction: f64,
}

impl MemoryConf {
    /// Divides what a process with this much memory can spare: six tenths of all but 300 MiB, half of it for storage.
    pub fn of_system(system_bytes: u64) -> Result<Self, MemoryConfError> {
        Self::with_fractions(system_bytes, FRACTION, STORAGE_FRACTION)
    }

    /// As [`of_system`](Self::of_system) with the values of `firesteel.memory.fraction` and
    /// `firesteel.memory.storageFraction`.
    pub fn with_fractions(
        system_bytes: u64,
        fraction: f64,
        storage_fraction: f64,
    ) -> Result<Self, MemoryConfError> {
        if system_bytes < PROCESS_BYTES_MIN {
            return Err(MemoryConfError::TooLittle { system_bytes });
        }
        let settings =
            [("firesteel.memory.fraction", fraction), ("firesteel.memory.storageFraction", storage_fraction)];
        for (setting, value) in settings {
            if !(0.0..=1.0).contains(&value) {
                return Err(MemoryConfError::NotAFraction { setting, value });
            }
        }
        Ok(Self { budget: part(system_bytes - RESERVED, fraction), storage_fraction })
    }

    /// The bytes that cached blocks keep however much memory tasks want.
    pub fn storage_region(&self) -> u64 {
        part(self.budget, self.storage_fraction).min(self.budget)
    }
}

#[expect(clippy::cast_sign_loss, reason = "both factors are at least 0, and the cast saturates")]
fn part(bytes: u64, fraction: f64) -> u64 {
    (bytes as f64 * fraction) as u64
}

/// Why memory cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MemoryConfError {
    /// The process is too small to run anything.
    #[error(
        "{} of memory are too little: at least {} are needed; raise firesteel.executor.memory \
         (firesteel.memory.limit in local mode)",
        Amount(*system_bytes),
        Amount(PROCESS_BYTES_MIN)
    )]
    TooLittle { system_bytes: u64 },

    /// A setting is out of its range.
    #[error("{setting} is {value}: give it a number from 0 to 1")]
    NotAFraction { setting: &'static str, value: f64 },
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Behaviours: MEM-001.
    #[test]
    fn six_tenths_of_all_but_300_mib_are_divided_and_half_of_that_is_storage() {
        let conf = MemoryConf::of_system(1300 * MIB).unwrap();

        assert_eq!(conf.budget, 600 * MIB);
        assert_eq!(conf.storage_region(), 300 * MIB);
    }

    /// Behaviours: MEM-001.
    #[test]
    fn less_than_one_and_a_half_reserves_is_an_error() {
        assert!(MemoryConf::of_system(450 * MIB).is_ok());

        let error = MemoryConf::of_system(450 * MIB - 1).unwrap_err();
        assert_eq!(error, MemoryConfError::TooLittle { system_bytes: 450 * MIB - 1 });
        let text = error.to_string();
        assert!(text.contains("at least 450.0 MiB") && text.contains("firesteel.executor.memory"), "{text}");
    }

    #[test]
    fn fractions_are_between_0_and_1() {
        let of = |fraction, storage| MemoryConf::with_fractions(1300 * MIB, fraction, storage);

        assert_eq!(of(1.0, 0.0).unwrap().storage_region(), 0);
        assert_eq!(of(1.0, 1.0).unwrap().storage_region(), 1000 * MIB);
        let text = of(1.1, 0.5).unwrap_err().to_string();
        assert_eq!(text, "firesteel.memory.fraction is 1.1: give it a number from 0 to 1");
        assert!(of(0.6, f64::NAN).unwrap_err().to_string().contains("storageFraction"));
    }
}
