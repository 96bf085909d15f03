//! What is wrong with a type that does not read what it writes: [`Mismatch`].

use std::fmt;

use crate::codec::format::Record;

/// How a type writes something else than it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Mismatch {
    /// A struct or a variant writes other fields than it reads. The names are empty where fields have none.
    Fields {
        record: String,
        written: usize,
        written_names: Vec<&'static str>,
        read: usize,
        read_names: Vec<&'static str>,
    },
    /// A variant is written with another number than it is read by.
    Variant { name: &'static str, variant: &'static str, written: u32, read: usize },
}

impl Mismatch {
    /// A record as the message has it.
    pub(super) fn record_name(record: Record) -> String {
        match record.variant {
            Some(variant) => format!("`{}::{variant}`", record.name),
            None if record.name.is_empty() => "a tuple".to_owned(),
            None => format!("`{}`", record.name),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields { record, written, written_names, read, read_names } => {
                let (listed_written, listed_read) =
                    (listed(*written, written_names), listed(*read, read_names));
                write!(out, "{record} writes {listed_written} and reads {listed_read}: ")?;
                let unwritten =
                    alone("skip_serializing", written < read, &missing(read_names, written_names));
                let unread = alone("skip_deserializing", read < written, &missing(written_names, read_names));
                let attributes: Vec<String> = [unwritten, unread].into_iter().flatten().collect();
                write!(out, "use serde's `skip` instead of {}", attributes.join(" and "))
            }
            Self::Variant { name, variant, written, read } => write!(
                out,
                "`{name}::{variant}` is written as variant {written} and read as variant {read}: \
                 move variants with `#[serde(skip)]` behind all others"
            ),
        }
    }
}

/// The attribute that stands on these fields, or on fields without a name.
fn alone(attribute: &str, is_somewhere: bool, fields: &[&str]) -> Option<String> {
    let fields: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
    match (fields.is_empty(), is_somewhere) {
        (false, _) => Some(format!("`{attribute}` alone on {}", fields.join(", "))),
        (true, true) => Some(format!("`{attribute}` alone")),
        (true, false) => None,
    }
}

/// The names of `all` that are not in `some`.
fn missing(all: &[&'static str], some: &[&'static str]) -> Vec<&'static str> {
    all.iter().copied().filter(|name| !some.contains(name)).collect()
}

fn listed(count: usize, names: &[&str]) -> String {
    match (count, names.len()) {
        (0, _) => "no fields".to_owned(),
        (1, 0) => "1 field".to_owned(),
        (count, 0) => format!("{count} fields"),
        (_, 1) => format!("the field {}", names[0]),
        _ => format!("the fields {}", names.join(", ")),
    }
}
