//! The table of all settings, and how one is found by its key.

use super::{
    kind::Kind,
    table::{
        application, barrier, exclusion, executors, files, master, memory, network, scheduling, shuffle,
        speculation, tasks, worker,
    },
};

/// One registered setting: its key, type, default and description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name by which a user sets it.
    pub key: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The value while it is not set.
    pub preset: Preset,
    /// What it does, in one sentence.
    pub doc: &'static str,
    /// The version of Firesteel that had it first.
    pub since: &'static str,
}

/// The value of a setting that is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// This value, written as a user would.
    Is(&'static str),
    /// The value of the setting with this key.
    SameAs(&'static str),
    /// No value.
    Unset,
}

/// Settings that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// What they are about.
    pub title: &'static str,
    /// The settings, in the order of the reference page.
    pub entries: &'static [Entry],
}

/// All settings, in the order of the reference page.
pub const SECTIONS: &[Section] = &[
    application::SECTION,
    tasks::SECTION,
    scheduling::SECTION,
    speculation::SECTION,
    exclusion::SECTION,
    barrier::SECTION,
    executors::SECTION,
    memory::SECTION,
    network::SECTION,
    shuffle::SECTION,
    files::SECTION,
    master::SECTION,
    worker::SECTION,
];

/// All settings.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    SECTIONS.iter().flat_map(|section| section.entries)
}

/// The setting with exactly this key.
pub fn find(key: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.key == key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_is_ours_and_stands_once() {
        let mut seen = BTreeSet::new();

        for entry in entries() {
            assert!(entry.key.starts_with("firesteel."), "{}", entry.key);
            assert!(!entry.key.contains(|c: char| c.is_whitespace() || c == '='), "{}", entry.key);
            assert!(seen.insert(entry.key), "{} stands twice", entry.key);
        }
    }

    #[test]
    fn every_default_is_a_value_of_its_setting() {
        for entry in entries() {
            match entry.preset {
                Preset::Is(text) => {
                    entry.kind.parse(text).unwrap_or_else(|error| panic!("{}: {error}", entry.key));
                }
                Preset::SameAs(key) => {
                    let other = find(key).unwrap_or_else(|| panic!("{} leans on {key}", entry.key));
                    assert_eq!(other.kind, entry.kind, "{} leans on {key}", entry.key);
                    assert!(!matches!(other.preset, Preset::SameAs(_)), "{} leans on a lean", entry.key);
                }
                Preset::Unset => {}
            }
        }
    }

    #[test]
    fn every_doc_is_one_sentence() {
        for entry in entries() {
            let inner = entry.doc.trim_end_matches('.');
            assert_eq!(entry.doc.len(), inner.len() + 1, "{} does not end in one stop", entry.key);
            assert!(!inner.contains(". "), "{} has more than one sentence", entry.key);
            assert!(!entry.doc.starts_with(' ') && !entry.doc.contains("  "), "{} has odd blanks", entry.key);
        }
    }
}
