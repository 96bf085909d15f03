//! The format: what comes back, and what damaged bytes do.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::limits::{DEPTH_MAX, ROW_DEPTH, WEIGHTLESS_MAX};
use super::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    id: u64,
    name: String,
    tags: Vec<Option<char>>,
    counts: BTreeMap<i16, (u8, i64)>,
    kind: Kind,
    price: f64,
    #[serde(skip)]
    cached: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Empty,
    Wide(i128, u128),
    Named { flag: bool, small: i8 },
    Nested(Box<Kind>),
    Unit(()),
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::new(&mut out).append(value).unwrap();
    out
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RowError> {
    let mut decoder = Decoder::new(bytes);
    let value = decoder.take()?;
    decoder.finish()?;
    Ok(value)
}

fn kinds() -> impl Strategy<Value = Kind> {
    let leaf = prop_oneof![
        Just(Kind::Empty),
        Just(Kind::Unit(())),
        any::<(i128, u128)>().prop_map(|(a, b)| Kind::Wide(a, b)),
        any::<(bool, i8)>().prop_map(|(flag, small)| Kind::Named { flag, small }),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| inner.prop_map(|kind| Kind::Nested(Box::new(kind))))
}

fn records() -> impl Strategy<Value = Record> {
    let parts =
        (any::<u64>(), any::<String>(), any::<Vec<Option<char>>>(), any::<BTreeMap<i16, (u8, i64)>>());
    (parts, kinds(), -1e300..1e300).prop_map(|((id, name, tags, counts), kind, price)| Record {
        id,
        name,
        tags,
        counts,
        kind,
        price,
        cached: 0,
    })
}

proptest! {
    #[test]
    fn a_record_comes_back(record in records()) {
        prop_assert_eq!(decode::<Record>(&encode(&record)).unwrap(), record);
    }

    #[test]
    fn numbers_come_back_in_the_fewest_bytes(number: u64, shift in 0_u32..64) {
        let number = number >> shift;
        let bytes = encode(&number);

        prop_assert_eq!(decode::<u64>(&bytes).unwrap(), number);
        prop_assert_eq!(bytes.len(), (64 - number.leading_zeros()).div_ceil(7).clamp(1, 9) as usize);
        let signed = number.cast_signed();
        prop_assert_eq!(decode::<i64>(&encode(&signed)).unwrap(), signed);
        prop_assert_eq!(decode::<i64>(&encode(&signed.wrapping_neg())).unwrap(), signed.wrapping_neg());
    }

    #[test]
    fn any_bytes_are_rows_or_an_error(bytes: Vec<u8>) {
        let _ = decode::<Record>(&bytes);
        let _ = decode::<Vec<Record>>(&bytes);
        let _ = decode::<Vec<(u16, i32, char, bool)>>(&bytes);
        let _ = decode::<HashSet<Option<String>>>(&bytes);
        let _ = decode::<Vec<Vec<()>>>(&bytes);
    }

    #[test]
    fn cut_bytes_are_an_error(record in records(), cut: prop::sample::Index) {
        let bytes = encode(&record);
        let cut = cut.index(bytes.len());

        prop_assert!(decode::<Record>(&bytes[..cut]).is_err());
    }
}

#[test]
fn bytes_after_the_last_row_are_an_error() {
    assert!(matches!(decode::<u8>(&[1, 2, 3]), Err(RowError::Left { bytes: 2 })));
}

#[test]
fn a_length_beyond_the_end_reserves_nothing() {
    let endless = encode(&u64::MAX);

    assert!(matches!(decode::<Vec<u64>>(&endless), Err(RowError::Length { length: u64::MAX, left: 0 })));
    assert!(matches!(decode::<String>(&endless), Err(RowError::Length { length: u64::MAX, left: 0 })));
    assert!(matches!(decode::<Vec<()>>(&endless), Err(RowError::Length { .. })));
}

#[test]
fn values_that_no_type_has_are_refused() {
    assert!(matches!(decode::<bool>(&[2]), Err(RowError::Invalid { found: 2, .. })));
    assert!(matches!(decode::<Option<u8>>(&[7, 1]), Err(RowError::Invalid { found: 7, .. })));
    assert!(matches!(decode::<char>(&encode(&0xD800_u64)), Err(RowError::Invalid { found: 0xD800, .. })));
    assert!(matches!(decode::<u16>(&encode(&70_000_u64)), Err(RowError::TooLarge { number: 70_000, .. })));
    assert!(matches!(decode::<i16>(&encode(&-40_000_i64)), Err(RowError::TooLarge { number: -40_000, .. })));
    assert!(matches!(decode::<String>(&[0b101, 0xC3, 0x28]), Err(RowError::NotText)));
    assert!(matches!(decode::<Kind>(&encode(&9_u32)), Err(RowError::Refused { .. })));
}

