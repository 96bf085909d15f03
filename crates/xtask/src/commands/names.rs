//! Holds options, settings and variables of documented commands against what the programs know.

use super::text::Documented;
use crate::tidy::SourceFile;

/// Variables that are read by others: the shell, and proptest.
const FOREIGN_VARIABLES: &[&str] = &["PATH", "PROPTEST_CASES"];

/// The options among the words that the help of a program does not name.
pub(crate) fn unknown_options<'w>(words: &'w [String], help: &str) -> Vec<&'w str> {
    let known =
        |option: &str| help.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == option);
    let options = words
        .iter()
        .filter(|word| word.starts_with('-'))
        .map(|word| word.split_once('=').map_or(word.as_str(), |(option, _)| option));
    options.filter(|option| !known(option)).collect()
}

/// The subcommands at the front: words of letters, up to the first option or value, at most two.
pub(crate) fn subcommands(arguments: &[String]) -> &[String] {
    let is_name = |word: &&String| word.chars().all(|c| c.is_ascii_lowercase());
    let most = if arguments.first().is_some_and(|word| word == "cluster") { 2 } else { 1 };
    let count = arguments.iter().take(most).take_while(is_name).count();
    &arguments[..count]
}

/// The keys behind `--conf` that the page of settings does not have.
pub(crate) fn unknown_settings<'w>(words: &'w [String], page: &str) -> Vec<&'w str> {
    let values = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| *option == "--conf");
    let keys = values.map(|(_, value)| value.split_once('=').map_or(value.as_str(), |(key, _)| key));
    keys.filter(|key| !page.contains(&format!("`{key}`"))).collect()
}

/// The variables that a command sets and no code reads.
pub(crate) fn unread_variables(command: &Documented, files: &[SourceFile]) -> Vec<String> {
    let exported = command.words.iter().filter(|_| command.begins_with("export"));
    let exported = exported.filter_map(|word| word.split_once('=')).map(|(name, _)| name);
    let set = command.variables.iter().map(|(name, _)| name.as_str());
    let is_read = |name: &str| {
        let name = format!("\"{name}\"");
        let is_read = |file: &SourceFile| file.is_rust() && file.text.contains(&name);
        files.iter().any(is_read)
    };
    let unread = set.chain(exported).filter(|name| !FOREIGN_VARIABLES.contains(name) && !is_read(name));
    unread.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::text::find;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_are_known_by_their_whole_names() {
        let help = "  -w, --workers <WORKERS>\n      --deploy-mode <MODE>";

        assert_eq!(
            unknown_options(&words("up --workers 2 --deploy-mode=client -w"), help),
            Vec::<&str>::new()
        );
        assert_eq!(unknown_options(&words("up --worker 2 --deploy x"), help), ["--worker", "--deploy"]);
    }

    #[test]
    fn subcommands_end_where_values_begin() {
        assert_eq!(subcommands(&words("cluster up --workers 2")), words("cluster up"));
        assert_eq!(subcommands(&words("worker firesteel://host:7077")), words("worker"));
        assert_eq!(subcommands(&words("limit join")), words("limit"));
    }

    #[test]
    fn settings_stand_on_their_page() {
        let page = "| `firesteel.ssl.key` | text |";

        assert_eq!(
            unknown_settings(&words("a --conf firesteel.ssl.key=k --conf firesteel.ssl.k=v"), page),
            ["firesteel.ssl.k"]
        );
    }

    #[test]
    fn variables_are_read_by_code() {
        let code = SourceFile { path: "a.rs".to_owned(), text: "env::var(\"CASES_MAX\")".to_owned() };
        let unread = |text: &str| {
            let found = find("a.md", &format!("```sh\n{text}\n```\n"));
            unread_variables(&found[0], std::slice::from_ref(&code))
        };

        assert_eq!(unread("CASES_MAX=1 PROPTEST_CASES=2 cargo test"), Vec::<String>::new());
        assert_eq!(unread("CASES=1 cargo test"), ["CASES"]);
        assert_eq!(unread("export SECRET='a b'"), ["SECRET"]);
    }
}
