//! What rows, keys, values and environments must be able to do.

use serde::{Serialize, de::DeserializeOwned};

/// A type that can be a row of an [`Rdd`](crate::Rdd), or travel with a closure.
///
/// Implemented for everything that is owned, can be cloned, shared between threads and serialized; there is nothing
/// to write by hand.
///
/// ```
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct Visit {
///     url: String,
///     bytes: u64,
/// }
///
/// fn is_data<T: firesteel::Data>() {}
/// is_data::<Visit>();
/// is_data::<(String, Vec<u64>)>();
/// ```
pub trait Data: Clone + Send + Sync + Serialize + DeserializeOwned + 'static {}

impl<T: Clone + Send + Sync + Serialize + DeserializeOwned + 'static> Data for T {}
