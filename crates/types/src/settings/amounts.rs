//! Durations, sizes and fractions as users write them.
//!
//! The syntax is Spark's: a whole number and a unit, such as `3s` or `512m`; a bare number is in the unit of its
//! key. Unlike Spark's, a duration is kept exact and not cut down to that unit.

use std::{fmt, time::Duration};

/// The unit of a duration written without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
}

impl TimeUnit {
    const fn micros(self) -> u64 {
        match self {
            Self::Millis => 1_000,
            Self::Seconds => 1_000_000,
        }
    }

    /// Reads a duration; none when the text is not one.
    pub(super) fn parse(self, text: &str) -> Option<Duration> {
        let (count, suffix) = split(text)?;
        let micros = match suffix.as_str() {
            "" => self.micros(),
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" | "min" => 60_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => return None,
        };
        count.checked_mul(micros).map(Duration::from_micros)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Millis => "milliseconds",
            Self::Seconds => "seconds",
        })
    }
}

/// The unit of a size written without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteUnit {
    /// Bytes.
    Bytes,
    /// Mebibytes.
    Mebibytes,
}

impl ByteUnit {
    const fn bytes(self) -> u64 {
        match self {
            Self::Bytes => 1,
            Self::Mebibytes => 1 << 20,
        }
    }

    /// Reads a size as a number of bytes; none when the text is not one.
    pub(super) fn parse(self, text: &str) -> Option<u64> {
        let (count, suffix) = split(text)?;
        let bytes = match suffix.as_str() {
            "" => self.bytes(),
            "b" => 1,
            "k" | "ki" | "kb" | "kib" => 1 << 10,
            "m" | "mi" | "mb" | "mib" => 1 << 20,
            "g" | "gi" | "gb" | "gib" => 1 << 30,
            "t" | "ti" | "tb" | "tib" => 1 << 40,
            "p" | "pi" | "pb" | "pib" => 1 << 50,
            _ => return None,
        };
        count.checked_mul(bytes)
    }
}

impl fmt::Display for ByteUnit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Bytes => "bytes",
            Self::Mebibytes => "mebibytes",
        })
    }
}

/// A decimal number exact to a thousandth, so that no float decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permille(pub u64);

impl Permille {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// A thousandth.
    pub const LEAST: Self = Self(1);
    /// The whole.
    pub const ONE: Self = Self(1_000);
    /// A thousand times the whole, beyond which no setting makes sense.
    pub const THOUSAND: Self = Self(1_000_000);

    /// As a number of floating point, for arithmetic that need not be exact.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// Reads a decimal number with at most three places; none when the text is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        if places.len() > 3 || (whole.is_empty() && places.is_empty()) {
            return None;
        }
        let number = |digits: &str| if digits.is_empty() { Some(0) } else { whole_number(digits) };
        let scale = [1_000, 100, 10, 1][places.len()];
        let thousandths = number(places)? * scale;
        Some(Self(number(whole)?.checked_mul(1_000)?.checked_add(thousandths)?))
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000, self.0 % 1_000);
        match rest {
            0 => write!(out, "{whole}"),
            rest => write!(out, "{whole}.{}", format!("{rest:03}").trim_end_matches('0')),
        }
    }
}

/// Parses a number of digits only: Rust parses `+1` too, which is more likely a typing error here.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The number that a text begins with, and its unit in lower case.
fn split(text: &str) -> Option<(u64, String)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, suffix) = text.split_at(digits);
    Some((whole_number(count)?, suffix.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_a_number_and_a_unit() {
        let read = |text: &str| TimeUnit::Millis.parse(text);

        assert_eq!(read("250us"), Some(Duration::from_micros(250)));
        assert_eq!(read("100ms"), Some(Duration::from_millis(100)));
        assert_eq!(read("3s"), Some(Duration::from_secs(3)));
        assert_eq!((read("5m"), read("5min")), (Some(Duration::from_mins(5)), Some(Duration::from_mins(5))));
        assert_eq!(read("2H"), Some(Duration::from_hours(2)));
        assert_eq!(read("365d"), Some(Duration::from_hours(365 * 24)));
        assert_eq!((read("7"), TimeUnit::Seconds.parse("7")), {
            (Some(Duration::from_millis(7)), Some(Duration::from_secs(7)))
        });
        for text in ["", "s", "1.5s", "-1s", "+1s", "1 s", "3sec", "99999999999999999999", "999999999999d"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn sizes_are_a_number_and_a_binary_unit() {
        let read = |text: &str| ByteUnit::Bytes.parse(text);

        assert_eq!(
            (read("5"), read("5b"), ByteUnit::Mebibytes.parse("5")),
            (Some(5), Some(5), Some(5 << 20))
        );
        for (shift, units) in [
            (10, ["k", "ki", "kb", "KiB"]),
            (20, ["m", "mi", "mb", "MiB"]),
            (30, ["g", "gi", "gb", "GiB"]),
            (40, ["t", "ti", "tb", "TiB"]),
            (50, ["p", "pi", "pb", "PiB"]),
        ] {
            assert_eq!(units.map(|unit| read(&format!("3{unit}"))), [Some(3 << shift); 4]);
        }
        for text in ["", "g", "0.5g", "-1", "1 g", "1x", "16384p", "18446744073709551616"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn fractions_are_exact_to_a_thousandth() {
        let cases = [("0", 0), ("1", 1_000), ("0.9", 900), (".25", 250), ("2.", 2_000), ("1.005", 1_005)];
        for (text, thousandths) in cases {
            assert_eq!(Permille::parse(text), Some(Permille(thousandths)), "{text:?}");
        }
        for text in ["", ".", "-1", "+1", "1.0005", "1e3", "a", "99999999999999999999", "18446744073709552"] {
            assert_eq!(Permille::parse(text), None, "{text:?}");
        }
        let shown = [0, 1, 750, 3_000, 1_050].map(|thousandths| Permille(thousandths).to_string());
        assert_eq!(shown, ["0", "0.001", "0.75", "3", "1.05"]);
    }
}
