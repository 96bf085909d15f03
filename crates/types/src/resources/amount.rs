//! Cpus and shares of a custom resource.

use std::{fmt, ops::Sub, str::FromStr};

use serde::{Deserialize, Serialize};

/// Slot counts stop here, as in Spark, so that sums of a few of them still fit any counter.
const MOST_SLOTS: u64 = i32::MAX as u64;

/// How many times `each` goes into `there`, at most [`MOST_SLOTS`]; as many as that when `each` is nothing.
const fn slots(there: u64, each: u64) -> u32 {
    match there.checked_div(each) {
        Some(slots) if slots < MOST_SLOTS => slots as u32,
        Some(_) | None => MOST_SLOTS as u32,
    }
}

/// An amount of cpus, exact to 10⁻⁹.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Cpus(u64);

impl Cpus {
    /// None at all.
    pub const ZERO: Self = Self(0);
    /// One core.
    pub const ONE: Self = Self::cores(1);
    /// The most a task can ask for: executors count their cores in 31 bits.
    pub const MAX: Self = Self::cores(i32::MAX as u32);
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

    /// Whole cores, rounded down; at most `u32::MAX`.
    pub const fn whole(self) -> u32 {
        let cores = self.0 / Self::UNIT;
        if cores > u32::MAX as u64 { u32::MAX } else { cores as u32 }
    }

    /// How many tasks of `each` fit, at most `i32::MAX`; as many as that when a task needs none.
    pub const fn slots(self, each: Self) -> u32 {
        slots(self.0, each.0)
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

    /// Reads a decimal number of cores such as `1`, `0.2` or `1.5`, rounded to the nearest 10⁻⁹.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        let tenths =
            parse_decimal(text, 10).ok_or_else(|| AmountError::NotANumber { text: text.to_owned() })?;
        match u64::try_from((tenths + 5) / 10) {
            Ok(0) => Err(AmountError::TooSmall { text: text.to_owned() }),
            Ok(nanos) if nanos <= Self::MAX.0 => Ok(Self(nanos)),
            Ok(_) | Err(_) => Err(AmountError::TooLarge { text: text.to_owned() }),
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

    /// An n-th of an address, rounded down, so that n of them always fit. Exactly n fit up to n = 10⁷;
    /// far beyond that what rounding leaves over makes room for more.
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

    /// Whether it is nothing at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
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

    /// How many tasks of `each` fit in what is left of one address, at most `i32::MAX`; as many as that when
    /// a task needs none.
    pub const fn slots(self, each: Self) -> u32 {
        slots(self.0, each.0)
    }

    /// How many tasks of `each` fit on this many whole addresses, at most `i32::MAX`.
    ///
    /// Tasks that take part of an address do not straddle two of them: with 0.4 each, an address takes two.
    pub const fn slots_on_addresses(addresses: u32, each: Self) -> u32 {
        if each.0 > 0 && each.is_whole() {
            return slots(addresses as u64, each.0 / Self::WHOLE.0);
        }
        slots(addresses as u64 * Self::WHOLE.slots(each) as u64, 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> Cpus {
        text.parse().unwrap()
    }

    fn share(text: &str) -> Share {
        text.parse().unwrap()
    }

    /// Behaviours: TSI-005.
    #[test]
    fn fractions_of_a_core_fill_it_exactly() {
        assert_eq!(Cpus::ONE.slots(cpus("0.2")), 5);
        assert_eq!(Cpus::ONE.slots(cpus("0.1")), 10);
        assert_eq!(Cpus::cores(4).slots(cpus("1.5")), 2);
        assert_eq!(Cpus::ONE.slots(Cpus::cores(2)), 0);
    }

    /// Behaviours: TSI-005.
    #[test]
    fn taking_and_giving_back_leaves_no_residue() {
        let each = cpus("0.1");
        let mut free = Cpus::cores(3);

        for _ in 0..10_000 {
            for _ in 0..30 {
                free = free - each;
            }
            assert_eq!(free, Cpus::ZERO);
            for _ in 0..30 {
                free = free.plus(each);
            }
        }

        assert_eq!(free, Cpus::cores(3));
    }

    /// Behaviours: TSI-005, RP-004.
    #[test]
    fn the_least_amount_of_cpus_is_a_billionth() {
        assert_eq!(cpus("0.000000001"), Cpus::nanos(1));
        assert_eq!(cpus("0.0000000005"), Cpus::nanos(1), "rounded to the nearest billionth");
        assert_eq!(cpus("1.23456789049"), Cpus::nanos(1_234_567_890));
        for text in ["0", "0.0", "0.0000000004"] {
            assert_eq!(text.parse::<Cpus>(), Err(AmountError::TooSmall { text: text.to_owned() }));
        }
        for text in ["", ".", "-1", "one", "1.5.0", "NaN"] {
            assert_eq!(text.parse::<Cpus>(), Err(AmountError::NotANumber { text: text.to_owned() }));
        }
    }

    /// Behaviours: TSI-005.
    #[test]
    fn slot_counts_stop_at_the_31_bit_maximum() {
        let most = i32::MAX as u32;

        assert_eq!(Cpus::cores(1_000).slots(Cpus::nanos(1)), most);
        assert_eq!(Cpus::cores(most).slots(Cpus::ONE), most);
        assert_eq!(Cpus::ONE.slots(Cpus::ZERO), most, "a task that needs nothing");
        assert_eq!(Share::slots_on_addresses(u32::MAX, Share::from_units(1)), most);
        assert_eq!(cpus("2147483647"), Cpus::MAX);
        let text = "2147483648".to_owned();
        assert_eq!(text.parse::<Cpus>(), Err(AmountError::TooLarge { text }));
        assert_eq!(Cpus::nanos(u64::MAX).whole(), u32::MAX);
    }

    /// Behaviours: RP-010.
    #[test]
    fn exactly_n_tasks_of_an_nth_fit_on_one_address() {
        for n in (1..=10_000).chain([65_537, 1_000_003, 9_999_991, 10_000_000]) {
            assert_eq!(Share::WHOLE.slots(Share::one_of(n)), n);
        }
    }

    /// Behaviours: RP-003, BACK-015.
    #[test]
    fn parts_of_an_address_do_not_straddle_two() {
        let slots = ["0.3", "0.4", "0.5", "0.8", "1", "2", "3", "4", "5"]
            .map(|each| Share::slots_on_addresses(4, share(each)));

        assert_eq!(slots, [12, 8, 8, 4, 4, 2, 1, 1, 0]);
    }

    #[test]
    fn amounts_read_back_as_they_are_written() {
        assert_eq!(cpus("1.50").to_string(), "1.5");
        assert_eq!(cpus(".2").to_string(), "0.2");
        assert_eq!(share("0.25").to_string(), "0.25");
        assert_eq!(Share::one_of(3).to_string(), "0.3333333333333333");
        assert_eq!(share("2"), Share::addresses(2));
    }
}
