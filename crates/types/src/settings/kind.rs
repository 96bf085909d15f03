//! [`Kind`]: what values a setting takes, and how a text becomes one.

use std::{fmt, time::Duration};

use super::amounts::{ByteUnit, Permille, TimeUnit, whole_number};
use crate::{Cpus, MasterUrl, MasterUrlError};

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number, both ends included.
    Integer { min: u64, max: u64 },
    /// A time, with the unit of a bare number.
    Duration { unit: TimeUnit, min: Duration },
    /// A size, with the unit of a bare number.
    Bytes { unit: ByteUnit, min: u64 },
    /// A decimal number with at most three places, both ends included.
    Fraction { min: Permille, max: Permille },
    /// An amount of cpus above 0.
    Cpus,
    /// One line that is not blank.
    Text,
    /// One of these names, in any case.
    Choice(&'static [&'static str]),
    /// Where an application runs.
    Master,
}

impl Kind {
    /// A whole number of 0 or more.
    pub const COUNT: Self = Self::Integer { min: 0, max: u32::MAX as u64 };
    /// A whole number of 1 or more.
    pub const POSITIVE: Self = Self::Integer { min: 1, max: u32::MAX as u64 };

    /// The number of a port; 0 is any.
    pub const PORT: Self = Self::Integer { min: 0, max: u16::MAX as u64 };

    /// A time of any length, zero included.
    pub(super) const fn wait(unit: TimeUnit) -> Self {
        Self::Duration { unit, min: Duration::ZERO }
    }

    /// A time of at least a millisecond.
    pub(super) const fn period(unit: TimeUnit) -> Self {
        Self::Duration { unit, min: Duration::from_millis(1) }
    }

    /// Reads a value; blanks around it do not count.
    pub fn parse(self, text: &str) -> Result<Value, ValueError> {
        let text = text.trim();
        let value = match self {
            Self::Bool if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
            Self::Bool if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
            Self::Bool => None,
            Self::Integer { min, max } => {
                whole_number(text).filter(|number| (min..=max).contains(number)).map(Value::Integer)
            }
            Self::Duration { unit, min } => unit.parse(text).filter(|time| *time >= min).map(Value::Duration),
            Self::Bytes { unit, min } => unit.parse(text).filter(|bytes| *bytes >= min).map(Value::Bytes),
            Self::Fraction { min, max } => {
                Permille::parse(text).filter(|number| (min..=max).contains(number)).map(Value::Fraction)
            }
            Self::Cpus => text.parse().ok().map(Value::Cpus),
            Self::Text if text.is_empty() || text.contains(['\n', '\r']) => None,
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Choice(names) => {
                names.iter().find(|name| name.eq_ignore_ascii_case(text)).map(|name| Value::Choice(name))
            }
            Self::Master => return Ok(Value::Master(text.parse()?)),
        };
        value.ok_or(ValueError::Unfit { kind: self })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => out.write_str("true or false"),
            Self::Integer { min, max } if *max >= u64::from(u32::MAX) => {
                write!(out, "a whole number of at least {min}")
            }
            Self::Integer { min, max } => write!(out, "a whole number from {min} to {max}"),
            Self::Duration { unit, min } => {
                out.write_str("a duration ")?;
                if !min.is_zero() {
                    write!(out, "of at least {min:?} ")?;
                }
                write!(out, "such as 100ms, 3s, 5min, 2h or 1d; a bare number is {unit}")
            }
            Self::Bytes { unit, min } => {
                out.write_str("a size ")?;
                if *min > 0 {
                    write!(out, "of at least {min}b ")?;
                }
                write!(out, "such as 64k, 512m or 1g; a bare number is {unit}")
            }
            Self::Fraction { min, max } => {
                write!(out, "a number from {min} to {max} with at most three decimals")
            }
            Self::Cpus => out.write_str("a number of cpus above 0 such as 1 or 0.5"),
            Self::Text => out.write_str("one line of text that is not blank"),
            Self::Choice(names) => out.write_str(&names.join(" or ")),
            Self::Master => out.write_str(MasterUrl::FORMS),
        }
    }
}

