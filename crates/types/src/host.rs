//! The name of a machine.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// A host name, cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Host(Arc<str>);

impl Host {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Host {
    fn from(name: &str) -> Self {
        Self(Arc::from(name))
    }
}

impl From<String> for Host {
    fn from(name: String) -> Self {
        Self(Arc::from(name))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
