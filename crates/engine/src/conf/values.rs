//! [`Conf`]: the values that were set.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    sync::Arc,
};

use firesteel_types::settings::{self, Entry, Preset, Setting, SettingType, Value};

use super::{error::ConfError, origin::Origin};

/// The settings of an application.
///
/// Values come from the program, from the environment, from a file, or are defaults, and go before each other in
/// this order, whichever was read first. A key that is not known and a value that its setting does not take are
/// refused when they are set, so reading never fails. A clone costs nothing and is independent.
///
/// ```
/// use firesteel::{Conf, settings};
///
/// let conf = Conf::new().set("firesteel.task.maxFailures", 8)?.set("firesteel.locality.wait", "500ms")?;
///
/// assert_eq!(conf.get(settings::TASK_MAX_FAILURES), 8);
/// assert_eq!(conf.get(settings::LOCALITY_WAIT_NODE).as_millis(), 500);
/// # Ok::<(), firesteel::ConfError>(())
/// ```
#[must_use = "settings have no effect until a context is made with them"]
#[derive(Clone, Default)]
pub struct Conf {
    values: Arc<BTreeMap<&'static str, Assigned>>,
}

/// A value that was set.
#[derive(Clone)]
struct Assigned {
    text: String,
    value: Value,
    origin: Origin,
}

impl Conf {
    /// Makes settings that are all at their defaults; neither the environment nor a file is looked at.
    ///
    /// ```
    /// use firesteel::{Conf, settings};
    ///
    /// assert_eq!(Conf::new().get(settings::MASTER).to_string(), "local[*]");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the setting `key` to `value`, written as in a file.
    ///
    /// An unknown key is an error that names the nearest known one; a value that does not fit is an error that
    /// tells what does.
    ///
    /// ```
    /// use firesteel::Conf;
    ///
    /// let error = Conf::new().set("spark.task.cpus", 2).unwrap_err();
    /// assert_eq!(error.to_string(), "unknown setting `spark.task.cpus`; did you mean `firesteel.task.cpus`?");
    /// ```
    pub fn set(mut self, key: impl AsRef<str>, value: impl fmt::Display) -> Result<Self, ConfError> {
        self.assign(key.as_ref(), &value.to_string(), Origin::Code)?;
        Ok(self)
    }

    /// The value of a setting, or its default.
    ///
    /// ```
    /// use firesteel::{Conf, settings};
    ///
    /// let conf = Conf::new().set(settings::CHECKPOINT_DIR, "/var/checkpoints")?;
    ///
    /// assert_eq!(conf.get(settings::CHECKPOINT_DIR).as_deref(), Some("/var/checkpoints"));
    /// assert_eq!(conf.get(settings::APP_NAME), None);
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn get<T: SettingType>(&self, setting: Setting<T>) -> T {
        T::from_value(self.value(&setting.entry())).expect("a setting has the type of its kind")
    }

    /// Where the value of a setting was set.
    ///
    /// ```
    /// use firesteel::{Conf, Origin, settings};
    ///
    /// let conf = Conf::new().set(settings::TASK_CPUS, 2)?;
    ///
    /// assert_eq!(conf.origin(settings::TASK_CPUS), Origin::Code);
    /// assert_eq!(conf.origin(settings::MASTER), Origin::Default);
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn origin<T>(&self, setting: Setting<T>) -> Origin {
        self.values.get(setting.key()).map_or(Origin::Default, |assigned| assigned.origin.clone())
    }

    /// The settings that are not at their defaults, as key, text and origin, in the order of the keys.
    ///
    /// ```
    /// use firesteel::{Conf, Origin};
    ///
    /// let conf = Conf::new().set("firesteel.app.name", "etl")?;
    ///
    /// assert_eq!(conf.iter().collect::<Vec<_>>(), [("firesteel.app.name", "etl", &Origin::Code)]);
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str, &Origin)> {
        self.values.iter().map(|(key, assigned)| (*key, assigned.text.as_str(), &assigned.origin))
    }

    /// The settings that are not at their defaults as lines `key=value`, which is how another process takes them
    /// from the environment variable `FIRESTEEL_SETTINGS`.
    ///
    /// ```
    /// use firesteel::Conf;
    ///
    /// let conf = Conf::new().set("firesteel.task.cpus", 2)?.set("firesteel.app.name", "etl")?;
    ///
    /// assert_eq!(conf.to_lines(), "firesteel.app.name=etl\nfiresteel.task.cpus=2\n");
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn to_lines(&self) -> String {
        self.iter().fold(String::new(), |mut lines, (key, text, _)| {
            writeln!(lines, "{key}={text}").expect("a text takes whatever is written to it");
            lines
        })
    }

    /// The application's name, or that of its executable.
    pub(crate) fn app_name(&self) -> String {
        let of_executable = || {
            let own = std::env::current_exe().ok()?;
            Some(own.file_name()?.to_string_lossy().into_owned())
        };
        let name = self.get(settings::APP_NAME).or_else(of_executable);
        name.unwrap_or_else(|| "application".to_owned())
    }

    /// Takes a value from `origin`, unless one of a higher layer is there.
    pub(super) fn assign(&mut self, key: &str, text: &str, origin: Origin) -> Result<(), ConfError> {
        let entry = settings::find(key)
            .ok_or_else(|| ConfError::UnknownKey { key: key.to_owned(), nearest: settings::nearest(key) })?;
        let text = text.trim().to_owned();
        let value = match entry.kind.parse(&text) {
            Ok(value) => value,
            Err(reason) => return Err(ConfError::InvalidValue { key: entry.key, value: text, reason }),
        };
        let held = self.values.get(key).map_or(0, |assigned| assigned.origin.layer());
        if held <= origin.layer() {
            Arc::make_mut(&mut self.values).insert(entry.key, Assigned { text, value, origin });
        }
        Ok(())
    }

    fn value(&self, entry: &Entry) -> Option<Value> {
        if let Some(assigned) = self.values.get(entry.key) {
            return Some(assigned.value.clone());
        }
        match entry.preset {
            Preset::Is(text) => Some(entry.kind.parse(text).expect("a default is a value of its setting")),
            Preset::SameAs(key) => self.value(settings::find(key).expect("a setting leans on a known one")),
            Preset::Unset => None,
        }
    }
}

