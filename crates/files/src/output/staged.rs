//! A file that is written and that no reader sees yet: [`StagedFile`].

use serde::{Deserialize, Serialize};

/// What an attempt reports of the file that it has written: enough for the driver to publish exactly that one.
///
/// The attempt keeps no right to it. A file whose report never arrives is never published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedFile {
    /// The name that the file gets in the output folder.
    pub name: String,
    /// Where its content waits.
    pub content: StagedContent,
}

/// Where the content of a staged file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StagedContent {
    /// In a file of this name in the staging folder.
    Local { staged_name: String },
    /// In the parts of a multipart upload, which becomes an object when it is completed.
    Upload { id: String, parts: Vec<String> },
    /// There is none. Stores make no object from an upload without parts.
    Empty,
}
