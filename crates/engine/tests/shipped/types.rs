//! Types whose serde attributes ask for more than bytes without names can say.

use std::{collections::BTreeMap, fmt::Debug};

use firesteel::Data;
use serde::{Deserialize, Serialize};

/// A type, some values of it, and the attribute that an error must name. Empty for types that always come back.
pub(crate) trait Awkward: Data + PartialEq + Debug {
    const ATTRIBUTE: &str;

    fn values() -> Vec<Self>;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plain {
    pub(crate) name: String,
    pub(crate) next: Option<Box<Plain>>,
}

impl Awkward for Plain {
    const ATTRIBUTE: &str = "";

    fn values() -> Vec<Self> {
        let last = Self { name: "last".to_owned(), next: None };
        vec![last.clone(), Self { name: String::new(), next: Some(Box::new(last)) }]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Skips {
    pub(crate) a: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) b: Option<u32>,
    pub(crate) c: u32,
}

impl Awkward for Skips {
    const ATTRIBUTE: &str = "skip_serializing_if";

    fn values() -> Vec<Self> {
        vec![Self { a: 1, b: None, c: 0 }, Self { a: 7, b: Some(0), c: 3 }]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Defaults {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) first: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) second: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Awkward for Defaults {
    const ATTRIBUTE: &str = "skip_serializing_if";

    fn values() -> Vec<Self> {
        vec![Self { first: 0, second: 0 }, Self { first: 1, second: 0 }]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(u32),
    Text(String),
}

impl Awkward for Untagged {
    const ATTRIBUTE: &str = "untagged";

    fn values() -> Vec<Self> {
        vec![Self::Number(3), Self::Text("x".to_owned())]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub(crate) enum Tagged {
    Empty,
    Named { number: u32 },
}

impl Awkward for Tagged {
    const ATTRIBUTE: &str = "`tag`";

    fn values() -> Vec<Self> {
        vec![Self::Empty, Self::Named { number: 3 }]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "what")]
pub(crate) enum Adjacent {
    Number(u32),
    Named { text: String },
    Empty,
}

impl Awkward for Adjacent {
    const ATTRIBUTE: &str = "`tag`";

    fn values() -> Vec<Self> {
        vec![Self::Number(3), Self::Named { text: "x".to_owned() }, Self::Empty]
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flat {
    pub(crate) id: u32,
    #[serde(flatten)]
    pub(crate) rest: BTreeMap<String, u32>,
}

impl Awkward for Flat {
    const ATTRIBUTE: &str = "flatten";

    fn values() -> Vec<Self> {
        vec![Self { id: 1, rest: BTreeMap::new() }, Self { id: 2, rest: [("x".to_owned(), 3)].into() }]
    }
}
