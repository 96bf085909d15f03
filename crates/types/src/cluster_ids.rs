//! The names that a standalone cluster gives to its workers, applications and drivers.
//!
//! Texts, unlike the numbered ids of one application: each carries the time it was made, so that it means the
//! same to two masters. How they are made is not known here.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::ExecutorId;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Whether the name can be that of a directory, so that removing the directory removes nothing else.
            pub fn is_plain_name(&self) -> bool {
                is_plain_name(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// One worker process. The worker makes its id itself; a restarted worker has a new one.
    WorkerId;
    /// One application, named by the master when it registers.
    AppId;
    /// One driver that the cluster runs, named by the master when it is submitted and again when it is relaunched.
    DriverId;
}

/// Whether `name` can be that of a file or directory, so that it leads to nothing outside of its parent.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// One executor of one application: executor numbers are only unique inside their application.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExecutorKey {
    /// The application.
    pub app: AppId,
    /// The executor's number in it.
    pub executor: ExecutorId,
}

impl ExecutorKey {
    /// The executor `executor` of `app`.
    pub fn new(app: impl Into<AppId>, executor: u32) -> Self {
        Self { app: app.into(), executor: ExecutorId(executor) }
    }
}

impl fmt::Display for ExecutorKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.app, self.executor.0)
    }
}

impl fmt::Debug for ExecutorKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_a_directory_are_not_plain() {
        assert!(AppId::from("app-20240229123456-0001").is_plain_name());
        for bad in ["", ".", "..", "a/b", "a\\b", "a\0b"] {
            assert!(!DriverId::from(bad).is_plain_name(), "{bad:?}");
        }
    }

    #[test]
    fn an_executor_reads_as_application_and_number() {
        assert_eq!(ExecutorKey::new("app-1", 3).to_string(), "app-1/3");
    }
}
