//! What the JSON of masters and workers has in common.

use firesteel_scheduler::deploy::Addresses;
use serde_json::{Map, Value, json};

/// Addresses of custom resources as Spark writes them: `{"gpu": {"name": "gpu", "addresses": ["0"]}}`.
pub(crate) fn resources(addresses: &Addresses) -> Value {
    let one = |(name, addresses): (&firesteel_types::ResourceName, &std::collections::BTreeSet<_>)| {
        (name.to_string(), json!({ "name": &**name, "addresses": addresses }))
    };
    Value::Object(addresses.iter().map(one).collect::<Map<_, _>>())
}
