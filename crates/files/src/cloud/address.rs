//! Addresses of web servers, taken apart: [`http_location`].

use object_store::path::Path as KeyPath;
use url::Url;

use crate::error::IoError;
use crate::location::Location;

/// Allows a location that is not on this machine.
#[expect(clippy::unnecessary_wraps, reason = "a build without the feature refuses it")]
pub(crate) fn require(_text: &str) -> Result<(), IoError> {
    Ok(())
}

/// Reads an address, whose path is decoded.
pub(crate) fn http_location(text: &str) -> Result<Location, IoError> {
    let bad = |reason: &dyn ToString| IoError::BadLocation {
        location: text.to_owned(),
        reason: reason.to_string(),
    };
    let url = Url::parse(text).map_err(|error| bad(&error))?;
    let key = KeyPath::from_url_path(url.path()).map_err(|error| bad(&error))?;
    let mut store = url[..url::Position::BeforePath].to_owned();
    if let Some(query) = url.query() {
        store = format!("{store}?{query}");
    }
    Ok(Location::Remote { store, key: key.into() })
}
