//! Types whose serde attributes ask for more than bytes without names can express.

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
pub(crate) struct Aliased {
    #[serde(alias = "first", alias = "one")]
    pub(crate) a: u32,
    pub(crate) b: Option<String>,
}

impl Awkward for Aliased {
    const ATTRIBUTE: &str = "";

    fn values() -> Vec<Self> {
        vec![Self { a: 1, b: None }, Self { a: 2, b: Some("x".to_owned()) }, Self { a: 3, b: None }]
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

/// Types that write other fields than they read, each with an attribute that must be named.
pub(crate) mod one_sided {
    use std::collections::HashMap;

    use serde::{Deserialize, Serialize};

    use super::Awkward;

    const WRITES_LESS: &str = "instead of `skip_serializing` alone";
    const READS_LESS: &str = "instead of `skip_deserializing` alone";

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct WritesLess {
        pub(crate) a: u32,
        #[serde(skip_serializing)]
        pub(crate) b: u32,
        pub(crate) c: u32,
    }

    const WRITTEN: WritesLess = WritesLess { a: 1, b: 2, c: 3 };

    /// So many that the numbers of some rows without a field are those of fewer rows with all of them.
    fn distinct<T>(make: impl FnMut(u32) -> T) -> Vec<T> {
        (1..=6).map(make).collect()
    }

    impl Awkward for WritesLess {
        const ATTRIBUTE: &str = "instead of `skip_serializing` alone on `b`";

        fn values() -> Vec<Self> {
            distinct(|a| Self { a, ..WRITTEN })
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct ReadsLess {
        pub(crate) a: u32,
        #[serde(skip_deserializing)]
        pub(crate) b: u32,
        pub(crate) c: u32,
    }

    const READ: ReadsLess = ReadsLess { a: 1, b: 2, c: 3 };

    impl Awkward for ReadsLess {
        const ATTRIBUTE: &str = "instead of `skip_deserializing` alone on `b`";

        fn values() -> Vec<Self> {
            distinct(|a| Self { a, ..READ })
        }
    }

    impl Awkward for Vec<Option<WritesLess>> {
        const ATTRIBUTE: &str = WRITES_LESS;

        fn values() -> Vec<Self> {
            vec![vec![None], vec![Some(WRITTEN), None, Some(WRITTEN)]]
        }
    }

    impl Awkward for HashMap<u32, ReadsLess> {
        const ATTRIBUTE: &str = READS_LESS;

        fn values() -> Vec<Self> {
            vec![Self::new(), [(7, READ)].into()]
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) enum Variants {
        Empty,
        Whole {
            a: u32,
            b: u32,
        },
        Part {
            a: u32,
            b: Option<u32>,
            #[serde(skip_serializing)]
            c: Option<u32>,
        },
    }

    impl Awkward for Variants {
        const ATTRIBUTE: &str = "instead of `skip_serializing` alone on `c`";

        fn values() -> Vec<Self> {
            vec![Self::Empty, Self::Whole { a: 1, b: 2 }, Self::Part { a: 1, b: None, c: Some(3) }]
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) enum Positions {
        Empty,
        One(#[serde(skip_deserializing)] u32),
        Two(u32, u32),
    }

    impl Awkward for Positions {
        const ATTRIBUTE: &str = READS_LESS;

        fn values() -> Vec<Self> {
            vec![Self::Empty, Self::One(1), Self::Two(1, 2)]
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Generic<T>(u32, T, #[serde(skip_serializing)] T);

    impl Awkward for Generic<u32> {
        const ATTRIBUTE: &str = WRITES_LESS;

        fn values() -> Vec<Self> {
            distinct(|first| Self(first, 2, 3))
        }
    }

    /// No made-up text is one of its currencies, so only a real value shows it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) struct Price {
        pub(crate) currency: Currency,
        #[serde(skip_serializing)]
        pub(crate) rate: u32,
        pub(crate) cents: u32,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    pub(crate) struct Currency(String);

    impl TryFrom<String> for Currency {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            if text == "EUR" { Ok(Self(text)) } else { Err(format!("no currency: {text}")) }
        }
    }

    impl From<Currency> for String {
        fn from(currency: Currency) -> Self {
            currency.0
        }
    }

    impl Awkward for Price {
        const ATTRIBUTE: &str = "instead of `skip_serializing` alone on `rate`";

        fn values() -> Vec<Self> {
            distinct(|cents| Self { currency: Currency("EUR".to_owned()), rate: 2, cents })
        }
    }

    /// serde counts the variant that is skipped when it writes, and does not when it reads.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub(crate) enum Shifted {
        #[serde(skip)]
        #[expect(dead_code, reason = "only its place matters")]
        Hidden,
        First(u32),
        Second(u32),
        Third(u32),
    }

    impl Awkward for Shifted {
        const ATTRIBUTE: &str = "move variants with `#[serde(skip)]` behind all others";

        fn values() -> Vec<Self> {
            vec![Self::First(1), Self::Second(2), Self::Third(3)]
        }
    }
}
