//! The patterns that ids of applications, drivers and workers are made from.
//!
//! [`IdPattern`] reads the part of Java's format strings that makes sense here: a text with `%s` and `%d`, both
//! with an optional position and width. It is checked when it is read, so that filling it cannot fail. It reads no
//! clock: the time comes in and is written in UTC, where Spark takes the machine's zone; one zone for all keeps
//! ids comparable.

use firesteel_types::{Host, Timestamp};

/// A pattern for ids such as `app-%s-%04d`, known to be usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPattern {
    pieces: Vec<Piece>,
    arguments: &'static [Argument],
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The argument at position `at`, padded on the left.
    Argument {
        at: usize,
        width: usize,
        zeros: bool,
    },
}

/// What a pattern may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Argument {
    is_number: bool,
    /// A short value, to see whether ids would have blanks.
    sample: &'static str,
}

const TIME: Argument = Argument { is_number: false, sample: "19700101000000" };
const HOST: Argument = Argument { is_number: false, sample: "h" };
const NUMBER: Argument = Argument { is_number: true, sample: "0" };
const NUMBERED: &[Argument] = &[TIME, NUMBER];
const WORKER: &[Argument] = &[TIME, HOST, NUMBER];

/// Why a text is not a pattern for ids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum IdPatternError {
    /// The pattern is empty, and so would the id be.
    #[error("the id pattern is empty; give one such as `{}`", IdPattern::DEFAULT_WORKER)]
    Empty,
    /// Ids are used as names of files and in commands.
    #[error("ids of the pattern `{pattern}` contain whitespace; remove it, and pad numbers with zeros")]
    Whitespace { pattern: String },
    /// A placeholder that stands for nothing.
    #[error(
        "the id pattern `{pattern}` has a bad placeholder at byte {at}; use %s, %d, %04d, %1$s or %2$04d"
    )]
    BadPlaceholder { pattern: String, at: usize },
    /// Every id would be the same.
    #[error("the id pattern `{pattern}` has no number, so ids would repeat; add %2$04d")]
    NoNumber { pattern: String },
}

impl IdPattern {
    /// The pattern of workers' ids unless another is set.
    pub const DEFAULT_WORKER: &'static str = "worker-%s-%s-%d";

    /// Reads a pattern for applications or drivers: the first argument is the time, the second the number.
    pub fn numbered(pattern: &str) -> Result<Self, IdPatternError> {
        let read = Self::parse(pattern, NUMBERED)?;
        let is_number = |piece: &Piece| matches!(piece, Piece::Argument { at: 1, .. });
        if read.pieces.iter().any(is_number) {
            Ok(read)
        } else {
            Err(IdPatternError::NoNumber { pattern: pattern.to_owned() })
        }
    }

    /// Reads a pattern for workers: the arguments are the time, the host and the port.
    pub fn worker(pattern: &str) -> Result<Self, IdPatternError> {
        Self::parse(pattern, WORKER)
    }

    /// The id with number `number`, made at `now`. Of patterns made by [`IdPattern::numbered`].
    pub fn numbered_id(&self, now: Timestamp, number: u64) -> String {
        self.fill(&[&now.compact_utc(), &number.to_string()])
    }

    /// The id of the worker on `host` and `port` that starts at `now`. Of patterns made by [`IdPattern::worker`].
    pub fn worker_id(&self, now: Timestamp, host: &Host, port: u16) -> String {
        self.fill(&[&now.compact_utc(), host.as_str(), &port.to_string()])
    }

    fn parse(pattern: &str, arguments: &'static [Argument]) -> Result<Self, IdPatternError> {
        if pattern.is_empty() {
            return Err(IdPatternError::Empty);
        }
        let mut pieces = Vec::new();
        let (mut rest, mut next_argument) = (pattern, 0);
        while let Some(start) = rest.find('%') {
            let at = pattern.len() - rest.len() + start;
            let (piece, len) = placeholder(&rest[start..], &mut next_argument, arguments)
                .ok_or_else(|| IdPatternError::BadPlaceholder { pattern: pattern.to_owned(), at })?;
            pieces.push(Piece::Text(rest[..start].to_owned()));
            pieces.push(piece);
            rest = &rest[start + len..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        let read = Self { pieces, arguments };
        // A width without zeros pads with blanks, so it is the id that is looked at.
        let samples: Vec<&str> = arguments.iter().map(|argument| argument.sample).collect();
        if read.fill(&samples).contains(char::is_whitespace) {
            return Err(IdPatternError::Whitespace { pattern: pattern.to_owned() });
        }
        Ok(read)
    }

    fn fill(&self, values: &[&str]) -> String {
        assert_eq!(values.len(), self.arguments.len(), "a pattern is filled with what it was read for");
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Argument { at, width, zeros: true } => format!("{:0>width$}", values[*at]),
            Piece::Argument { at, width, zeros: false } => format!("{:>width$}", values[*at]),
        });
        pieces.collect()
    }
}