#[test]
fn depth_has_a_bound_when_writing_and_when_reading() {
    let nested = |levels: u32| (0..levels).fold(Kind::Empty, |inner, _| Kind::Nested(Box::new(inner)));
    let deepest = nested(DEPTH_MAX - ROW_DEPTH - 1);

    assert_eq!(decode::<Kind>(&encode(&deepest)).unwrap(), deepest);
    let written = Encoder::new(&mut Vec::new()).append(&nested(DEPTH_MAX - ROW_DEPTH + 1));
    assert!(matches!(written, Err(RowError::Depth)), "{written:?}");
    let bomb: Vec<u8> = std::iter::repeat_n(encode(&3_u32), 1_000_000).flatten().collect();
    assert!(matches!(decode::<Kind>(&bomb), Err(RowError::Depth)));
}

#[test]
fn depth_is_counted_per_branch() {
    let flat = vec![vec![Some(1_u8); 3]; 500];

    assert_eq!(decode::<Vec<Vec<Option<u8>>>>(&encode(&flat)).unwrap(), flat);
}

#[test]
fn elements_without_bytes_have_a_bound() {
    let most = vec![(); WEIGHTLESS_MAX];
    assert_eq!(decode::<Vec<()>>(&encode(&most)).unwrap(), most);

    let written = Encoder::new(&mut Vec::new()).append(&vec![(); WEIGHTLESS_MAX + 100]);
    assert!(matches!(written, Err(RowError::Weightless { .. })), "{written:?}");
}

#[test]
fn a_sequence_of_unknown_length_comes_back() {
    #[derive(Debug)]
    struct Odd(Vec<u16>);
    impl Serialize for Odd {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().filter(|number| *number % 2 == 1))
        }
    }

    let bytes = encode(&Odd(vec![1, 2, 3, 4, 1001]));

    assert_eq!(decode::<Vec<u16>>(&bytes).unwrap(), [1, 3, 1001]);
}

#[test]
fn the_attribute_that_no_bytes_can_follow_is_named() {
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u32),
    }
    #[derive(Debug, Serialize)]
    struct Skips {
        #[serde(skip_serializing_if = "Option::is_none")]
        maybe: Option<u32>,
    }
    #[derive(Debug, Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        rest: BTreeMap<String, u32>,
    }

    let untagged = decode::<Untagged>(&encode(&Untagged::Number(1))).unwrap_err();
    assert!(untagged.to_string().contains("`untagged`"), "{untagged}");
    let flat = decode::<Flat>(&encode(&Flat { rest: [("a".to_owned(), 1)].into() })).unwrap_err();
    assert!(flat.to_string().contains("`flatten`"), "{flat}");
    let skips = Encoder::new(&mut Vec::new()).append(&Skips { maybe: None }).unwrap_err();
    assert!(skips.to_string().contains("`maybe`") && skips.to_string().contains("`skip_serializing_if`"));
}

#[test]
fn the_outermost_list_of_a_value_may_have_many_units() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Hidden {
        #[serde(skip)]
        _memory: u64,
    }
    let write = |value: &dyn Fn(&mut Encoder<'_>) -> Result<(), RowError>| {
        let mut out = Vec::new();
        value(&mut Encoder::new(&mut out)).map(|()| out)
    };
    let units = vec![(); 3 * WEIGHTLESS_MAX];

    let bytes = write(&|out| out.append_value(&units)).unwrap();

    assert_eq!(Decoder::new(&bytes).take_value::<Vec<()>>().unwrap(), units);
    assert!(matches!(Decoder::new(&bytes).take::<Vec<()>>(), Err(RowError::Length { .. })));
    assert!(matches!(Decoder::new(&bytes).take_value::<Vec<Hidden>>(), Err(RowError::Weightless { .. })));
    assert!(matches!(write(&|out| out.append_value(&Some(&units))), Err(RowError::Weightless { .. })));
}
