//! Bytes in hexadecimal, as they stand in environments and headers.

use std::fmt::Write;

/// Two digits for each byte.
///
/// ```
/// use firesteel_net::hex;
///
/// assert_eq!(hex::encode(&[0, 171, 255]), "00abff");
/// assert_eq!(hex::decode("00ABff"), Some(vec![0, 171, 255]));
/// ```
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a String takes any text");
        hex
    })
}

/// The bytes that [`encode`] wrote, in digits of either case; none for anything else.
pub fn decode(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}
