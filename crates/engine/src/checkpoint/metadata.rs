//! The metadata of a checkpoint, in a file beside its parts: [`CheckpointMetadata`].

use std::collections::BTreeSet;

use firesteel_files::part_name;

/// The file that holds it; written after the parts and before `_SUCCESS`.
pub(super) const METADATA: &str = "_checkpoint";

/// The version of the folder's layout, the first line of the file.
const FORMAT: &str = "firesteel checkpoint 1";

/// How many parts a checkpoint has. As text, the version of the format and a line such as `partitions 10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckpointMetadata {
    pub(super) partitions: u32,
}

impl CheckpointMetadata {
    pub(super) fn to_text(self) -> String {
        format!("{FORMAT}\npartitions {}\n", self.partitions)
    }

    /// Reads it back; the error tells what is wrong with the text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        match lines.next() {
            Some(FORMAT) => (),
            first => return Err(format!("its format is `{}`, not `{FORMAT}`", first.unwrap_or_default())),
        }
        let line = lines.next().unwrap_or_default();
        let partitions = line.strip_prefix("partitions ").and_then(|count| count.parse().ok());
        let partitions = partitions
            .ok_or_else(|| format!("it has the line `{line}` in place of the number of partitions"))?;
        Ok(Self { partitions })
    }

    /// Compares the names of all parts in the folder with those that must be there; the error names the first that is
    /// missing or too many.
    pub(super) fn check_parts<'a>(self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut found = BTreeSet::new();
        for name in names {
            let index = name.strip_prefix("part-").and_then(|digits| digits.parse::<u32>().ok());
            match index.filter(|index| *index < self.partitions && part_name(*index as usize) == name) {
                Some(index) => found.insert(index),
                None => return Err(format!("{name} is none of its {} parts", self.partitions)),
            };
        }
        match (0..self.partitions).find(|index| !found.contains(index)) {
            Some(missing) => {
                Err(format!("{} of {} parts is missing", part_name(missing as usize), self.partitions))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let metadata = CheckpointMetadata { partitions: 123_456 };

        assert_eq!(CheckpointMetadata::parse(&metadata.to_text()), Ok(metadata));
    }

    #[test]
    fn text_that_is_not_understood_is_refused() {
        let format = "firesteel checkpoint 1";
        for (text, problem) in [
            (String::new(), "its format is ``, not `firesteel checkpoint 1`"),
            (
                "firesteel checkpoint 2\npartitions 3\n".to_owned(),
                "its format is `firesteel checkpoint 2`, not `firesteel checkpoint 1`",
            ),
            (format!("{format}\n"), "it has the line `` in place of the number of partitions"),
            (
                format!("{format}\npartitions many\n"),
                "it has the line `partitions many` in place of the number of partitions",
            ),
        ] {
            assert_eq!(CheckpointMetadata::parse(&text), Err(problem.to_owned()));
        }
    }

    #[test]
    fn each_part_must_be_there_and_no_other() {
        let ten = CheckpointMetadata { partitions: 10 };
        let names: Vec<_> = (0..10).map(part_name).collect();
        let check = |names: &[String]| ten.check_parts(names.iter().map(String::as_str));

        assert_eq!(check(&names), Ok(()));
        assert_eq!(check(&names[..3]), Err("part-00003 of 10 parts is missing".to_owned()));
        assert_eq!(check(&names[..9]), Err("part-00009 of 10 parts is missing".to_owned()));
        for extra in ["part-00010", "part-3", "part-00003.gz", "other"] {
            let names: Vec<_> = names.iter().cloned().chain([extra.to_owned()]).collect();
            assert_eq!(check(&names), Err(format!("{extra} is none of its 10 parts")));
        }
    }

    /// From 100,000 on names have a digit more, and as text part-100000 comes before part-99999.
    #[test]
    fn more_parts_than_five_digits_count_are_all_found() {
        let many = CheckpointMetadata { partitions: 100_001 };
        let mut names: Vec<_> = (0..100_001).map(part_name).collect();
        names.sort_unstable();

        assert_eq!(many.check_parts(names.iter().map(String::as_str)), Ok(()));
        names.retain(|name| name != "part-100000");
        let missing = many.check_parts(names.iter().map(String::as_str));

        assert_eq!(missing, Err("part-100000 of 100001 parts is missing".to_owned()));
    }
}
