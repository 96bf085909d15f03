//! Settings from the environment and from files.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use super::{error::ConfError, lines, origin::Origin, values::Conf};

/// Names a file of settings.
const CONF: &str = "FIRESTEEL_CONF";
/// Holds settings, one a line, as in the file.
const SETTINGS: &str = "FIRESTEEL_SETTINGS";
/// Variables for one setting each. They go before [`SETTINGS`].
const SINGLE: [(&str, &str); 6] = [
    ("FIRESTEEL_MASTER", "firesteel.master"),
    ("FIRESTEEL_APP_NAME", "firesteel.app.name"),
    ("FIRESTEEL_AUTHENTICATE_SECRET", "firesteel.authenticate.secret"),
    ("FIRESTEEL_SSL_CERTIFICATE", "firesteel.ssl.certificate"),
    ("FIRESTEEL_SSL_KEY", "firesteel.ssl.key"),
    ("FIRESTEEL_SSL_TRUSTED", "firesteel.ssl.trusted"),
];

impl Conf {
    /// Reads the settings of this process's environment.
    ///
    /// | variable | holds |
    /// |---|---|
    /// | `FIRESTEEL_CONF` | the path of a file of settings |
    /// | `FIRESTEEL_SETTINGS` | settings, one a line, as in the file; they go before the file's |
    /// | `FIRESTEEL_MASTER` | `firesteel.master`; it goes before all others |
    /// | `FIRESTEEL_APP_NAME` | `firesteel.app.name`; it goes before all others |
    /// | `FIRESTEEL_AUTHENTICATE_SECRET` | `firesteel.authenticate.secret`, likewise |
    /// | `FIRESTEEL_SSL_CERTIFICATE`, `…_KEY`, `…_TRUSTED` | `firesteel.ssl.certificate` and its like, likewise |
    ///
    /// A line is `key value` or `key=value`; blank lines and lines that begin with `#` are passed over. A variable
    /// that is empty counts as not there. A file that cannot be read, an unknown key and a wrong value are errors
    /// that name the place.
    ///
    /// ```
    /// use firesteel::Conf;
    ///
    /// let conf = Conf::from_env()?;
    /// # assert!(conf.to_lines().lines().all(|line| line.starts_with("firesteel.")));
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn from_env() -> Result<Self, ConfError> {
        Self::from_lookup(|variable| env::var_os(variable))
    }

