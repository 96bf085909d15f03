//! A lineage as text, in the layout of Spark's `toDebugString`.

use crate::rdd::{Parent, RddHandle};
use firesteel_types::StorageLevel;

/// One line for each RDD, nearest first: the number of partitions where a stage begins, a deeper indentation behind each
/// shuffle.
///
/// An RDD that is reached in several ways is shown once for each.
pub(super) fn debug_string(rdd: &RddHandle) -> String {
    let count = partition_count(rdd);
    let mut lines = vec![format!("{count} {}", describe(rdd))];
    // Not a recursion: a lineage may be longer than a stack is deep.
    let mut work = Vec::new();
    push_parents(&mut work, rdd, &below(&count));
    while let Some(Line { parent, prefix, is_last }) = work.pop() {
        let rdd = parent.handle();
        match parent {
            Parent::Narrow(..) => {
                lines.push(format!("{prefix}{}", describe(rdd)));
                push_parents(&mut work, rdd, &prefix);
            }
            Parent::Shuffle(_) => {
                let count = partition_count(rdd);
                let branch = branch_of(&prefix);
                lines.push(format!("{branch}+-{count} {}", describe(rdd)));
                let bar = if is_last { "  " } else { "| " };
                push_parents(&mut work, rdd, &format!("{branch}{bar}{}", below(&count)));
            }
        }
    }
    lines.join("\n")
}

/// An RDD that still has to be shown.
struct Line {
    parent: Parent,
    prefix: String,
    is_last: bool,
}

/// Puts the parents of `rdd` on the stack, the first one on top.
fn push_parents(work: &mut Vec<Line>, rdd: &RddHandle, prefix: &str) {
    for (index, parent) in rdd.parents().into_iter().rev().enumerate() {
        work.push(Line { parent, prefix: prefix.to_owned(), is_last: index == 0 });
    }
}

fn partition_count(rdd: &RddHandle) -> String {
    format!("({})", rdd.partitions())
}

/// What stands below the number of partitions: a bar under its middle.
fn below(count: &str) -> String {
    let left = (count.len() - 1) / 2;
    format!("{}|{}", " ".repeat(left), " ".repeat(count.len() - left))
}

/// The prefix up to its last bar, which becomes the beginning of a branch.
fn branch_of(prefix: &str) -> &str {
    let trimmed = prefix.trim_end();
    trimmed.strip_suffix('|').filter(|_| trimmed.len() < prefix.len()).unwrap_or(prefix)
}

fn describe(rdd: &RddHandle) -> String {
    let (operator, site) = rdd.origin();
    let name = rdd.own_name().map(|name| format!("{name} ")).unwrap_or_default();
    let level = describe_level(rdd.storage());
    format!("{name}{operator}[{}] at {}:{} [{level}]", rdd.id().0, site.file(), site.line())
}

/// A storage level in Spark's words; nothing for an RDD that is not kept.
fn describe_level(level: StorageLevel) -> String {
    if !level.is_persisted() {
        return String::new();
    }
    let disk = if level.disk { "Disk " } else { "" };
    let memory = if level.memory { "Memory " } else { "" };
    let form = if level.deserialized { "Deserialized" } else { "Serialized" };
    format!("{disk}{memory}{form} {}x Replicated", level.replication)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_stands_below_the_middle_of_the_number() {
        assert_eq!(below("(2)"), " |  ");
        assert_eq!(below("(100)"), "  |   ");
        assert_eq!(branch_of(" |  "), " ");
        assert_eq!(branch_of(" |  |  "), " |  ");
        assert_eq!(branch_of(""), "");
    }

    #[test]
    fn storage_levels_have_sparks_words() {
        let on_disk = StorageLevel { memory: true, disk: true, deserialized: false, replication: 2 };

        assert_eq!(describe_level(StorageLevel::NONE), "");
        assert_eq!(describe_level(StorageLevel::MEMORY_ONLY), "Memory Deserialized 1x Replicated");
        assert_eq!(describe_level(on_disk), "Disk Memory Serialized 2x Replicated");
    }
}
