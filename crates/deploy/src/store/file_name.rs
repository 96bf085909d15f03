//! The names of files: every object's name as one that stays in its folder.

use std::fmt::Write as _;

/// What the names of unfinished files begin with.
pub(super) const UNFINISHED: &str = ".new-";

/// What the names of files that could not be read end with.
pub(super) const DAMAGED: &str = ".damaged";

/// A name for the file of the object `name`: ids come from peers and may hold anything.
///
/// Letters, digits, `-` and `_` stay as they are, so that people can read it; other bytes become `%` and two digits.
pub(super) fn file_name(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            written.push(char::from(byte));
        } else {
            write!(written, "%{byte:02x}").expect("a String takes any text");
        }
    }
    written
}

/// Whether a file of this name is that of an object.
pub(super) fn is_object(file_name: &str) -> bool {
    !file_name.starts_with('.') && !file_name.ends_with(DAMAGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_folder_and_are_never_the_same_for_two() {
        assert_eq!(file_name("app_app-20260101000000-0001"), "app_app-20260101000000-0001");
        assert_eq!(file_name("worker_../../etc/x"), "worker_%2e%2e%2f%2e%2e%2fetc%2fx");
        assert_ne!(file_name("a/b"), file_name("a%2fb"));
    }

    #[test]
    fn unfinished_and_damaged_files_are_no_objects() {
        assert!(is_object(&file_name("app_.damaged")));
        assert!(!is_object(&format!("{UNFINISHED}app_1")) && !is_object(&format!("app_1{DAMAGED}")));
    }
}