    /// Reads the settings of any environment: `lookup` gives the value of a variable.
    ///
    /// ```
    /// use firesteel::{Conf, settings};
    ///
    /// let conf = Conf::from_lookup(|variable| {
    ///     (variable == "FIRESTEEL_SETTINGS").then(|| "firesteel.task.cpus=2\nfiresteel.app.name etl".into())
    /// })?;
    ///
    /// assert_eq!(conf.get(settings::TASK_CPUS).whole(), 2);
    /// assert_eq!(conf.get(settings::APP_NAME).as_deref(), Some("etl"));
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfError> {
        let lookup = |variable: &str| lookup(variable).filter(|value| !value.is_empty());
        let text = |variable: &'static str| match lookup(variable).map(OsString::into_string) {
            Some(Err(_)) => Err(ConfError::NotUnicode { variable }),
            Some(Ok(value)) => Ok(Some(value)),
            None => Ok(None),
        };
        let mut conf = Self::new();
        if let Some(path) = lookup(CONF) {
            conf.assign_file(&PathBuf::from(path), CONF)?;
        }
        if let Some(settings) = text(SETTINGS)? {
            conf.assign_lines(&settings, |line| Origin::Environment {
                variable: SETTINGS,
                line: Some(line),
            })?;
        }
        for (variable, key) in SINGLE {
            if let Some(value) = text(variable)? {
                conf.assign_at(key, &value, Origin::Environment { variable, line: None })?;
            }
        }
        Ok(conf)
    }

    /// Reads a file of settings, in the form that [`from_env`](Self::from_env) describes.
    ///
    /// What the program or the environment has set stays as it is.
    ///
    /// ```no_run
    /// use firesteel::Conf;
    ///
    /// let conf = Conf::from_env()?.read_file("conf/firesteel.conf")?;
    /// # Ok::<(), firesteel::ConfError>(())
    /// ```
    pub fn read_file(mut self, path: impl AsRef<Path>) -> Result<Self, ConfError> {
        self.assign_file(path.as_ref(), "the program")?;
        Ok(self)
    }

    fn assign_file(&mut self, path: &Path, named_by: &'static str) -> Result<(), ConfError> {
        let text = fs::read_to_string(path).map_err(|source| ConfError::Unreadable {
            path: path.to_owned(),
            named_by,
            source,
        })?;
        self.assign_lines(&text, |line| Origin::File { path: path.to_owned(), line })
    }

    fn assign_lines(&mut self, text: &str, origin: impl Fn(usize) -> Origin) -> Result<(), ConfError> {
        lines::parse(text).try_for_each(|(line, key, value)| self.assign_at(key, value, origin(line)))
    }

    /// Takes a value; an error names its origin.
    fn assign_at(&mut self, key: &str, value: &str, origin: Origin) -> Result<(), ConfError> {
        self.assign(key, value, origin.clone())
            .map_err(|problem| ConfError::At { origin, problem: Box::new(problem) })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;
    use crate::{conf::tests::TempFile, security};
    use firesteel_types::settings;

    fn read(variables: &[(&str, &str)]) -> Result<Conf, ConfError> {
        Conf::from_lookup(|wanted| {
            variables.iter().find(|(variable, _)| *variable == wanted).map(|(_, value)| value.into())
        })
    }

    fn message(variables: &[(&str, &str)]) -> String {
        read(variables).unwrap_err().to_string()
    }

    #[test]
    fn an_empty_environment_leaves_the_defaults() {
        let nothing = read(&[]).unwrap();
        let empty = read(&[(CONF, ""), (SETTINGS, ""), ("FIRESTEEL_MASTER", "")]).unwrap();

        assert_eq!((nothing.iter().count(), empty.iter().count()), (0, 0));
    }

    #[test]
    fn single_variables_go_before_settings_and_those_before_the_file() {
        let file = TempFile::new(
            "firesteel.master local[1]\nfiresteel.task.cpus=4\n# firesteel.task.cpus=5\nfiresteel.app.name file",
        );
        let settings = "firesteel.master local[2]\nfiresteel.task.cpus 2";

        let conf =
            read(&[(CONF, file.path()), (SETTINGS, settings), ("FIRESTEEL_MASTER", "local[3]")]).unwrap();

        assert_eq!(conf.get(settings::MASTER).to_string(), "local[3]");
        assert_eq!(conf.get(settings::TASK_CPUS).whole(), 2);
        assert_eq!(conf.get(settings::APP_NAME).as_deref(), Some("file"));
        assert_eq!(
            conf.origin(settings::TASK_CPUS),
            Origin::Environment { variable: SETTINGS, line: Some(2) }
        );
        assert_eq!(conf.origin(settings::APP_NAME), Origin::File { path: file.path().into(), line: 4 });
    }

    #[test]
    fn a_secret_in_hexadecimal_is_the_same_as_its_text() {
        const TEXT: &str = "sixteen letters and more";
        let hex = firesteel_net::Secret::new(TEXT.as_bytes()).unwrap().to_hex();

        let [written, given] = [TEXT.to_owned(), format!("hex:{hex}")].map(|value| {
            let conf = read(&[("FIRESTEEL_AUTHENTICATE_SECRET", &value)]).unwrap();
            let secret = security::of_conf(&conf).unwrap().secret;
            secret.expect("there is one").expose().to_vec()
        });

        assert_eq!(written, given);
    }

    #[test]
    fn the_program_goes_before_a_file_read_later() {
        let file = TempFile::new("firesteel.app.name file\nfiresteel.task.cpus 4");

        let conf = Conf::new().set(settings::APP_NAME, "code").unwrap().read_file(file.path()).unwrap();

        assert_eq!(conf.get(settings::APP_NAME).as_deref(), Some("code"));
        assert_eq!(conf.get(settings::TASK_CPUS).whole(), 4);
    }

    #[test]
    fn errors_name_the_place() {
        let file = TempFile::new("\nfiresteel.task.cpu 2");
        let path = file.path();

        assert_eq!(
            message(&[(CONF, path)]),
            format!(
                "{path} line 2: unknown setting `firesteel.task.cpu`; did you mean `firesteel.task.cpus`?"
            )
        );
        assert_eq!(
            message(&[(SETTINGS, "firesteel.speculation maybe")]),
            "environment variable FIRESTEEL_SETTINGS line 1: setting `firesteel.speculation` cannot be `maybe`: it \
             must be true or false"
        );
        let master = message(&[("FIRESTEEL_MASTER", "locally")]);
        assert!(
            master.starts_with("environment variable FIRESTEEL_MASTER: setting `firesteel.master` cannot be"),
            "{master}"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_that_says_who_named_it() {
        assert_eq!(
            message(&[(CONF, "/nowhere/firesteel.conf")]),
            "cannot read `/nowhere/firesteel.conf`, the file that FIRESTEEL_CONF names"
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        let error = Conf::from_lookup(|variable| {
            (variable == "FIRESTEEL_APP_NAME").then(|| OsString::from_vec(vec![0xff]))
        });

        assert!(matches!(error, Err(ConfError::NotUnicode { variable: "FIRESTEEL_APP_NAME" })));
    }

    #[test]
    fn lines_take_all_settings_to_another_process() {
        let conf = read(&[("FIRESTEEL_MASTER", "local[2,3]"), ("FIRESTEEL_APP_NAME", "a = #b ")])
            .unwrap()
            .set(settings::LOCALITY_WAIT, "3s")
            .unwrap();

        let there = read(&[(SETTINGS, &conf.to_lines())]).unwrap();

        assert_eq!(there.to_lines(), conf.to_lines());
        assert_eq!(there.get(settings::APP_NAME).as_deref(), Some("a = #b"));
        assert_eq!(there.get(settings::MASTER).to_string(), "local[2,3]");
    }
}
