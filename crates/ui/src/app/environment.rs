//! What an application runs with: [`EnvironmentData`].

use std::collections::BTreeMap;

use serde::Serialize;

/// Replaces the value of a setting that may hold a secret, as in Spark.
const REDACTED: &str = "*********(redacted)";

/// A setting whose key contains one of these holds a secret.
const SECRET_KEY_PARTS: [&str; 6] = ["secret", "password", "passwd", "token", "credential", "access.key"];

/// What an application runs with. Values that may be secrets are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentData {
    /// The program and the machine.
    runtime: BTreeMap<&'static str, String>,
    /// The settings that are not at their defaults, by key.
    spark_properties: Vec<(String, String)>,
}

impl EnvironmentData {
    /// The settings, and what is known of the program and the machine.
    ///
    /// ```
    /// # use firesteel_ui::app::EnvironmentData;
    /// let settings = [("firesteel.app.name", "etl"), ("firesteel.authenticate.secret", "0123456789abcdef")];
    /// let environment = EnvironmentData::new(settings, [("os", "linux".to_owned())]);
    /// assert_eq!(environment.settings()[0], ("firesteel.app.name".to_owned(), "etl".to_owned()));
    /// assert!(!environment.settings()[1].1.contains("0123456789abcdef"));
    /// ```
    pub fn new<'a>(
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
        runtime: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        let shown = |(key, value): (&str, &str)| {
            let lower = key.to_ascii_lowercase();
            let is_hidden = SECRET_KEY_PARTS.iter().any(|telltale| lower.contains(telltale));
            (key.to_owned(), if is_hidden { REDACTED.to_owned() } else { value.to_owned() })
        };
        Self {
            runtime: runtime.into_iter().collect(),
            spark_properties: settings.into_iter().map(shown).collect(),
        }
    }

    /// The settings that are not at their defaults, as they may be shown.
    pub fn settings(&self) -> &[(String, String)] {
        &self.spark_properties
    }

    /// What is known of the program and the machine.
    pub fn runtime(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.runtime.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
