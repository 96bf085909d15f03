//! The command of an executor or driver, and the placeholders in it.
//!
//! Pure text work: [`Command::filled`] knows nothing of processes.

use std::collections::BTreeMap;

use firesteel_types::{AppId, ExecutorId, Host, ProfileId};
use serde::{Deserialize, Serialize};

use super::artifact::Artifact;

/// A program, its arguments and what is set in its environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program. [`Command::EXECUTABLE`] stands for the one among the artifacts.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// The files it needs, which the worker fetches before it starts the program.
    pub artifacts: Vec<Artifact>,
}

/// The values of the placeholders. What is `None` is not known for this kind of process; its placeholder
/// stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholders<'a> {
    /// `{{DRIVER_URL}}`
    pub driver_url: Option<&'a str>,
    /// `{{EXECUTOR_ID}}`
    pub executor: Option<ExecutorId>,
    /// `{{HOSTNAME}}`
    pub host: &'a Host,
    /// `{{CORES}}`
    pub cores: u32,
    /// `{{APP_ID}}`
    pub app: Option<&'a AppId>,
    /// `{{WORKER_URL}}`
    pub worker_url: &'a str,
    /// `{{RESOURCE_PROFILE_ID}}`
    pub profile: Option<ProfileId>,
}

impl Placeholders<'_> {
    fn value(&self, name: &str) -> Option<String> {
        match name {
            "DRIVER_URL" => self.driver_url.map(str::to_owned),
            "EXECUTOR_ID" => self.executor.map(|executor| executor.0.to_string()),
            "HOSTNAME" => Some(self.host.to_string()),
            "CORES" => Some(self.cores.to_string()),
            "APP_ID" => self.app.map(ToString::to_string),
            "WORKER_URL" => Some(self.worker_url.to_owned()),
            "RESOURCE_PROFILE_ID" => self.profile.map(|profile| profile.0.to_string()),
            _ => None,
        }
    }

    /// Goes once over `text`, so a value that looks like a placeholder is not replaced in its turn.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let (before, from_open) = rest.split_at(start);
            filled.push_str(before);
            let value = from_open.find("}}").and_then(|end| Some((self.value(&from_open[2..end])?, end + 2)));
            let (put, taken) = value.unwrap_or_else(|| ("{".to_owned(), 1));
            filled.push_str(&put);
            rest = &from_open[taken..];
        }
        filled.push_str(rest);
        filled
    }
}

impl Command {
    /// The program of a command whose executable is one of its artifacts.
    pub const EXECUTABLE: &'static str = "{{EXECUTABLE}}";

    /// The command with every placeholder in its arguments and environment replaced by its value.
    ///
    /// Spark replaces whole arguments, and parts of some Java options; here a placeholder may stand anywhere.
    /// Unknown placeholders are left alone: double braces may mean something to the program.
    #[must_use]
    pub fn filled(&self, values: &Placeholders<'_>) -> Self {
        let environment = &self.environment;
        Self {
            program: self.program.clone(),
            arguments: self.arguments.iter().map(|argument| values.fill(argument)).collect(),
            environment: environment.iter().map(|(key, text)| (key.clone(), values.fill(text))).collect(),
            artifacts: self.artifacts.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(app: &str, text: &str) -> String {
        let (host, app) = (Host::from("h1"), AppId::from(app));
        let values = Placeholders {
            driver_url: Some("fs://driver:7"),
            executor: Some(ExecutorId(3)),
            host: &host,
            cores: 4,
            app: Some(&app),
            worker_url: "fs://h1:9",
            profile: Some(ProfileId(2)),
        };
        let command = Command { arguments: vec![text.to_owned()], ..Command::default() };

        command.filled(&values).arguments.remove(0)
    }

    /// Behaviours: WORK-010.
    #[test]
    fn every_placeholder_is_replaced_by_its_value() {
        let cases = [
            ("{{DRIVER_URL}}", "fs://driver:7"),
            ("{{EXECUTOR_ID}}", "3"),
            ("{{HOSTNAME}}", "h1"),
            ("{{CORES}}", "4"),
            ("{{APP_ID}}", "app-1"),
            ("{{WORKER_URL}}", "fs://h1:9"),
            ("{{RESOURCE_PROFILE_ID}}", "2"),
            ("--log={{APP_ID}}-{{EXECUTOR_ID}}.log", "--log=app-1-3.log"),
        ];

        for (template, expected) in cases {
            assert_eq!(fill("app-1", template), expected);
        }
    }

    #[test]
    fn what_is_no_placeholder_stays() {
        for text in ["{{OTHER}}", "{{", "{{{", "a}}b{{CORES", "{CORES}", ""] {
            assert_eq!(fill("app-1", text), text);
        }
        assert_eq!(fill("app-1", "{{{CORES}}"), "{4");
    }

    #[test]
    fn a_value_is_not_searched_for_placeholders() {
        assert_eq!(fill("{{CORES}}", "{{APP_ID}}"), "{{CORES}}");
    }

    #[test]
    fn the_environment_is_filled_and_the_program_is_not() {
        let host = Host::from("h1");
        let values = Placeholders {
            driver_url: None,
            executor: None,
            host: &host,
            cores: 1,
            app: None,
            worker_url: "w",
            profile: None,
        };
        let variables = |text: &str| BTreeMap::from([("KEY".to_owned(), text.to_owned())]);
        let command = Command {
            program: "{{HOSTNAME}}".to_owned(),
            arguments: vec!["{{APP_ID}}".to_owned()],
            environment: variables("{{HOSTNAME}}"),
            artifacts: vec![],
        };

        let filled = command.filled(&values);

        assert_eq!(filled, Command { environment: variables("h1"), ..command });
    }
}
