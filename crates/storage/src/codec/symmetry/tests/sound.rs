//! Types that must not be taken for such that do not read what they write.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::de::{Deserializer, Visitor};
use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::super::verdict::compare_value;
use super::asserts::{is_sound, is_unproven};

#[test]
fn types_of_the_standard_library_are_sound() {
    is_sound::<(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, usize, isize)>();
    is_sound::<(f32, f64, bool, char, String, (), PhantomData<String>)>();
    is_sound::<Vec<(String, Option<Vec<u8>>)>>();
    is_sound::<(HashMap<String, u32>, BTreeMap<u32, Vec<String>>, HashSet<u32>, BTreeSet<(u8, u8)>)>();
    is_sound::<(VecDeque<u32>, Box<str>, Box<[u32]>, Cow<'static, str>, Cow<'static, [u32]>)>();
    is_sound::<(std::rc::Rc<str>, std::sync::Arc<Vec<u32>>, RefCell<u32>, std::sync::Mutex<String>)>();
    is_sound::<([u32; 32], [String; 1], [u8; 0])>();
    is_sound::<(Duration, SystemTime, IpAddr, SocketAddr, PathBuf, NonZeroU32, std::ops::Range<u32>)>();
    is_sound::<(Option<Option<u32>>, Result<String, u32>, std::cmp::Reverse<u32>, bytes::Bytes)>();
    is_sound::<(std::num::Wrapping<u8>, std::ops::Bound<u32>, std::ffi::CString, Option<()>)>();
}

#[derive(Serialize, Deserialize)]
struct Unit;

#[derive(Serialize, Deserialize)]
struct Empty {}

#[test]
fn attributes_that_are_carried_are_sound() {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all(serialize = "camelCase", deserialize = "SCREAMING_SNAKE_CASE"))]
    struct Renamed {
        first_field: u32,
        #[serde(rename(serialize = "x", deserialize = "y"), alias = "z")]
        second_field: String,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    struct Skipped {
        a: u32,
        #[serde(skip)]
        b: u32,
        #[serde(default, with = "as_text")]
        c: u32,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Transparent {
        only: Skipped,
    }
    #[derive(Serialize, Deserialize)]
    enum Kinds {
        Unit,
        Newtype(Box<Kinds>),
        Tuple(u32, #[serde(skip)] u32, Vec<Kinds>),
        Named {
            #[serde(skip)]
            a: u32,
            b: Option<Box<Kinds>>,
        },
        #[serde(rename(serialize = "written", deserialize = "read"))]
        Renamed(Unit),
        Empty {},
    }
    #[derive(Serialize, Deserialize)]
    #[serde(remote = "Duration")]
    struct Span {
        #[serde(getter = "Duration::as_secs")]
        secs: u64,
        #[serde(getter = "Duration::subsec_nanos")]
        nanos: u32,
    }
    impl From<Span> for Duration {
        fn from(span: Span) -> Self {
            Self::new(span.secs, span.nanos)
        }
    }
    #[derive(Serialize, Deserialize)]
    struct Remote {
        #[serde(with = "Span")]
        span: Duration,
    }

    is_sound::<Renamed>();
    is_sound::<Skipped>();
    is_sound::<Transparent>();
    is_sound::<Kinds>();
    is_sound::<Remote>();
    is_sound::<(Unit, Empty, Unit)>();
}

mod as_text {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(number: &u32, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() { Ok(0) } else { text.parse().map_err(D::Error::custom) }
    }
}

#[test]
fn a_field_without_bytes_may_be_left_out() {
    #[derive(Serialize, Deserialize)]
    struct Marked {
        #[serde(skip_serializing)]
        #[expect(dead_code, reason = "it is only read")]
        empty: Empty,
        inner: Renumbered,
        #[serde(skip_serializing)]
        marker: PhantomData<u32>,
        #[serde(skip_deserializing)]
        unit: (),
    }
    #[derive(Serialize, Deserialize)]
    struct Renumbered {
        a: u32,
        b: u32,
    }

    is_sound::<Marked>();
}

#[test]
fn an_old_form_that_is_read_and_not_written_any_more_is_sound() {
    #[derive(Clone, Serialize, Deserialize)]
    #[serde(from = "Versions", into = "Versions")]
    struct Current {
        a: u32,
        b: u32,
    }
    #[derive(Serialize, Deserialize)]
    enum Versions {
        First(u32),
        Second { a: u32, b: u32 },
    }
    impl From<Versions> for Current {
        fn from(versions: Versions) -> Self {
            match versions {
                Versions::First(a) => Self { a, b: 0 },
                Versions::Second { a, b } => Self { a, b },
            }
        }
    }
    impl From<Current> for Versions {
        fn from(current: Current) -> Self {
            Self::Second { a: current.a, b: current.b }
        }
    }

    is_sound::<Current>();
}

#[test]
fn implementations_by_hand_are_sound() {
    /// Written as a struct, read as a pair; its names are listed in another order.
    struct Hand(u32, String);
    impl Serialize for Hand {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("Hand", 2)?;
            fields.serialize_field("number", &self.0)?;
            fields.serialize_field("text", &self.1)?;
            fields.end()
        }
    }
    impl<'de> Deserialize<'de> for Hand {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Fields;
            impl<'de> Visitor<'de> for Fields {
                type Value = Hand;
                fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    out.write_str("a number and a text")
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut fields: A) -> Result<Hand, A::Error> {
                    let missing = || serde::de::Error::custom("too short");
                    let number = fields.next_element()?.ok_or_else(missing)?;
                    Ok(Hand(number, fields.next_element()?.ok_or_else(missing)?))
                }
            }
            deserializer.deserialize_struct("Hand", &["text", "number"], Fields)
        }
    }
    /// The same bytes in another nesting.
    struct Nested(u32, u32, u32);
    impl Serialize for Nested {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (self.0, self.1, self.2).serialize(serializer)
        }
    }
    impl<'de> Deserialize<'de> for Nested {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let (a, (b, c)) = Deserialize::deserialize(deserializer)?;
            Ok(Self(a, b, c))
        }
    }

    /// Written as a map, read as a list of pairs.
    struct Pairs(Vec<((u32, u32, u32), u32)>);
    impl Serialize for Pairs {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
        }
    }
    impl<'de> Deserialize<'de> for Pairs {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Deserialize::deserialize(deserializer).map(Self)
        }
    }

    is_sound::<(Hand, Nested, u32)>();
    is_sound::<Vec<Pairs>>();
}

