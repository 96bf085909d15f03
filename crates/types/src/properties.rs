//! Properties of a job, taken from the thread that submits it.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

/// An immutable set of named texts.
///
/// A job takes a copy when it is submitted; what the caller changes afterwards is invisible to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties(Arc<BTreeMap<String, String>>);

impl Properties {
    /// The FAIR pool the job's task sets go to.
    pub const POOL: &'static str = "spark.scheduler.pool";
    /// The group the job belongs to.
    pub const JOB_GROUP: &'static str = "spark.jobGroup.id";
    /// What the job does, for people.
    pub const DESCRIPTION: &'static str = "spark.job.description";
    /// The job's tags, separated by commas.
    pub const TAGS: &'static str = "spark.job.tags";
    /// Whether cancelling the job interrupts the threads of its tasks.
    pub const INTERRUPT_ON_CANCEL: &'static str = "spark.job.interruptOnCancel";

    /// The value of `key`, if set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The same properties with `key` set to `value`. The original is not changed.
    #[must_use]
    pub fn with(&self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let mut map = BTreeMap::clone(&self.0);
        map.insert(key.into(), value.into());
        Self(Arc::new(map))
    }

    /// Every property, in order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The job's group, if it has one.
    pub fn job_group(&self) -> Option<&str> {
        self.get(Self::JOB_GROUP)
    }

    /// Whether the job carries `tag`.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.get(Self::TAGS).is_some_and(|tags| tags.split(',').any(|one| one == tag))
    }

    /// Whether cancelling interrupts threads. Anything but `true` means no.
    pub fn interrupts_on_cancel(&self) -> bool {
        self.get(Self::INTERRUPT_ON_CANCEL).is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
    }
}

impl FromIterator<(String, String)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(Arc::new(pairs.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_property_leaves_the_original_as_it_was() {
        let before = Properties::default().with(Properties::TAGS, "etl,nightly");

        let after = before.with(Properties::INTERRUPT_ON_CANCEL, "sure");

        assert_eq!(before.get(Properties::INTERRUPT_ON_CANCEL), None);
        assert!(after.has_tag("nightly") && !after.has_tag("night"));
        assert!(!after.interrupts_on_cancel(), "invalid text counts as false");
    }
}
