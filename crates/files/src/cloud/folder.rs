//! The folder of an output on a remote store, which has no folders: its claim, its objects, its end.
//!
//! The claim is an object below `_temporary`, there while an output is being written. It makes the place exist for other
//! outputs, and names the one that it belongs to.

use std::future::Future;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::multipart::PartId;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use super::runtime;
use super::stores::RemoteObject;
use crate::error::IoError;
use crate::output::{Note, OutputFolder, SUCCESS, StagedContent, StagedFile, TEMPORARY};

/// How many uploads are completed or given up at a time.
const REQUESTS_MAX: usize = 32;

/// The object of a name in the folder.
fn object(folder: &OutputFolder, name: &str) -> Result<RemoteObject, IoError> {
    RemoteObject::at(&folder.location().join(name))
}

fn claim_object(folder: &OutputFolder) -> Result<RemoteObject, IoError> {
    RemoteObject::at(&folder.location().join(TEMPORARY).join("claim"))
}

/// Takes the place for this output; refuses it if another output has it.
pub(crate) fn claim(folder: &OutputFolder) -> Result<(), IoError> {
    let claim = claim_object(folder)?;
    let (store, key) = (Arc::clone(&claim.store), claim.key.clone());
    let text = PutPayload::from(folder.output_id().to_owned());
    let put = runtime::block_on(async move {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match store.put_opts(&key, text.clone(), options).await {
            // A store without conditions: two outputs that begin at the same moment are told apart when one of them
            // is published.
            Err(StoreError::NotImplemented { .. } | StoreError::NotSupported { .. }) => {
                store.put(&key, text).await
            }
            answer => answer,
        }
    })?;
    match put {
        Ok(_) => Ok(()),
        Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => {
            Err(IoError::OutputExists { location: folder.location().to_string() })
        }
        Err(error) => Err(IoError::write(&claim.location, error)),
    }
}

/// Whether the place is still this output's.
fn is_ours(folder: &OutputFolder, claim: &RemoteObject) -> Result<bool, IoError> {
    let (store, key) = (Arc::clone(&claim.store), claim.key.clone());
    let text = runtime::block_on(async move { store.get(&key).await?.bytes().await })?;
    match text {
        Ok(text) => Ok(text == folder.output_id().as_bytes()),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(IoError::read(&claim.location, 0, error)),
    }
}

/// Completes exactly these uploads, writes the notes and `_SUCCESS`, and gives the claim up.
pub(crate) fn publish(folder: &OutputFolder, files: &[StagedFile], notes: &[Note]) -> Result<(), IoError> {
    let claim = claim_object(folder)?;
    if !is_ours(folder, &claim)? {
        return Err(IoError::not_shared(folder.location(), &claim.location));
    }
    for_each_at_once(
        files.iter().map(|file| Ok(complete(object(folder, &file.name)?, file.content.clone()))),
    )?;
    let success = (SUCCESS, String::new());
    for (name, text) in notes.iter().chain([&success]) {
        let note = object(folder, name)?;
        runtime::block_on(put(note, text.clone()))??;
    }
    // The output is whole now. A claim that cannot be removed is hidden, and no reason to throw it away.
    let location = claim.location.clone();
    if let Ok(Err(error)) = runtime::block_on(async move { claim.store.delete(&claim.key).await }) {
        tracing::warn!(%location, %error, "could not remove the claim of an output");
    }
    Ok(())
}

/// Removes what was published, gives the reported uploads up, and the claim last.
pub(crate) fn abort(folder: &OutputFolder, files: &[StagedFile]) -> Result<(), IoError> {
    for_each_at_once(
        files.iter().map(|file| Ok(give_up(object(folder, &file.name)?, file.content.clone()))),
    )?;
    let claim = claim_object(folder)?;
    if !is_ours(folder, &claim)? {
        return Ok(());
    }
    let RemoteObject { store, key, location } = RemoteObject::at(folder.location())?;
    let claim = claim.key;
    let removed = runtime::block_on(async move {
        let mut keys: Vec<_> = store.list(Some(&key)).map_ok(|object| object.location).try_collect().await?;
        keys.retain(|key| *key != claim);
        let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
        store.delete_stream(keys).try_for_each(|_| std::future::ready(Ok(()))).await?;
        store.delete(&claim).await
    })?;
    removed.map_err(|error| IoError::write(&location, error))
}

/// Makes requests, some at a time, until one fails.
fn for_each_at_once<F>(requests: impl Iterator<Item = Result<F, IoError>>) -> Result<(), IoError>
where
    F: Future<Output = Result<(), IoError>> + Send + 'static,
{
    let requests = requests.collect::<Result<Vec<_>, _>>()?;
    runtime::block_on(stream::iter(requests).buffer_unordered(REQUESTS_MAX).try_collect::<()>())?
}

async fn put(object: RemoteObject, text: String) -> Result<(), IoError> {
    let put = object.store.put(&object.key, text.into()).await;
    put.map(drop).map_err(|error| IoError::write(&object.location, error))
}

/// Lets the object of a staged file appear; replaces what has its name.
async fn complete(object: RemoteObject, content: StagedContent) -> Result<(), IoError> {
    match content {
        StagedContent::Upload { id, parts } => {
            let parts = parts.into_iter().map(|content_id| PartId { content_id }).collect();
            let completed = object.uploads()?.complete_multipart(&object.key, &id, parts).await;
            completed.map(drop).map_err(|error| IoError::write(&object.location, error))
        }
        StagedContent::Empty => put(object, String::new()).await,
        StagedContent::Local { .. } => unreachable!("a file of a remote folder is uploaded"),
    }
}

/// Has the store drop the parts of a staged file. It may not have them any more: the upload was completed.
async fn give_up(object: RemoteObject, content: StagedContent) -> Result<(), IoError> {
    if let StagedContent::Upload { id, .. } = content
        && let Err(error) = object.uploads()?.abort_multipart(&object.key, &id).await
    {
        tracing::debug!(location = %object.location, %error, "an upload is not there to be given up");
    }
    Ok(())
}
