//! Types that do not read what they write.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::super::verdict::compare_value;
use super::asserts::{is_refused, is_sound, is_unproven};

#[derive(Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Clone)]
struct WritesLess {
    a: u32,
    #[serde(skip_serializing)]
    b: u32,
    c: u32,
}

const WRITES_LESS: &str = "`WritesLess` writes the fields a, c and reads the fields a, b, c: \
    use serde's `skip` instead of `skip_serializing` alone on `b`";

#[derive(Serialize, Deserialize)]
struct ReadsLess {
    a: u32,
    #[serde(skip_deserializing)]
    b: String,
}

const READS_LESS: &str = "`ReadsLess` writes the fields a, b and reads the field a: \
    use serde's `skip` instead of `skip_deserializing` alone on `b`";

#[test]
fn a_field_that_is_only_read_or_only_written_is_found_wherever_it_stands() {
    is_refused::<WritesLess>(WRITES_LESS);
    is_refused::<Vec<WritesLess>>(WRITES_LESS);
    is_refused::<Option<Box<WritesLess>>>(WRITES_LESS);
    is_refused::<HashMap<u32, Vec<Option<WritesLess>>>>(WRITES_LESS);
    is_refused::<BTreeSet<WritesLess>>(WRITES_LESS);
    is_refused::<(u64, String, [WritesLess; 2])>(WRITES_LESS);
    is_refused::<Result<u32, WritesLess>>(WRITES_LESS);
    is_refused::<ReadsLess>(READS_LESS);
    is_refused::<(Vec<u8>, Option<ReadsLess>)>(READS_LESS);
}

