//! The line by which a daemon reports that it is ready: [`Ready`].

use std::{
    fmt,
    io::{Write, stdout},
    str::FromStr,
};

/// The line by which a daemon reports that it is ready, for people and for `firesteel cluster up`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    /// `master` or `worker`.
    pub(crate) role: String,
    /// Where it listens.
    pub(crate) url: String,
    /// Where its pages are.
    pub(crate) page: String,
    /// Where it takes drivers over HTTP, if it does.
    pub(crate) rest: Option<String>,
}

impl Ready {
    /// Prints it on standard output.
    pub(super) fn say(&self) {
        // The parent process may have closed the pipe.
        let _ = writeln!(stdout(), "{self}").and_then(|()| stdout().flush());
    }
}

impl fmt::Display for Ready {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "firesteel {} at {}, page at {}", self.role, self.url, self.page)?;
        match &self.rest {
            Some(rest) => write!(out, ", submissions at {rest}"),
            None => Ok(()),
        }
    }
}

/// A line that is not one of [`Ready`].
#[derive(Debug)]
pub(crate) struct NotReady;

impl FromStr for Ready {
    type Err = NotReady;

    fn from_str(line: &str) -> Result<Self, NotReady> {
        let parse = || {
            let (role, rest) = line.trim().strip_prefix("firesteel ")?.split_once(" at ")?;
            let (url, rest) = rest.split_once(", page at ")?;
            let (page, rest) = match rest.split_once(", submissions at ") {
                Some((page, rest)) => (page, Some(rest.to_owned())),
                None => (rest, None),
            };
            Some(Self { role: role.to_owned(), url: url.to_owned(), page: page.to_owned(), rest })
        };
        parse().ok_or(NotReady)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_as_it_is_said() {
        let ready = |rest: Option<&str>| Ready {
            role: "master".to_owned(),
            url: "firesteel://h:7077".to_owned(),
            page: "http://h:8080".to_owned(),
            rest: rest.map(str::to_owned),
        };

        for ready in [ready(None), ready(Some("http://h:6066"))] {
            assert_eq!(format!("{ready}\n").parse::<Ready>().unwrap(), ready);
        }
        assert!("something else".parse::<Ready>().is_err());
    }
}
