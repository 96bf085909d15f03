//! Names of workers, applications and drivers, and the patterns new names are made from.
//!
//! [`IdPattern`] is the main type. It reads the part of Java's format strings that makes sense here: a text with
//! `%s` for the time and `%d` for the number, both with an optional position and width. It reads no clock: the
//! time comes in as a [`Timestamp`] and is written in UTC, where Spark takes the machine's zone.

use std::{fmt, sync::Arc};

use firesteel_types::Timestamp;
use serde::{Deserialize, Serialize};

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    )*};
}

text_ids! {
    /// One worker process. The worker makes its id itself; a restarted worker has a new one.
    WorkerId;
    /// One application, named by the master when it registers.
    AppId;
    /// One driver that the master runs, named when it is submitted and again when it is relaunched.
    DriverId;
}

/// A connection, numbered by whoever owns the sockets. Never used again for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Peer(pub u64);

/// A pattern for ids such as `app-%s-%04d`, known to be usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPattern(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Time { width: usize },
    Number { width: usize, zeros: bool },
}

/// Why a text is not a pattern for ids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum IdPatternError {
    /// Ids are used as names of files and in commands.
    #[error("ids of the pattern `{pattern}` contain whitespace; remove it, and pad numbers with zeros")]
    Whitespace { pattern: String },
    /// A placeholder that is neither the time nor the number.
    #[error(
        "the id pattern `{pattern}` has a bad placeholder at byte {at}; use %s, %d, %04d, %1$s or %2$04d"
    )]
    BadPlaceholder { pattern: String, at: usize },
    /// Every id would be the same.
    #[error("the id pattern `{pattern}` has no number, so ids would repeat; add %2$04d")]
    NoNumber { pattern: String },
}

impl IdPattern {
    /// Reads a pattern. The first argument is the time, the second the number.
    pub fn parse(pattern: &str) -> Result<Self, IdPatternError> {
        let mut pieces = Vec::new();
        let (mut rest, mut next_argument) = (pattern, 1);
        while let Some(start) = rest.find('%') {
            let at = pattern.len() - rest.len() + start;
            let (piece, len) = placeholder(&rest[start..], &mut next_argument)
                .ok_or_else(|| IdPatternError::BadPlaceholder { pattern: pattern.to_owned(), at })?;
            pieces.push(Piece::Text(rest[..start].to_owned()));
            pieces.push(piece);
            rest = &rest[start + len..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        if !pieces.iter().any(|piece| matches!(piece, Piece::Number { .. })) {
            return Err(IdPatternError::NoNumber { pattern: pattern.to_owned() });
        }
        let pattern_read = Self(pieces);
        // A width without zeros pads with blanks, so it is the id that is looked at.
        if pattern_read.id(Timestamp::ZERO, 0).chars().any(char::is_whitespace) {
            return Err(IdPatternError::Whitespace { pattern: pattern.to_owned() });
        }
        Ok(pattern_read)
    }

    /// The id with number `number`, made at `now`.
    pub fn id(&self, now: Timestamp, number: u64) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Time { width } => format!("{:>width$}", time_stamp(now)),
            Piece::Number { width, zeros: true } => format!("{number:0width$}"),
            Piece::Number { width, zeros: false } => format!("{number:>width$}"),
        });
        pieces.collect()
    }
}

/// Reads one placeholder at the start of `text`: what it stands for and how many bytes it takes.
fn placeholder(text: &str, next_argument: &mut usize) -> Option<(Piece, usize)> {
    const WIDEST: usize = 64;
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    if text[1..].starts_with('%') {
        return Some((Piece::Text("%".to_owned()), 2));
    }
    let (mut at, mut argument) = (1, None);
    let position = digits(at);
    if position > 0 && text[at + position..].starts_with('$') {
        argument = Some(text[at..at + position].parse().ok()?);
        at += position + 1;
    }
    let zeros = text[at..].starts_with('0');
    let width_len = digits(at);
    let width: usize = if width_len == 0 { 0 } else { text[at..at + width_len].parse().ok()? };
    at += width_len;
    let kind = text[at..].chars().next()?;
    let argument: usize = argument.unwrap_or_else(|| {
        *next_argument += 1;
        *next_argument - 1
    });
    let piece = match (argument, kind) {
        (1, 's') if !zeros => Piece::Time { width },
        (2, 's') if !zeros => Piece::Number { width, zeros: false },
        // Java refuses the zero flag without a width.
        (2, 'd') if !zeros || width > 0 => Piece::Number { width, zeros },
        _ => return None,
    };
    (width <= WIDEST).then_some((piece, at + 1))
}

/// `yyyyMMddHHmmss` in UTC, taking `now` as microseconds since the Unix epoch.
fn time_stamp(now: Timestamp) -> String {
    let seconds = now.0 / 1_000_000;
    let (year, month, day) = civil_date(seconds / 86_400);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// Year, month and day of the Gregorian calendar, `days` days after 1970-01-01.
///
/// Counts years from March, so that the leap day is the last day of its year.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_FROM_MARCH_OF_YEAR_0: u64 = 719_468;
    let days = days + DAYS_FROM_MARCH_OF_YEAR_0;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-10-31 22:44:59 UTC.
    const HALLOWEEN: Timestamp = Timestamp(1_698_792_299_000_000);

    fn id(pattern: &str, number: u64) -> String {
        IdPattern::parse(pattern).unwrap().id(HALLOWEEN, number)
    }

    /// Behaviours: MAST-011.
    #[test]
    fn ids_carry_the_time_in_utc_and_four_digits_or_more() {
        assert_eq!(id("app-%s-%04d", 0), "app-20231031224459-0000");
        assert_eq!(id("driver-%s-%04d", 19), "driver-20231031224459-0019");
        assert_eq!(id("app-%s-%04d", 12_345), "app-20231031224459-12345");
    }

    #[test]
    fn time_stamps_know_leap_years() {
        let day = |days: u64| time_stamp(Timestamp::from_secs(days * 86_400));

        assert_eq!(day(0), "19700101000000");
        assert_eq!(day(11_016), "20000229000000");
        assert_eq!(day(19_782), "20240229000000");
        assert_eq!(day(47_541), "21000301000000");
    }

    /// Behaviours: MAST-011.
    #[test]
    fn placeholders_may_name_their_argument_and_width() {
        assert_eq!(id("my-app-%2$05d", 1), "my-app-00001");
        assert_eq!(id("%2$d", 7), "7");
        assert_eq!(id("%2$s-%s-100%%", 7), "7-20231031224459-100%");
    }

    /// Behaviours: MAST-011.
    #[test]
    fn unusable_patterns_are_refused() {
        let refused = |pattern: &str| IdPattern::parse(pattern).unwrap_err();
        let bad = |pattern: &str, at| IdPatternError::BadPlaceholder { pattern: pattern.to_owned(), at };

        for blank in ["my app-%2$d", "%s-%4d"] {
            assert_eq!(refused(blank), IdPatternError::Whitespace { pattern: blank.to_owned() });
        }
        for same in ["app", "my app", "app-%s"] {
            assert_eq!(refused(same), IdPatternError::NoNumber { pattern: same.to_owned() });
        }
        for (pattern, at) in [
            ("a%d", 1),
            ("%s-%x", 3),
            ("%s-%d-%d", 6),
            ("%3$s", 0),
            ("%s-%", 3),
            ("%s%0d", 2),
            ("%s%999d", 2),
        ] {
            assert_eq!(refused(pattern), bad(pattern, at));
        }
    }
}
