//! [`SchedulingMode`]: the two ways a pool orders its children.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a pool orders what is directly below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum SchedulingMode {
    /// Older jobs first; a later job only gets what the earlier ones leave.
    #[default]
    Fifo,
    /// The one furthest below its minimum share first, then the one that runs least for its weight.
    Fair,
}

/// A scheduling mode that is neither FAIR nor FIFO.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unsupported scheduling mode `{text}`: use FAIR or FIFO")]
pub struct UnsupportedMode {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for SchedulingMode {
    type Err = UnsupportedMode;

    /// Reads a mode in any case and with blanks around it. Spark's third mode, NONE, orders nothing and is
    /// refused here as Spark refuses it when a pool is made.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = text.trim();
        if mode.eq_ignore_ascii_case("FIFO") {
            Ok(Self::Fifo)
        } else if mode.eq_ignore_ascii_case("FAIR") {
            Ok(Self::Fair)
        } else {
            Err(UnsupportedMode { text: text.to_owned() })
        }
    }
}

impl fmt::Display for SchedulingMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Fifo => "FIFO",
            Self::Fair => "FAIR",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: POOL-008.
    #[test]
    fn a_mode_other_than_fair_and_fifo_is_an_error_that_names_it() {
        assert_eq!("FIFO".parse(), Ok(SchedulingMode::Fifo));
        assert_eq!(" fair\n".parse(), Ok(SchedulingMode::Fair));

        for text in ["NONE", "", "FAIRER"] {
            let error = text.parse::<SchedulingMode>().unwrap_err();

            assert_eq!(error, UnsupportedMode { text: text.to_owned() });
            assert_eq!(error.to_string(), format!("unsupported scheduling mode `{text}`: use FAIR or FIFO"));
        }
    }

    #[test]
    fn a_mode_reads_back_as_it_is_shown() {
        for mode in [SchedulingMode::Fifo, SchedulingMode::Fair] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
    }
}
