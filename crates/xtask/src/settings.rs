//! `cargo xtask settings`: the reference page of all settings, made from the registry.
//!
//! `cargo xtask tidy` compares the page with the registry, so that it cannot fall behind.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};
use firesteel_types::settings::{ByteUnit, Entry, Kind, Preset, SECTIONS, Section, TimeUnit};

use crate::process;

/// Where the page lies, from the root of the repository.
pub(crate) const PAGE: &str = "docs/settings.md";

const OPENING: &str = "\
# Settings

This page is made from the registry in `crates/types/src/settings` by `cargo xtask settings`; change it there.

## Where values come from

Each layer goes before those above it:

1. the defaults on this page;
2. the file that the environment variable `FIRESTEEL_CONF` names;
3. the environment variable `FIRESTEEL_SETTINGS`, which holds lines like those of the file;
4. the environment variables `FIRESTEEL_MASTER` (`firesteel.master`) and `FIRESTEEL_APP_NAME` (`firesteel.app.name`);
5. the program: `Conf::set`.

A line is `key value` or `key=value`. Blank lines and lines that begin with `#` are passed over. A key that is not on
this page and a value that its setting does not take are errors. Keys are Spark's with `firesteel.` in place of
`spark.` where the meaning is the same.

## How values are written

A duration is a whole number with `us`, `ms`, `s`, `m` or `min`, `h`, `d`; a size one with `b`, `k`, `m`, `g`, `t`,
`p` (1k is 1024 bytes). A bare number has the unit in brackets. Names and units are read in any case.
";

/// Writes the page.
pub(crate) fn run() -> Result<()> {
    let path = process::root().join(PAGE);
    fs::write(&path, page(SECTIONS)).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{PAGE}: written");
    Ok(())
}

/// The whole page.
pub(crate) fn page(sections: &[Section]) -> String {
    let mut page = OPENING.to_owned();
    for section in sections {
        let rows: String = section.entries.iter().map(row).collect();
        write!(
            page,
            "\n## {}\n\n| key | values | default | meaning | since |\n|---|---|---|---|---|\n{rows}",
            section.title
        )
        .expect("a text takes whatever is written to it");
    }
    page
}

fn row(entry: &Entry) -> String {
    let Entry { key, kind, preset, doc, since } = entry;
    let default = match preset {
        Preset::Is(text) => format!("`{text}`"),
        Preset::SameAs(other) => format!("as `{other}`"),
        Preset::Unset => "unset".to_owned(),
    };
    format!("| `{key}` | {} | {default} | {doc} | {since} |\n", values(*kind))
}

/// The values of a kind in few words; the page says above how they are written.
fn values(kind: Kind) -> String {
    match kind {
        Kind::Bool => "`true`, `false`".to_owned(),
        Kind::Integer { min, max } if max >= u64::from(u32::MAX) => format!("number from {min}"),
        Kind::Integer { min, max } => format!("number from {min} to {max}"),
        Kind::Duration { unit, min } => {
            let unit = match unit {
                TimeUnit::Millis => "ms",
                TimeUnit::Seconds => "s",
            };
            let from = if min.is_zero() { String::new() } else { format!(" from {min:?}") };
            format!("duration{from} ({unit})")
        }
        Kind::Bytes { unit, min } => {
            let unit = match unit {
                ByteUnit::Bytes => "b",
                ByteUnit::Mebibytes => "m",
            };
            let from = if min == 0 { String::new() } else { format!(" from {min}b") };
            format!("size{from} ({unit})")
        }
        Kind::Fraction { min, max } => format!("decimal from {min} to {max}"),
        Kind::Cpus => "decimal above 0".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Choice(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        Kind::Master => {
            "`local`, `local[N]`, `local[*]`, `local[N,attempts]`, `local-cluster[workers,cores,MiB]`, \
             `firesteel://host:port,…`"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use firesteel_types::settings::{self, Permille};

    use super::*;

    #[test]
    fn a_row_says_all_that_the_registry_knows() {
        let shown = [
            settings::TASK_MAX_FAILURES.entry(),
            settings::LOCALITY_WAIT_NODE.entry(),
            settings::APP_NAME.entry(),
        ]
        .map(|entry| row(&entry));

        let opens = |row: &str, text: &str| assert!(row.starts_with(text), "{row}");
        opens(&shown[0], "| `firesteel.task.maxFailures` | number from 1 | `4` | How many failures");
        opens(
            &shown[1],
            "| `firesteel.locality.wait.node` | duration (ms) | as `firesteel.locality.wait` | How long a task",
        );
        opens(&shown[2], "| `firesteel.app.name` | text | unset | The application's name");
        assert!(shown.iter().all(|row| row.ends_with(" | 0.1.0 |\n")), "{shown:?}");
    }

    #[test]
    fn each_kind_is_told_in_few_words() {
        let kinds = [
            Kind::Bool,
            Kind::Integer { min: 2, max: 5 },
            settings::NETWORK_TIMEOUT.entry().kind,
            settings::RPC_MESSAGE_MAX_SIZE.entry().kind,
            Kind::Fraction { min: Permille::LEAST, max: Permille::ONE },
            settings::SCHEDULER_MODE.entry().kind,
        ];

        assert_eq!(
            kinds.map(values),
            [
                "`true`, `false`",
                "number from 2 to 5",
                "duration from 1ms (s)",
                "size from 1b (m)",
                "decimal from 0.001 to 1",
                "`FIFO`, `FAIR`",
            ]
        );
    }

    #[test]
    fn every_setting_has_one_row_below_its_section() {
        let page = page(SECTIONS);

        for entry in settings::entries() {
            assert_eq!(page.matches(&format!("\n| `{}` |", entry.key)).count(), 1, "{}", entry.key);
        }
        assert_eq!(page.matches("\n|---|---|---|---|---|\n").count(), SECTIONS.len());
    }
}
