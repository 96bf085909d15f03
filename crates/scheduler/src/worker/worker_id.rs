//! How a worker's id is made: a pattern filled with the start time, the host and the port.
//!
//! [`WorkerIdPattern`] is checked when it is read, so that filling it cannot fail.

use firesteel_types::{Host, Timestamp};

use super::ids::WorkerId;

/// A pattern in the notation of Spark's setting: `%s` and `%d` take the next of time, host and port; `%2$s`
/// takes the second; `%%` is a percent sign. Only the port is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerIdPattern(Vec<Piece>);

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerIdPatternError {
    /// Ids with spaces cannot be used in urls and file names.
    #[error("whitespace is not allowed in the worker id pattern `{pattern}`")]
    Whitespace { pattern: String },
    /// A `%` is followed by something that means nothing here.
    #[error("`{placeholder}` in the worker id pattern `{pattern}` is unknown; use %s, %d or %1$s to %3$d")]
    UnknownPlaceholder { pattern: String, placeholder: String },
    /// A worker must have a name.
    #[error("the worker id pattern is empty")]
    Empty,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Time,
    Host,
    Port,
}

impl WorkerIdPattern {
    /// The pattern used unless another is set.
    pub const DEFAULT: &'static str = "worker-%s-%s-%d";

    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, WorkerIdPatternError> {
        if pattern.is_empty() {
            return Err(WorkerIdPatternError::Empty);
        }
        if pattern.contains(char::is_whitespace) {
            return Err(WorkerIdPatternError::Whitespace { pattern: pattern.to_owned() });
        }
        let mut pieces = Vec::new();
        let (mut rest, mut next_argument) = (pattern, 1);
        while let Some(start) = rest.find('%') {
            pieces.push(Piece::Text(rest[..start].to_owned()));
            let (piece, len) =
                Self::read_placeholder(&rest[start..], &mut next_argument).ok_or_else(|| {
                    let placeholder = rest[start..].chars().take(4).collect();
                    WorkerIdPatternError::UnknownPlaceholder { pattern: pattern.to_owned(), placeholder }
                })?;
            pieces.push(piece);
            rest = &rest[start + len..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// Reads one placeholder at the start of `text`: what it stands for, and its length.
    fn read_placeholder(text: &str, next_argument: &mut u8) -> Option<(Piece, usize)> {
        let bytes = text.as_bytes();
        let (argument, kind, len) = match *bytes.get(1)? {
            b'%' => return Some((Piece::Text("%".to_owned()), 2)),
            digit @ b'1'..=b'3' if bytes.get(2) == Some(&b'$') => (digit - b'0', *bytes.get(3)?, 4),
            kind => {
                let argument = *next_argument;
                *next_argument = argument.saturating_add(1);
                (argument, kind, 2)
            }
        };
        let piece = match (argument, kind) {
            (1, b's') => Piece::Time,
            (2, b's') => Piece::Host,
            (3, b's' | b'd') => Piece::Port,
            _ => return None,
        };
        Some((piece, len))
    }

    /// The id of the worker on `host` and `port` that starts at `now`.
    pub fn fill(&self, now: Timestamp, host: &Host, port: u16) -> WorkerId {
        let id: String = self
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Time => compact_utc(now),
                Piece::Host => host.to_string(),
                Piece::Port => port.to_string(),
            })
            .collect();
        WorkerId::from(id)
    }
}

impl Default for WorkerIdPattern {
    fn default() -> Self {
        Self::new(Self::DEFAULT).expect("the default pattern is valid")
    }
}

/// `yyyyMMddHHmmss` in UTC. Spark uses the zone of the machine; one zone for all keeps ids comparable.
fn compact_utc(at: Timestamp) -> String {
    const SECONDS_A_DAY: u64 = 86_400;
    let seconds = at.as_millis() / 1_000;
    let (year, month, day) = date_of(seconds / SECONDS_A_DAY);
    let of_day = seconds % SECONDS_A_DAY;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// Year, month and day of a number of days since 1970.
///
/// Years are taken to start in March, so that the odd day of a leap year is the last one of its year. The
/// Gregorian calendar repeats every 400 years, that is every 146,097 days.
fn date_of(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_0000_03_TO_1970: u64 = 719_468;
    let days = days_since_1970 + DAYS_0000_03_TO_1970;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let leap_days = day_of_cycle / 1_460 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle + day_of_cycle / 36_524 - leap_days) / 365;
    let first_day_of_year = 365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100;
    let day_of_year = day_of_cycle - first_day_of_year;
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = if months_since_march < 10 { months_since_march + 3 } else { months_since_march - 9 };
    let year = cycle * 400 + year_of_cycle + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(pattern: &str, at: Timestamp) -> Result<String, WorkerIdPatternError> {
        let pattern = WorkerIdPattern::new(pattern)?;
        Ok(pattern.fill(at, &"h1".into(), 7078).to_string())
    }

    /// Behaviours: WORK-009.
    #[test]
    fn the_id_names_start_time_host_and_port() {
        let at = Timestamp::from_secs(1_709_210_096);

        assert_eq!(id(WorkerIdPattern::DEFAULT, at).as_deref(), Ok("worker-20240229123456-h1-7078"));
        assert_eq!(id("my-worker-%2$s", at).as_deref(), Ok("my-worker-h1"));
        assert_eq!(id("%3$d.%3$s%%", at).as_deref(), Ok("7078.7078%"));
    }

    /// Behaviours: WORK-009.
    #[test]
    fn invalid_patterns_are_rejected() {
        let unknown = |pattern: &str, placeholder: &str| {
            let (pattern, placeholder) = (pattern.to_owned(), placeholder.to_owned());
            Err(WorkerIdPatternError::UnknownPlaceholder { pattern, placeholder })
        };

        let whitespace = WorkerIdPatternError::Whitespace { pattern: "my worker".to_owned() };
        assert_eq!(id("my worker", Timestamp::ZERO), Err(whitespace));
        assert_eq!(id("", Timestamp::ZERO), Err(WorkerIdPatternError::Empty));
        assert_eq!(id("a%x", Timestamp::ZERO), unknown("a%x", "%x"));
        assert_eq!(id("a%", Timestamp::ZERO), unknown("a%", "%"));
        assert_eq!(id("%d", Timestamp::ZERO), unknown("%d", "%d"));
        assert_eq!(id("%4$s", Timestamp::ZERO), unknown("%4$s", "%4$s"));
        assert_eq!(id("%s%s%s%s", Timestamp::ZERO), unknown("%s%s%s%s", "%s"));
        assert_eq!(id("%é", Timestamp::ZERO), unknown("%é", "%é"));
    }

    #[test]
    fn dates_are_right_at_the_ends_of_months_and_leap_years() {
        let cases = [
            (0, "19700101000000"),
            (951_782_399, "20000228235959"),
            (951_868_799, "20000229235959"),
            (978_307_199, "20001231235959"),
            (4_107_542_399, "21000228235959"),
            (4_107_542_400, "21000301000000"),
            (253_402_300_799, "99991231235959"),
        ];

        for (seconds, expected) in cases {
            assert_eq!(compact_utc(Timestamp::from_secs(seconds)), expected);
        }
    }
}
