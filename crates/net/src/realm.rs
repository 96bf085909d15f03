//! Whom a secret belongs to: [`Realm`].

use std::{fmt, sync::Arc};

use firesteel_types::AppId;
use serde::{Deserialize, Serialize};

const CLUSTER: &str = "cluster";

/// Whom a secret belongs to: one application, or the cluster.
///
/// ```
/// use firesteel_net::Realm;
/// use firesteel_types::AppId;
///
/// let app = AppId::from("app-1");
/// assert_eq!(Realm::from(&app).app(), Some(app));
/// assert_eq!(Realm::cluster().app(), None);
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Realm(Arc<str>);

impl Realm {
    /// The masters and workers of a cluster, and those who use it.
    pub fn cluster() -> Self {
        Self::from(CLUSTER)
    }

    /// The name, which travels in clear.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The application, none for the cluster.
    pub fn app(&self) -> Option<AppId> {
        (*self.0 != *CLUSTER).then(|| AppId::from(&*self.0))
    }
}

impl From<&AppId> for Realm {
    fn from(app: &AppId) -> Self {
        Self::from(app.as_str())
    }
}

impl From<&str> for Realm {
    fn from(name: &str) -> Self {
        Self(Arc::from(name))
    }
}

impl fmt::Display for Realm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Realm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
