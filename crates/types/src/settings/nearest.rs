//! A known key for one that is not: Spark's name of it, another case, a slip of the keyboard.

use super::registry::entries;

const OURS: &str = "firesteel.";
const SPARKS: &str = "spark.";

/// The known key nearest to an unknown `key`, for the suggestion in an error message.
///
/// ```
/// # use firesteel_types::settings::nearest;
/// assert_eq!(nearest("spark.task.maxFailures"), Some("firesteel.task.maxFailures"));
/// assert_eq!(nearest("firesteel.task.maxFailure"), Some("firesteel.task.maxFailures"));
/// assert_eq!(nearest("firesteel.yarn.queue"), None);
/// ```
pub fn nearest(key: &str) -> Option<&'static str> {
    let wanted = key.to_ascii_lowercase();
    // The prefix is the same for all, so it must not make unlike keys look alike.
    let wanted = wanted.strip_prefix(OURS).or_else(|| wanted.strip_prefix(SPARKS)).unwrap_or(&wanted);
    let known = entries().filter_map(|entry| {
        let name = entry.key.strip_prefix(OURS)?.to_ascii_lowercase();
        Some((distance(wanted, &name), entry.key))
    });
    let (steps, key) = known.min()?;
    (steps <= (wanted.chars().count() / 5).max(1)).then_some(key)
}

/// How many letters must be put in, taken out or replaced to get from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // `row[i]`: the steps from what was read so far to the first `i` letters of `to`.
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for letter in from.chars() {
        let mut above_left = row[0];
        row[0] += 1;
        for (index, other) in to.iter().enumerate() {
            let replace = above_left + usize::from(letter != *other);
            above_left = row[index + 1];
            row[index + 1] = replace.min(above_left + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        let cases =
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)];
        for (from, to, steps) in cases {
            assert_eq!(distance(from, to), steps, "{from} {to}");
        }
    }

    #[test]
    fn slips_cases_and_other_prefixes_find_their_key() {
        let cases = [
            ("firesteel.task.maxfailures", Some("firesteel.task.maxFailures")),
            ("firesteel.task.maxFialures", Some("firesteel.task.maxFailures")),
            ("task.cpus", Some("firesteel.task.cpus")),
            ("firesteel.master:", Some("firesteel.master")),
            ("spark.locality.wait.nodes", Some("firesteel.locality.wait.node")),
            ("firesteel.", None),
            ("", None),
            ("firesteel.sql.shuffle.partitions", None),
        ];
        for (key, expected) in cases {
            assert_eq!(nearest(key), expected, "{key:?}");
        }
    }
}
