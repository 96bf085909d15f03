//! The pools of FAIR scheduling, from an allocation file in the form of Spark's `fairscheduler.xml`.
//!
//! Which texts are acceptable for a pool's fields is the scheduler's business; this reads the file and warns about
//! those that were not.

use std::{fs, path::Path};

use firesteel_scheduler::pool::{DefaultedField, PoolDescription, PoolText};
use firesteel_types::settings;
use serde::Deserialize;

use super::error::ConfError;

#[derive(Deserialize)]
struct Allocations {
    #[serde(rename = "pool", default)]
    pools: Vec<Pool>,
}

/// A pool as it stands in the file. Pools inside of pools are ours; Spark's files are flat.
#[derive(Deserialize)]
struct Pool {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "schedulingMode")]
    mode: Option<String>,
    weight: Option<String>,
    #[serde(rename = "minShare")]
    min_share: Option<String>,
    #[serde(rename = "pool", default)]
    children: Vec<Self>,
}

impl Pool {
    fn describe(&self, defaulted: &mut Vec<DefaultedField>) -> PoolDescription {
        let text = PoolText {
            name: &self.name,
            mode: self.mode.as_deref(),
            weight: self.weight.as_deref(),
            min_share: self.min_share.as_deref(),
        };
        let description = text.describe(defaulted);
        let children = self.children.iter().map(|child| child.describe(defaulted)).collect();
        PoolDescription { children, ..description }
    }
}

/// Reads the pools that the file at `path` describes.
pub(super) fn read(path: &Path) -> Result<Vec<PoolDescription>, ConfError> {
    let text = fs::read_to_string(path).map_err(|source| ConfError::Unreadable {
        path: path.to_owned(),
        named_by: settings::SCHEDULER_ALLOCATION_FILE.key(),
        source,
    })?;
    let mut defaulted = Vec::new();
    let pools = parse(&text, &mut defaulted)
        .map_err(|source| ConfError::NoPools { path: path.to_owned(), source: source.into() })?;
    for field in defaulted {
        tracing::warn!(file = %path.display(), "{field}");
    }
    Ok(pools)
}

fn parse(
    text: &str,
    defaulted: &mut Vec<DefaultedField>,
) -> Result<Vec<PoolDescription>, quick_xml::DeError> {
    let allocations: Allocations = quick_xml::de::from_str(text)?;
    Ok(allocations.pools.iter().map(|pool| pool.describe(defaulted)).collect())
}

#[cfg(test)]
mod tests {
    use firesteel_scheduler::pool::SchedulingMode;

    use super::*;

    fn parsed(text: &str) -> (Vec<PoolDescription>, Vec<String>) {
        let mut defaulted = Vec::new();
        let pools = parse(text, &mut defaulted).unwrap();
        (pools, defaulted.iter().map(DefaultedField::to_string).collect())
    }

    /// Behaviours: POOL-006, POOL-007.
    #[test]
    fn pools_get_the_values_of_the_file_and_defaults_for_the_rest() {
        let (pools, warnings) = parsed(
            r#"<?xml version="1.0"?>
            <!-- Two pools. -->
            <allocations>
              <pool name="production">
                <schedulingMode> fair </schedulingMode>
                <weight>2</weight>
                <minShare>
                  3
                </minShare>
              </pool>
              <!-- The second. -->
              <pool name="a &amp; b"/>
            </allocations>"#,
        );

        let production = PoolDescription {
            mode: SchedulingMode::Fair,
            weight: 2,
            min_share: 3,
            ..PoolDescription::new("production")
        };
        assert_eq!(pools, [production, PoolDescription::new("a & b")]);
        assert_eq!(warnings, Vec::<String>::new());
    }

    /// Behaviours: POOL-007.
    #[test]
    fn a_field_that_cannot_be_used_falls_back_alone_with_a_warning() {
        let (pools, warnings) = parsed(
            "<allocations><pool name='p'><weight></weight><minShare>2</minShare>\
             <schedulingMode>NONE</schedulingMode></pool></allocations>",
        );

        assert_eq!(pools, [PoolDescription { min_share: 2, ..PoolDescription::new("p") }]);
        assert_eq!(
            warnings,
            [
                "schedulingMode `NONE` of pool `p` is blank or invalid, so the default is used",
                "weight `` of pool `p` is blank or invalid, so the default is used",
            ]
        );
    }

    #[test]
    fn pools_nest() {
        let (pools, _) = parsed(
            "<allocations><pool name='outer'><weight>2</weight><pool name='inner'><weight>3</weight></pool>\
             </pool></allocations>",
        );

        let inner = PoolDescription { weight: 3, ..PoolDescription::new("inner") };
        assert_eq!(
            pools,
            [PoolDescription { weight: 2, children: vec![inner], ..PoolDescription::new("outer") }]
        );
    }

    #[test]
    fn a_file_without_pools_describes_none_and_one_that_is_not_xml_is_an_error() {
        assert!(parsed("<allocations/>").0.is_empty());
        for text in ["pools: [a]", "<allocations>", "<allocations><pool/></allocations>"] {
            assert!(parse(text, &mut Vec::new()).is_err(), "{text}");
        }
    }
}
