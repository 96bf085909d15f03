//! What is at a place of a remote store, and what is below it: [`look_up`] and [`list`].
//!
//! A remote store has no folders, only keys; what lies below a key's slash makes a folder of it.

use futures_util::StreamExt;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::http;
use super::runtime;
use super::stores::RemoteObject;
use crate::error::IoError;
use crate::list::{Entry, Kind};
use crate::location::Location;

/// Says what is at a place, or `None` when there is nothing.
pub(crate) fn look_up(place: &Location) -> Result<Option<Kind>, IoError> {
    if place.is_http() {
        return Ok(http::look_up(place)?.map(|file| Kind::File { size: file.size }));
    }
    let RemoteObject { store, key, location } = RemoteObject::at(place)?;
    let answer = runtime::block_on(async move {
        // The root of a bucket has no key that could be asked for.
        if !key.is_root() {
            match store.head(&key).await {
                Ok(meta) => return Ok(Some(Kind::File { size: meta.size })),
                Err(object_store::Error::NotFound { .. }) => (),
                Err(error) => return Err(error),
            }
        }
        // One key below it is enough; a folder may hold very many.
        match store.list(Some(&key)).next().await {
            Some(Ok(_)) => Ok(Some(Kind::Folder)),
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    })?;
    answer.map_err(|error| IoError::read(&location, 0, error))
}

/// Lists what is directly in a folder, in the order of the store.
pub(crate) fn list(place: &Location) -> Result<Vec<Entry>, IoError> {
    let RemoteObject { store, key, location } = RemoteObject::at(place)?;
    let folder = key.clone();
    let below = runtime::block_on(async move { store.list_with_delimiter(Some(&key)).await })?
        .map_err(|error| IoError::read(&location, 0, error))?;
    let file = |meta: &ObjectMeta| (meta.location.clone(), Kind::File { size: meta.size });
    let found = below.objects.iter().map(file);
    let found = found.chain(below.common_prefixes.into_iter().map(|prefix| (prefix, Kind::Folder)));
    let entry = |(key, kind): (object_store::path::Path, Kind)| {
        // Some tools mark a folder with an empty object of the folder's own name.
        let name = key.filename().filter(|_| key != folder)?;
        Some(Entry { location: location.join(name), kind })
    };
    Ok(found.filter_map(entry).collect())
}
