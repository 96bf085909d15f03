//! [`PoolDescription`]: what a configured pool is, and how it is made from the texts of an allocation file.
//!
//! Finding and reading the file is the parser's task; which text is acceptable is decided here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::mode::SchedulingMode;

/// A pool as configured: its name, its settings and the pools inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolDescription {
    /// The name by which a job asks for the pool.
    pub name: String,
    /// How the pool orders its own children.
    pub mode: SchedulingMode,
    /// Its share against its siblings once all have their minimum. A pool of weight 0 goes after every sibling
    /// with a weight.
    pub weight: u32,
    /// As long as it runs fewer tasks than this, it goes before siblings that have their minimum.
    pub min_share: u32,
    /// The pools inside it, in the order in which a FIFO pool serves them.
    pub children: Vec<PoolDescription>,
}

impl PoolDescription {
    /// The weight of a pool that names none.
    pub const DEFAULT_WEIGHT: u32 = 1;
    /// The minimum share of a pool that names none.
    pub const DEFAULT_MIN_SHARE: u32 = 0;

    /// A pool with every setting at its default: FIFO, weight 1, no minimum share.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            mode: SchedulingMode::default(),
            weight: Self::DEFAULT_WEIGHT,
            min_share: Self::DEFAULT_MIN_SHARE,
            children: Vec::new(),
        }
    }
}

/// The texts found for one pool in an allocation file; `None` where the file has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolText<'t> {
    /// The pool's name, taken as it is.
    pub name: &'t str,
    /// The text of `schedulingMode`.
    pub mode: Option<&'t str>,
    /// The text of `weight`.
    pub weight: Option<&'t str>,
    /// The text of `minShare`.
    pub min_share: Option<&'t str>,
}

impl PoolText<'_> {
    /// Makes the description of a pool without children.
    ///
    /// Each field stands alone: one that is missing, blank or not understood gets its default and the others keep their
    /// values. Those that are there but not usable are pushed to `defaulted`, so that the reader of the file can warn.
    /// A negative number is not usable either; Spark takes it and then orders by it.
    pub fn describe(&self, defaulted: &mut Vec<DefaultedField>) -> PoolDescription {
        let default = PoolDescription::new(self.name);
        let mode = self.field(PoolField::Mode, self.mode, defaulted);
        let weight = self.field(PoolField::Weight, self.weight, defaulted);
        let min_share = self.field(PoolField::MinShare, self.min_share, defaulted);
        PoolDescription {
            mode: mode.unwrap_or(default.mode),
            weight: weight.unwrap_or(default.weight),
            min_share: min_share.unwrap_or(default.min_share),
            ..default
        }
    }

    fn field<T: FromStr>(
        &self,
        field: PoolField,
        text: Option<&str>,
        defaulted: &mut Vec<DefaultedField>,
    ) -> Option<T> {
        let text = text?;
        let value = text.trim().parse().ok();
        if value.is_none() {
            defaulted.push(DefaultedField { pool: self.name.to_owned(), field, text: text.to_owned() });
        }
        value
    }
}

/// A setting of a pool, by its name in the allocation file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PoolField {
    /// `schedulingMode`.
    Mode,
    /// `weight`.
    Weight,
    /// `minShare`.
    MinShare,
}

impl fmt::Display for PoolField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Mode => "schedulingMode",
            Self::Weight => "weight",
            Self::MinShare => "minShare",
        })
    }
}

/// A setting whose text could not be used, so that the default stands in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultedField {
    /// The pool's name.
    pub pool: String,
    /// The setting.
    pub field: PoolField,
    /// Its text as found.
    pub text: String,
}

impl fmt::Display for DefaultedField {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pool, field, text } = self;
        write!(out, "{field} `{text}` of pool `{pool}` is blank or invalid, so the default is used")
    }
}

#[cfg(test)]
mod tests {
    use super::SchedulingMode::{Fair, Fifo};
    use super::*;

    fn described(mode: &str, weight: &str, min_share: &str) -> (SchedulingMode, u32, u32, Vec<PoolField>) {
        let text = PoolText { name: "p", mode: Some(mode), weight: Some(weight), min_share: Some(min_share) };
        let mut defaulted = Vec::new();
        let pool = text.describe(&mut defaulted);
        assert_eq!((pool.name.as_str(), pool.children.len()), ("p", 0));
        (pool.mode, pool.weight, pool.min_share, defaulted.iter().map(|field| field.field).collect())
    }

    /// Behaviours: POOL-006.
    #[test]
    fn a_pool_without_settings_is_fifo_with_weight_one_and_no_minimum_share() {
        let mut defaulted = Vec::new();

        let pool = PoolText { name: "p", ..PoolText::default() }.describe(&mut defaulted);

        let expected =
            PoolDescription { name: "p".into(), mode: Fifo, weight: 1, min_share: 0, children: vec![] };
        assert_eq!(pool, expected);
        assert_eq!(pool, PoolDescription::new("p"));
        assert_eq!(defaulted, [], "a field that is not there is nothing to warn about");
    }

    /// Behaviours: POOL-007.
    #[test]
    fn blanks_are_trimmed_and_the_mode_is_read_in_any_case() {
        assert_eq!(described("\n FAIR ", " 2\t", "  3 "), (Fair, 2, 3, vec![]));
        assert_eq!(described("fair", "1", "2"), (Fair, 1, 2, vec![]));
        assert_eq!(described("FiFo", "1", "2"), (Fifo, 1, 2, vec![]));
    }

    /// Behaviours: POOL-007.
    #[test]
    fn a_field_that_cannot_be_used_falls_back_alone() {
        use PoolField::{MinShare, Mode, Weight};

        for bad in ["", "   ", "INVALID_MIN_SHARE", "-1", "1.5", "99999999999"] {
            assert_eq!(described("FAIR", "2", bad), (Fair, 2, 0, vec![MinShare]), "{bad:?}");
            assert_eq!(described("FAIR", bad, "3"), (Fair, 1, 3, vec![Weight]), "{bad:?}");
        }
        for bad in ["", "  ", "INVALID", "NONE"] {
            assert_eq!(described(bad, "2", "3"), (Fifo, 2, 3, vec![Mode]), "{bad:?}");
        }
        assert_eq!(described("x", "x", "x"), (Fifo, 1, 0, vec![Mode, Weight, MinShare]));
    }

    #[test]
    fn a_field_not_used_says_so_in_a_sentence() {
        let field = DefaultedField { pool: "etl".into(), field: PoolField::MinShare, text: "two".into() };

        assert_eq!(
            field.to_string(),
            "minShare `two` of pool `etl` is blank or invalid, so the default is used"
        );
    }
}