/// A value that fits the kind of its setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a value of the kind of that name")]
pub enum Value {
    Bool(bool),
    Integer(u64),
    Duration(Duration),
    Bytes(u64),
    Fraction(Permille),
    Cpus(Cpus),
    Text(String),
    Choice(&'static str),
    Master(MasterUrl),
}

/// Why a text is not a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ValueError {
    /// It is not of the setting's kind, or out of its range.
    #[error("it must be {kind}")]
    Unfit { kind: Kind },
    /// It does not name a master.
    #[error("{}; use {}", .0.problem, MasterUrl::FORMS)]
    Master(#[from] MasterUrlError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Codec, SchedulerMode};

    const SMALL: Kind = Kind::Integer { min: 2, max: 5 };
    const SHARE: Kind = Kind::Fraction { min: Permille::ZERO, max: Permille::ONE };
    const SIZE: Kind = Kind::Bytes { unit: ByteUnit::Bytes, min: 1 };

    #[test]
    fn a_value_of_each_kind_is_read() {
        let seconds = Kind::wait(TimeUnit::Seconds);
        let cases = [
            (Kind::Bool, " TRUE ", Value::Bool(true)),
            (Kind::Bool, "false", Value::Bool(false)),
            (SMALL, "2", Value::Integer(2)),
            (SMALL, "5", Value::Integer(5)),
            (seconds, "0", Value::Duration(Duration::ZERO)),
            (seconds, "20", Value::Duration(Duration::from_secs(20))),
            (Kind::period(TimeUnit::Millis), "1", Value::Duration(Duration::from_millis(1))),
            (SIZE, "1k", Value::Bytes(1024)),
            (SHARE, "0.5", Value::Fraction(Permille(500))),
            (Kind::Cpus, "0.5", Value::Cpus(Cpus::nanos(500_000_000))),
            (Kind::Text, "  two words ", Value::Text("two words".to_owned())),
            (SchedulerMode::KIND, "fair", Value::Choice("FAIR")),
            (Codec::KIND, "ZSTD", Value::Choice("zstd")),
            (Kind::Master, "local[2]", Value::Master("local[2]".parse().unwrap())),
        ];

        for (kind, text, value) in cases {
            assert_eq!(kind.parse(text), Ok(value), "{text:?}");
        }
    }

    #[test]
    fn a_text_that_does_not_fit_is_told_what_does() {
        let cases = [
            (Kind::Bool, "yes", "it must be true or false"),
            (SMALL, "1", "it must be a whole number from 2 to 5"),
            (SMALL, "6", "it must be a whole number from 2 to 5"),
            (Kind::POSITIVE, "0", "it must be a whole number of at least 1"),
            (Kind::COUNT, "4294967296", "it must be a whole number of at least 0"),
            (
                Kind::period(TimeUnit::Seconds),
                "999us",
                "it must be a duration of at least 1ms such as 100ms, 3s, 5min, 2h or 1d; a bare number is seconds",
            ),
            (
                Kind::wait(TimeUnit::Millis),
                "soon",
                "it must be a duration such as 100ms, 3s, 5min, 2h or 1d; a bare number is milliseconds",
            ),
            (SIZE, "0", "it must be a size of at least 1b such as 64k, 512m or 1g; a bare number is bytes"),
            (SHARE, "1.001", "it must be a number from 0 to 1 with at most three decimals"),
            (Kind::Cpus, "0", "it must be a number of cpus above 0 such as 1 or 0.5"),
            (Kind::Text, " ", "it must be one line of text that is not blank"),
            (Kind::Text, "a\nb", "it must be one line of text that is not blank"),
            (SchedulerMode::KIND, "NONE", "it must be FIFO or FAIR"),
        ];

        for (kind, text, expected) in cases {
            assert_eq!(kind.parse(text).map_err(|error| error.to_string()), Err(expected.to_owned()));
        }
        let error = Kind::Master.parse("local[0]").unwrap_err().to_string();
        assert!(error.starts_with("`0` is not a number above 0; use local, local[N]"), "{error}");
    }
}
