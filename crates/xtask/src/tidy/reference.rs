//! The reference page of settings: it must say what the registry says.

use firesteel_types::settings::SECTIONS;

use super::problem::Problem;
use super::source::SourceFile;
use crate::settings::{self, PAGE};

/// Whether the page is missing or differs; names the first line that does.
pub(crate) fn check(files: &[SourceFile]) -> Option<Problem> {
    let Some(file) = files.iter().find(|file| file.path == PAGE) else {
        return Some(Problem::in_file(PAGE, "is missing: make it with `cargo xtask settings`"));
    };
    compare(&file.text, &settings::page(SECTIONS))
}

fn compare(found: &str, wanted: &str) -> Option<Problem> {
    if found == wanted {
        return None;
    }
    let same = found.lines().zip(wanted.lines()).take_while(|(found, wanted)| found == wanted).count();
    Some(Problem::at(PAGE, same + 1, "is not what the registry says: run `cargo xtask settings`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_as_the_registry_has_it_passes() {
        let page = SourceFile { path: PAGE.to_owned(), text: settings::page(SECTIONS) };

        assert_eq!(check(&[page]), None);
    }

    #[test]
    fn a_page_that_is_missing_or_differs_fails_with_the_remedy() {
        let remedy = "is not what the registry says: run `cargo xtask settings`";

        assert_eq!(
            check(&[]),
            Some(Problem::in_file(PAGE, "is missing: make it with `cargo xtask settings`"))
        );
        assert_eq!(compare("a\nb\nc\n", "a\nx\nc\n"), Some(Problem::at(PAGE, 2, remedy)));
        assert_eq!(compare("a\n", "a\nb\n"), Some(Problem::at(PAGE, 2, remedy)));
    }
}