/// The settings that are not at their defaults.
impl fmt::Debug for Conf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.iter().map(|(key, text, _)| (key, text))).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ENVIRONMENT: Origin = Origin::Environment { variable: "FIRESTEEL_SETTINGS", line: Some(1) };

    fn file() -> Origin {
        Origin::File { path: "a.conf".into(), line: 1 }
    }

    fn message(key: &str, value: &str) -> String {
        Conf::new().set(key, value).unwrap_err().to_string()
    }

    #[test]
    fn every_setting_can_be_read_at_its_default() {
        let conf = Conf::new();

        for entry in settings::entries() {
            let has_value = conf.value(entry).is_some();
            assert_eq!(has_value, entry.preset != Preset::Unset, "{}", entry.key);
        }
        assert_eq!(conf.get(settings::SCHEDULER_MODE), settings::SchedulerMode::Fifo);
        assert_eq!(conf.get(settings::DRIVER_MAX_RESULT_SIZE), 1 << 30);
        assert_eq!(conf.get(settings::DEFAULT_PARALLELISM), None);
    }

    #[test]
    fn a_setting_that_leans_on_another_follows_it_until_it_is_set() {
        let conf = Conf::new().set(settings::LOCALITY_WAIT, "7s").unwrap();
        let own = conf.clone().set(settings::LOCALITY_WAIT_RACK, "1s").unwrap();

        assert_eq!(conf.get(settings::LOCALITY_WAIT_RACK), Duration::from_secs(7));
        assert_eq!(own.get(settings::LOCALITY_WAIT_RACK), Duration::from_secs(1));
        assert_eq!(own.get(settings::LOCALITY_WAIT_NODE), Duration::from_secs(7));
    }

    #[test]
    fn the_higher_layer_wins_whichever_comes_first() {
        let key = settings::TASK_MAX_FAILURES.key();
        let layers = [(file(), "2"), (ENVIRONMENT, "3"), (Origin::Code, "5")];

        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut conf = Conf::new();
            let mut highest = 0;
            for layer in order {
                let (origin, text) = &layers[layer];
                conf.assign(key, text, origin.clone()).unwrap();
                highest = highest.max(layer);

                let (origin, text) = &layers[highest];
                assert_eq!(conf.get(settings::TASK_MAX_FAILURES).to_string(), *text);
                assert_eq!(conf.origin(settings::TASK_MAX_FAILURES), *origin);
            }
        }
    }

    #[test]
    fn the_later_value_of_one_layer_wins() {
        let conf = Conf::new().set(settings::TASK_CPUS, "2").unwrap().set(settings::TASK_CPUS, "3").unwrap();

        assert_eq!(conf.get(settings::TASK_CPUS).whole(), 3);
    }

    #[test]
    fn a_clone_is_independent() {
        let before = Conf::new().set(settings::APP_NAME, "a").unwrap();
        let after = before.clone().set(settings::APP_NAME, "b").unwrap();

        assert_eq!(before.get(settings::APP_NAME).as_deref(), Some("a"));
        assert_eq!(after.get(settings::APP_NAME).as_deref(), Some("b"));
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_known_one() {
        assert_eq!(
            message("firesteel.task.maxFailure", "1"),
            "unknown setting `firesteel.task.maxFailure`; did you mean `firesteel.task.maxFailures`?"
        );
        assert_eq!(
            message("my.own.key", "1"),
            "unknown setting `my.own.key`; docs/settings.md lists all settings"
        );
    }

    #[test]
    fn a_wrong_value_is_refused_with_what_is_expected() {
        assert_eq!(
            message("firesteel.task.maxFailures", " many "),
            "setting `firesteel.task.maxFailures` cannot be `many`: it must be a whole number of at least 1"
        );
        let master = message("firesteel.master", "spark://h:7077");
        assert!(
            master.starts_with(
                "setting `firesteel.master` cannot be `spark://h:7077`: it has none of the known forms; use local,"
            ),
            "{master}"
        );
    }

    #[test]
    fn a_refused_value_leaves_the_settings_as_they_were() {
        let mut conf = Conf::new().set(settings::TASK_CPUS, 2).unwrap();

        assert!(conf.assign(settings::TASK_CPUS.key(), "none", Origin::Code).is_err());

        assert_eq!(conf.get(settings::TASK_CPUS).whole(), 2);
    }
}
