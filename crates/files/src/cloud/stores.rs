//! The remote stores in use: one client for each scheme and bucket, made at first use and kept.
//!
//! Credentials and settings come from the environment, under the names `object_store` reads (`AWS_ACCESS_KEY_ID`,
//! `AWS_ENDPOINT_URL`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` …). Nothing here makes a request.

use std::fmt;
use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;
use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path as KeyPath;
use parking_lot::Mutex;

use super::client;
use crate::error::IoError;
use crate::location::Location;

type Stores = HashMap<String, Store>;

static STORES: LazyLock<Mutex<Stores>> = LazyLock::new(Mutex::default);

/// The client of a store.
#[derive(Clone)]
pub(crate) struct Store {
    objects: Arc<dyn ObjectStore>,
    /// Uploads that one process begins and another completes; none where the store can be read only.
    uploads: Option<Arc<dyn MultipartStore>>,
}

impl Store {
    /// One that is written to as well.
    pub(crate) fn writable<S: ObjectStore + MultipartStore>(store: Arc<S>) -> Self {
        Self { objects: Arc::clone(&store) as Arc<dyn ObjectStore>, uploads: Some(store) }
    }

    /// One that is read only.
    pub(crate) fn read_only(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects, uploads: None }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Store").field(&self.objects).finish()
    }
}

/// An object on a remote store, ready for requests.
#[derive(Debug, Clone)]
pub(crate) struct RemoteObject {
    pub store: Arc<dyn ObjectStore>,
    pub key: KeyPath,
    pub location: Location,
}

impl RemoteObject {
    /// Finds or makes the client for a remote location.
    pub(crate) fn at(location: &Location) -> Result<Self, IoError> {
        match location {
            Location::Remote { store, key } => Self::new(location, store, key),
            Location::Local(path) => Err(IoError::BadLocation {
                location: path.clone(),
                reason: "it is on no remote store".to_owned(),
            }),
        }
    }

    /// The same; `store` and `key` are its parts.
    pub(crate) fn new(location: &Location, store: &str, key: &str) -> Result<Self, IoError> {
        let bad = |error: object_store::path::Error| IoError::BadLocation {
            location: location.to_string(),
            reason: error.to_string(),
        };
        let key = KeyPath::parse(key).map_err(bad)?;
        Ok(Self { store: store_at(location, store)?.objects, key, location: location.clone() })
    }

    /// Where uploads in parts go; an error if the store can be read only.
    pub(crate) fn uploads(&self) -> Result<Arc<dyn MultipartStore>, IoError> {
        let uploads = match &self.location {
            Location::Remote { store, .. } => store_at(&self.location, store)?.uploads,
            Location::Local(_) => None,
        };
        uploads.ok_or_else(|| IoError::ReadOnly { location: self.location.to_string() })
    }
}

fn store_at(location: &Location, address: &str) -> Result<Store, IoError> {
    let mut stores = STORES.lock();
    if let Some(store) = stores.get(address) {
        return Ok(store.clone());
    }
    let store = build(location, address)?;
    // A query is mostly the signature of one file, and such clients would pile up.
    if !address.contains('?') {
        stores.insert(address.to_owned(), store.clone());
    }
    Ok(store)
}

fn build(location: &Location, address: &str) -> Result<Store, IoError> {
    let bad = |error: object_store::Error| IoError::BadLocation {
        location: location.to_string(),
        reason: error.to_string(),
    };
    client::client(address).map_err(bad)
}

/// Puts a store in the place of the one that the address would give.
#[cfg(test)]
pub(crate) fn install(address: &str, store: Arc<dyn ObjectStore>) {
    STORES.lock().insert(address.to_owned(), Store::read_only(store));
}

/// The same with a store that is written to.
#[cfg(test)]
pub(crate) fn install_writable<S: ObjectStore + MultipartStore>(address: &str, store: Arc<S>) {
    STORES.lock().insert(address.to_owned(), Store::writable(store));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> Result<RemoteObject, IoError> {
        let location = Location::parse(text).unwrap();
        let Location::Remote { store, key } = &location else { panic!("{text} is local") };
        RemoteObject::new(&location, store, key)
    }

    #[test]
    fn a_store_is_made_once_for_each_scheme_and_bucket() {
        let first = remote("http://stores.invalid/a").unwrap();
        let second = remote("http://stores.invalid/b").unwrap();
        let signed = remote("http://stores.invalid/a?sig=1").unwrap();

        assert!(Arc::ptr_eq(&first.store, &second.store));
        assert!(!Arc::ptr_eq(&first.store, &signed.store));
        assert!(!STORES.lock().contains_key("http://stores.invalid?sig=1"), "signed addresses are not kept");
    }

    #[test]
    fn each_remote_scheme_has_a_client() {
        for text in ["s3://stores-test/a", "s3a://stores-test/a", "http://stores.invalid/a"] {
            assert_eq!(remote(text).unwrap().key.as_ref(), "a", "{text}");
        }
        let error = remote("az://stores-test/a").unwrap_err().to_string();
        assert!(error.starts_with("cannot use `az://stores-test/a` as a path: "), "{error}");
    }

    #[test]
    fn a_key_that_no_store_takes_is_refused() {
        let error = remote("s3://stores-test/a/../b").unwrap_err().to_string();

        assert!(error.starts_with("cannot use `s3://stores-test/a/../b` as a path: "), "{error}");
    }
}
