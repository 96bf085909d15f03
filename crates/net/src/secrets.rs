//! Where a listener looks up secrets: [`Secrets`].

use hashbrown::HashMap;
use parking_lot::RwLock;

use crate::{realm::Realm, secret::Secret};

/// Where a listener looks up the secret of a realm.
pub trait Secrets: Send + Sync {
    /// The secret of `realm`, none when it is not served here.
    fn secret(&self, realm: &Realm) -> Option<Secret>;
}

/// The secret of the only realm that a process serves.
#[derive(Clone, Debug)]
pub struct OneSecret {
    /// The realm.
    pub realm: Realm,
    /// Its secret.
    pub secret: Secret,
}

impl Secrets for OneSecret {
    fn secret(&self, realm: &Realm) -> Option<Secret> {
        (*realm == self.realm).then(|| self.secret.clone())
    }
}

/// Realms that come and go: the cluster and the applications of a worker.
///
/// ```
/// use firesteel_net::{Keyring, Realm, Secret, Secrets};
///
/// let keyring = Keyring::default();
/// keyring.insert(Realm::from("app-1"), Secret::random());
/// assert!(keyring.secret(&Realm::from("app-1")).is_some());
/// keyring.remove(&Realm::from("app-1"));
/// assert!(keyring.secret(&Realm::from("app-1")).is_none());
/// ```
#[derive(Debug, Default)]
pub struct Keyring(RwLock<HashMap<Realm, Secret>>);

impl Keyring {
    /// Serves `realm` from now on.
    pub fn insert(&self, realm: Realm, secret: Secret) {
        self.0.write().insert(realm, secret);
    }

    /// Refuses every later connection of `realm`. Connections that are open stay open.
    pub fn remove(&self, realm: &Realm) {
        self.0.write().remove(realm);
    }
}

impl Secrets for Keyring {
    fn secret(&self, realm: &Realm) -> Option<Secret> {
        self.0.read().get(realm).cloned()
    }
}