/// Reads one placeholder at the start of `text`: what it stands for and how many bytes it takes.
fn placeholder(text: &str, next_argument: &mut usize, arguments: &[Argument]) -> Option<(Piece, usize)> {
    const WIDEST: usize = 64;
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    if text[1..].starts_with('%') {
        return Some((Piece::Text("%".to_owned()), 2));
    }
    let (mut at, mut named) = (1, None);
    let position = digits(at);
    if position > 0 && text[at + position..].starts_with('$') {
        let one_based: usize = text[at..at + position].parse().ok()?;
        named = Some(one_based.checked_sub(1)?);
        at += position + 1;
    }
    let zeros = text[at..].starts_with('0');
    let width_len = digits(at);
    let width: usize = if width_len == 0 { 0 } else { text[at..at + width_len].parse().ok()? };
    at += width_len;
    let kind = text[at..].chars().next()?;
    let argument = named.unwrap_or_else(|| {
        *next_argument += 1;
        *next_argument - 1
    });
    let is_number = arguments.get(argument)?.is_number;
    let is_usable = match kind {
        's' => !zeros,
        // Java refuses the zero flag without a width.
        'd' => is_number && (!zeros || width > 0),
        _ => false,
    };
    let piece = Piece::Argument { at: argument, width, zeros };
    (is_usable && width <= WIDEST).then_some((piece, at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-10-31 22:44:59 UTC.
    const HALLOWEEN: Timestamp = Timestamp(1_698_792_299_000_000);

    fn id(pattern: &str, number: u64) -> String {
        IdPattern::numbered(pattern).unwrap().numbered_id(HALLOWEEN, number)
    }

    fn worker_id(pattern: &str) -> String {
        IdPattern::worker(pattern).unwrap().worker_id(HALLOWEEN, &"h1".into(), 7078)
    }

    /// Behaviours: MAST-011.
    #[test]
    fn ids_carry_the_time_in_utc_and_four_digits_or_more() {
        assert_eq!(id("app-%s-%04d", 0), "app-20231031224459-0000");
        assert_eq!(id("driver-%s-%04d", 19), "driver-20231031224459-0019");
        assert_eq!(id("app-%s-%04d", 12_345), "app-20231031224459-12345");
    }

    /// Behaviours: MAST-011.
    #[test]
    fn placeholders_may_name_their_argument_and_width() {
        assert_eq!(id("my-app-%2$05d", 1), "my-app-00001");
        assert_eq!(id("%2$d", 7), "7");
        assert_eq!(id("%2$s-%s-100%%", 7), "7-20231031224459-100%");
    }

    /// Behaviours: WORK-009.
    #[test]
    fn a_workers_id_names_start_time_host_and_port() {
        assert_eq!(worker_id(IdPattern::DEFAULT_WORKER), "worker-20231031224459-h1-7078");
        assert_eq!(worker_id("my-worker-%2$s"), "my-worker-h1");
        assert_eq!(worker_id("%3$d.%3$s.%3$06d%%"), "7078.7078.007078%");
    }

    /// Behaviours: MAST-011, WORK-009.
    #[test]
    fn unusable_patterns_are_refused() {
        let refused = |pattern: &str| IdPattern::numbered(pattern).unwrap_err();
        let bad = |pattern: &str, at| IdPatternError::BadPlaceholder { pattern: pattern.to_owned(), at };

        for blank in ["my app-%2$d", "%s-%4d", "my app"] {
            assert_eq!(refused(blank), IdPatternError::Whitespace { pattern: blank.to_owned() });
        }
        for same in ["app", "app-%s"] {
            assert_eq!(refused(same), IdPatternError::NoNumber { pattern: same.to_owned() });
        }
        let bad_ones = [("a%d", 1), ("%s-%x", 3), ("%s-%d-%d", 6), ("%3$s", 0), ("%0$s", 0), ("%s-%", 3)];
        for (pattern, at) in bad_ones.into_iter().chain([("%s%0d", 2), ("%s%999d", 2), ("%é", 0)]) {
            assert_eq!(refused(pattern), bad(pattern, at));
        }
        let refused = |pattern: &str| IdPattern::worker(pattern).unwrap_err();
        let pattern = "my worker".to_owned();
        assert_eq!(refused(&pattern), IdPatternError::Whitespace { pattern: pattern.clone() });
        assert_eq!(refused(""), IdPatternError::Empty);
        for (pattern, at) in [("a%x", 1), ("%2$d", 0), ("%4$s", 0), ("%s%s%s%s", 6)] {
            assert_eq!(refused(pattern), bad(pattern, at));
        }
    }
}