#[test]
fn so_is_one_in_a_variant() {
    #[derive(Serialize, Deserialize)]
    enum Named {
        Whole {
            a: u32,
        },
        Part {
            a: u32,
            #[serde(skip_serializing)]
            b: Option<u32>,
        },
    }
    #[derive(Serialize, Deserialize)]
    enum One {
        Empty,
        Single(#[serde(skip_serializing)] u32),
    }
    #[derive(Serialize, Deserialize)]
    enum OneRead {
        Single(#[serde(skip_deserializing)] u32),
    }
    #[derive(Serialize, Deserialize)]
    enum Two {
        Pair(u32, #[serde(skip_deserializing)] u32),
    }

    is_refused::<Named>(
        "`Named::Part` writes the field a and reads the fields a, b: \
         use serde's `skip` instead of `skip_serializing` alone on `b`",
    );
    is_refused::<One>(
        "`One::Single` writes no fields and reads 1 field: use serde's `skip` instead of `skip_serializing` alone",
    );
    is_refused::<OneRead>(
        "`OneRead::Single` writes 1 field and reads no fields: \
         use serde's `skip` instead of `skip_deserializing` alone",
    );
    is_refused::<Two>(
        "`Two::Pair` writes 2 fields and reads 1 field: use serde's `skip` instead of `skip_deserializing` alone",
    );
}

#[test]
fn so_is_one_in_a_generic_or_recursive_type_or_behind_a_field_that_refuses_some_values() {
    #[derive(Serialize, Deserialize)]
    struct Generic<T>(T, u32, #[serde(skip_serializing)] T);
    #[derive(Serialize, Deserialize)]
    enum Tree {
        Branch(Box<Tree>, Box<Tree>),
        List { items: Vec<Tree>, payload: Option<WritesLess> },
        Leaf(i64),
    }
    /// The first run ends at an address that is none, when the rows in front of it were seen.
    #[derive(Serialize, Deserialize)]
    #[serde(try_from = "String", into = "String")]
    #[derive(Clone)]
    struct Address(IpAddr);
    impl TryFrom<String> for Address {
        type Error = std::net::AddrParseError;
        fn try_from(text: String) -> Result<Self, Self::Error> {
            text.parse().map(Self)
        }
    }
    impl From<Address> for String {
        fn from(address: Address) -> Self {
            address.0.to_string()
        }
    }

    is_refused::<Generic<String>>(
        "`Generic` writes 2 fields and reads 3 fields: use serde's `skip` instead of `skip_serializing` alone",
    );
    is_refused::<Tree>(WRITES_LESS);
    is_refused::<(Vec<WritesLess>, Address)>(WRITES_LESS);
    is_sound::<(Vec<u32>, Address)>();
}

#[test]
fn the_record_with_the_attribute_is_named_and_not_one_that_stands_in_the_place_of_another() {
    #[derive(Serialize, Deserialize)]
    struct Small {
        p: u8,
    }
    #[derive(Serialize, Deserialize)]
    struct Large {
        x: u8,
        y: u8,
    }
    #[derive(Serialize, Deserialize)]
    struct Outer {
        #[serde(skip_serializing)]
        #[expect(dead_code, reason = "it is only read")]
        small: Small,
        large: Large,
    }

    is_refused::<Outer>(
        "`Outer` writes the field large and reads the fields small, large: \
         use serde's `skip` instead of `skip_serializing` alone on `small`",
    );
}

#[test]
fn a_field_in_the_place_of_another_is_found_if_others_move() {
    #[derive(Serialize, Deserialize)]
    struct Migrated {
        #[serde(skip_serializing)]
        #[expect(dead_code, reason = "it is only read")]
        old: u32,
        kept: u32,
        #[serde(skip_deserializing)]
        new: u32,
    }

    is_refused::<Migrated>(
        "`Migrated` writes the fields kept, new and reads the fields old, kept: \
         use serde's `skip` instead of `skip_serializing` alone on `old` and `skip_deserializing` alone on `new`",
    );
}

#[test]
fn a_type_that_is_written_through_another_one_than_it_is_read_through() {
    #[derive(Clone, Serialize, Deserialize)]
    #[serde(from = "Input", into = "Output")]
    struct Converted(u32);
    #[derive(Deserialize)]
    struct Input {
        value: u32,
        #[expect(dead_code, reason = "it is read")]
        more: u32,
    }
    #[derive(Serialize)]
    struct Output {
        value: u32,
    }
    impl From<Input> for Converted {
        fn from(input: Input) -> Self {
            Self(input.value)
        }
    }
    impl From<Converted> for Output {
        fn from(converted: Converted) -> Self {
            Self { value: converted.0 }
        }
    }

    is_refused::<Converted>(
        "`Output` writes the field value and reads the fields value, more: \
         use serde's `skip` instead of `skip_serializing` alone on `more`",
    );
}

#[test]
fn variants_behind_one_that_is_skipped_are_read_as_others() {
    #[derive(Serialize, Deserialize)]
    enum Middle {
        First,
        #[serde(skip)]
        #[expect(dead_code, reason = "only its place matters")]
        Hidden,
        Second(u32),
    }
    #[derive(Serialize, Deserialize)]
    enum Last {
        First,
        Second(u32),
        #[serde(skip)]
        #[expect(dead_code, reason = "only its place matters")]
        Hidden,
    }

    is_refused::<Middle>(
        "`Middle::Second` is written as variant 2 and read as variant 1: \
         move variants with `#[serde(skip)]` behind all others",
    );
    is_sound::<Last>();
}

#[test]
fn a_type_that_refuses_made_up_values_is_compared_by_real_ones() {
    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct Word;
    impl TryFrom<String> for Word {
        type Error = &'static str;
        fn try_from(text: String) -> Result<Self, Self::Error> {
            if text == "word" { Ok(Self) } else { Err("another word") }
        }
    }
    impl Serialize for Word {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str("word")
        }
    }

    is_unproven::<(Word, WritesLess)>();
    is_unproven::<(Word, u32)>();
    let mismatch = compare_value(&(Word, WritesLess::default())).unwrap_err();
    assert_eq!(mismatch.to_string(), WRITES_LESS);
    compare_value(&(Word, 1_u32)).unwrap();
    // Large values are compared as far as it is quick.
    let many = vec![WritesLess::default(); 100_000];
    assert_eq!(compare_value(&(Word, many)).unwrap_err().to_string(), WRITES_LESS);
    compare_value(&(Word, vec![(1_u32, 2_u32); 100_000])).unwrap();
}