#[test]
fn what_asks_for_more_than_bytes_say_is_left_to_the_reader() {
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u32),
    }
    #[derive(Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u32>,
    }
    #[derive(Serialize, Deserialize)]
    struct Sometimes {
        #[serde(skip_serializing_if = "String::is_empty")]
        text: String,
        last: u32,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind", content = "what")]
    enum Adjacent {
        Empty,
        Number(u32),
    }

    compare_value(&Adjacent::Empty).unwrap();
    compare_value(&Adjacent::Number(1)).unwrap();
    is_unproven::<Adjacent>();
    is_unproven::<Untagged>();
    is_unproven::<Flat>();
    is_unproven::<Sometimes>();
    compare_value(&Sometimes { text: String::new(), last: 1 }).unwrap();
}

#[test]
fn a_type_that_panics_hides_nothing_and_ends_nothing() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }
    impl Serialize for Bomb {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_u8(1)
        }
    }
    impl<'de> Deserialize<'de> for Bomb {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            u8::deserialize(deserializer).map(|_| Self)
        }
    }
    struct Unwritable(u8);
    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
            panic!("{} has no bytes", self.0);
        }
    }
    impl<'de> Deserialize<'de> for Unwritable {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            u8::deserialize(deserializer).map(Self)
        }
    }

    is_unproven::<(Unwritable, u32)>();
    is_sound::<Vec<Bomb>>();
    compare_value(&Unwritable(1)).unwrap();
}

#[test]
fn large_and_endless_types_end_soon() {
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            Vec::<Self>::new().serialize(serializer)
        }
    }
    impl<'de> Deserialize<'de> for Endless {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Vec::<Self>::deserialize(deserializer).map(|_| Self)
        }
    }
    #[derive(Serialize, Deserialize)]
    struct Wide<T>([T; 32]);

    is_unproven::<Endless>();
    is_unproven::<Wide<Wide<Wide<Option<u8>>>>>();
    is_sound::<Wide<Wide<Option<u8>>>>();
}
