//! What every store can do, and the one that does nothing: [`Store`], [`NoStore`].

use firesteel_scheduler::master::{ObjectName, StoredObject};

use super::error::StoreError;

/// Keeps the objects of a master.
pub trait Store: Send {
    /// Stores an object under its name, for good when this returns. A name that is in use is an error.
    fn persist(&mut self, object: &StoredObject) -> Result<(), StoreError>;

    /// Removes an object. One that is not there is fine.
    fn forget(&mut self, name: &ObjectName) -> Result<(), StoreError>;

    /// Everything that was stored and not removed. What cannot be read is left out, with an error in the log.
    fn load(&mut self) -> Result<Vec<StoredObject>, StoreError>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl Store for NoStore {
    fn persist(&mut self, _: &StoredObject) -> Result<(), StoreError> {
        Ok(())
    }

    fn forget(&mut self, _: &ObjectName) -> Result<(), StoreError> {
        Ok(())
    }

    fn load(&mut self) -> Result<Vec<StoredObject>, StoreError> {
        Ok(Vec::new())
    }
}
