//! Shapes of types of all kinds.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU32;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};

use super::text::{Shape, TEXT_MAX};
use crate::codec::format::RowError;

#[track_caller]
fn has_shape<T: DeserializeOwned>(expected: &str) {
    assert_eq!(Shape::of::<T>().unwrap().as_str(), expected);
}

#[derive(Serialize, Deserialize)]
struct Row {
    name: String,
    values: Vec<u64>,
    next: Option<Box<Row>>,
}

#[derive(Serialize, Deserialize)]
enum Kind {
    Nested(Box<Kind>),
    Empty,
    Wide(i128, f32),
    Named { flag: bool, small: i8 },
    Pair(Option<Box<Kind>>, char),
}

#[derive(Serialize, Deserialize)]
struct Wrapper<T>(T);

#[derive(Serialize, Deserialize)]
struct Field<T> {
    value: T,
}

#[test]
fn plain_types() {
    has_shape::<(u64, String)>("(u64, String)");
    has_shape::<(i64, String)>("(i64, String)");
    has_shape::<(u32, String, Option<i64>)>("(u32, String, Option<i64>)");
    has_shape::<Vec<(bool, char)>>("[(bool, char)]");
    has_shape::<HashSet<u8>>("[u8]");
    has_shape::<BTreeMap<String, Vec<f64>>>("Map<String, [f64]>");
    has_shape::<[u16; 32]>("[u16; 32]");
    has_shape::<()>("()");
}

#[test]
fn structs_and_enums_by_the_names_of_their_fields_and_variants() {
    has_shape::<Row>("{name: String, values: [u64], next: Option<^1>}");
    has_shape::<Kind>(
        "enum {Nested ^1, Empty (), Wide (i128, f32), Named {flag: bool, small: i8}, Pair (Option<^1>, char)}",
    );
    has_shape::<Wrapper<Wrapper<u64>>>("u64");
    has_shape::<Field<Field<i32>>>("{value: {value: i32}}");
}

#[test]
fn a_type_that_refuses_some_values_is_seen_to_its_end() {
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct Address(std::net::IpAddr);
    impl TryFrom<String> for Address {
        type Error = std::net::AddrParseError;
        fn try_from(text: String) -> Result<Self, Self::Error> {
            text.parse().map(Self)
        }
    }

    has_shape::<(NonZeroU32, i16)>("(u32, i16)");
    has_shape::<(Address, u64)>("(String, u64)");
}

#[test]
fn a_second_name_of_a_field_is_no_field() {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct Aliased {
        first: u32,
        #[serde(alias = "then")]
        second: Option<String>,
    }

    has_shape::<Vec<Aliased>>("[{first: u32, second: Option<String>}]");
}

#[test]
fn what_cannot_be_seen_is_left_open() {
    struct Never;
    impl<'de> Deserialize<'de> for Never {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            u8::deserialize(deserializer)?;
            panic!("no value is good enough");
        }
    }
    struct Endless;
    impl<'de> Deserialize<'de> for Endless {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Vec::<Endless>::deserialize(deserializer).map(|_| Self)
        }
    }

    has_shape::<(i16, Never, u32)>("(i16, u8, _)");
    assert!(Shape::of::<Endless>().unwrap().as_str().starts_with("[[[["));
}

#[test]
fn types_that_no_bytes_can_be_read_as_have_no_shape() {
    #[derive(Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    enum Untagged {
        Number(u32),
    }
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u32>,
    }

    assert!(matches!(Shape::of::<(u8, Option<Untagged>)>(), Err(RowError::NotSelfDescribing)));
    assert!(matches!(Shape::of::<Vec<Flat>>(), Err(RowError::NotNamed)));
}

#[test]
fn a_long_shape_keeps_its_difference() {
    let long = |last: &str| Shape::from_text("x".repeat(10_000) + last);

    assert!(long("a").as_str().len() <= TEXT_MAX);
    assert_ne!(long("a"), long("b"));
    assert_eq!(Shape::from_text(long("a").to_string()), long("a"));
}
