//! Cpus and shares of a custom resource.

use std::{fmt, ops::Sub, str::FromStr};

use serde::{Deserialize, Serialize};

/// An amount of cpus, exact to 10⁻⁹.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Cpus(u64);

impl Cpus {
    /// None at all.
    pub const ZERO: Self = Self(0);
    /// One core.
    pub const ONE: Self = Self::cores(1);
    const UNIT: u64 = 1_000_000_000;

    /// A whole number of cores.
    pub const fn cores(n: u32) -> Self {
        Self(n as u64 * Self::UNIT)
    }

    /// An amount in 10⁻⁹ of a core.
    pub const fn nanos(n: u64) -> Self {
        Self(n)
    }

    /// The amount in 10⁻⁹ of a core.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole cores, rounded down.
    pub const fn whole(self) -> u32 {
        (self.0 / Self::UNIT) as u32
    }

    /// How many tasks of `each` fit, at most `i32::MAX`; as many as that when a task needs none.
    pub const fn slots(self, each: Self) -> u32 {
        const MOST: u64 = i32::MAX as u64;
        if each.0 == 0 {
            return MOST as u32;
        }
        let slots = self.0 / each.0;
        if slots > MOST { MOST as u32 } else { slots as u32 }
    }

    /// The sum; saturates.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or nothing when `other` is more.
    #[must_use]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(rest) => Some(Self(rest)),
            None => None,
        }
    }
}

impl Sub for Cpus {
    type Output = Self;

    /// # Panics
    /// When `other` is more: callers check first, and taking what is not there is a bug.
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other).expect("cpus are taken only where they are free")
    }
}

impl FromStr for Cpus {
    type Err = AmountError;

    /// Reads a decimal number of cores such as `1`, `0.2` or `1.5`.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        match parse_decimal(text, 9) {
            Some(0) => Err(AmountError::TooSmall { text: text.to_owned() }),
            Some(units) => {
                u64::try_from(units).map(Self).map_err(|_| AmountError::TooLarge { text: text.to_owned() })
            }
            None => Err(AmountError::NotANumber { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_decimal(self.0, Self::UNIT, 9, out)
    }
}

impl fmt::Debug for Cpus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self} cpus")
    }
}

/// A share of a custom resource's addresses, exact to 10⁻¹⁶: 1 is one whole address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Share(u64);

impl Share {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One whole address.
    pub const WHOLE: Self = Self(10_000_000_000_000_000);

    /// A number of whole addresses; at most 1,844, which is more than any machine has of anything.
    pub const fn addresses(n: u32) -> Self {
        Self(Self::WHOLE.0.saturating_mul(n as u64))
    }

    /// An n-th of an address, rounded down, so that n of them always fit.
    pub const fn one_of(n: u32) -> Self {
        Self(Self::WHOLE.0 / if n == 0 { 1 } else { n as u64 })
    }

    /// The share in 10⁻¹⁶ of an address.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// A share in 10⁻¹⁶ of an address.
    pub const fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// Whether it is a whole number of addresses.
    pub const fn is_whole(self) -> bool {
        self.0.is_multiple_of(Self::WHOLE.0)
    }
}

impl FromStr for Share {
    type Err = AmountError;

    /// Reads a decimal number of addresses such as `1`, `0.25` or `2`.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        let units =
            parse_decimal(text, 16).ok_or_else(|| AmountError::NotANumber { text: text.to_owned() })?;
        u64::try_from(units).map(Self).map_err(|_| AmountError::TooLarge { text: text.to_owned() })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_decimal(self.0, Self::WHOLE.0, 16, out)
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Why a text is not an amount.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum AmountError {
    /// It is not a decimal number.
    #[error("`{text}` is not an amount; give a decimal number such as 1 or 0.5")]
    NotANumber { text: String },
    /// It is zero or below the smallest unit.
    #[error("`{text}` is too small; the least amount of cpus is 0.000000001")]
    TooSmall { text: String },
    /// It does not fit.
    #[error("`{text}` is too large an amount")]
    TooLarge { text: String },
}

/// Reads a decimal number as a whole number of 10⁻ᵖˡᵃᶜᵉˢ; digits beyond that are cut off.
fn parse_decimal(text: &str, places: usize) -> Option<u128> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    if !all_digits || (whole.is_empty() && fraction.is_empty()) || whole.len() > 15 {
        return None;
    }
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(places).collect();
    format!("{whole}{fraction}").parse().ok()
}

fn show_decimal(units: u64, one: u64, places: usize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, rest) = (units / one, units % one);
    if rest == 0 {
        return write!(out, "{whole}");
    }
    let fraction = format!("{rest:0places$}");
    write!(out, "{whole}.{}", fraction.trim_end_matches('0'))
}
