//! What both ends of a connection know: [`Secret`].

use std::{fmt, sync::Arc};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::hex;

/// The fewest bytes of a secret: a reader of the traffic can guess short ones offline from a proof.
const SECRET_MIN: usize = 16;

/// The size of a signature.
pub(crate) const SIGNATURE_LEN: usize = 32;

/// What stands in for a secret where there is none. Everybody knows it.
const PUBLIC_SECRET: &[u8] = b"firesteel cluster without a secret";

/// What only the processes of one realm know.
///
/// Must be random: a secret that can be guessed can be found from one recorded connection.
///
/// ```
/// use firesteel_net::Secret;
///
/// let secret = Secret::random();
/// assert_eq!(secret.expose().len(), 32);
/// assert_eq!(format!("{secret:?}"), "Secret(32 bytes)");
///
/// let travelled = Secret::from_hex(&secret.to_hex())?;
/// let sealed = secret.seal(b"for those who know it");
/// assert_eq!(travelled.open(&sealed).as_deref(), Some(&b"for those who know it"[..]));
/// # Ok::<(), firesteel_net::BadSecret>(())
/// ```
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

/// Bytes or a text that cannot be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSecret {
    /// It can be guessed.
    #[error("a secret of {len} bytes can be guessed; give at least {SECRET_MIN} random bytes")]
    TooShort {
        /// Its length.
        len: usize,
    },
    /// It should be hexadecimal and is not.
    #[error("a secret in hexadecimal has an even number of digits 0-9 and a-f, and this has not")]
    NotHex,
}

impl Secret {
    /// Takes over a secret that another process or an operator made.
    pub fn new(bytes: &[u8]) -> Result<Self, BadSecret> {
        match bytes.len() {
            len if len < SECRET_MIN => Err(BadSecret::TooShort { len }),
            _ => Ok(Self(Arc::from(bytes))),
        }
    }

    /// Makes a new secret of 32 random bytes.
    pub fn random() -> Self {
        Self(Arc::from(random_bytes::<32>().as_slice()))
    }

    /// The well-known secret of a cluster that has none. It protects nothing: for loopback only.
    pub fn public() -> Self {
        Self(Arc::from(PUBLIC_SECRET))
    }

    /// Whether this is [`Self::public`], which must not be used beyond loopback.
    pub fn is_public(&self) -> bool {
        *self.0 == *PUBLIC_SECRET
    }

    /// The bytes, for the one who must give them to the realm's other processes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The HMAC-SHA256 of `text` under the secret, which only those who know it can make.
    ///
    /// ```
    /// use firesteel_net::Secret;
    ///
    /// let secret = Secret::random();
    /// let signature = secret.sign(b"a text");
    /// assert!(secret.has_signed(b"a text", &signature));
    /// assert!(!secret.has_signed(b"another text", &signature));
    /// ```
    pub fn sign(&self, text: &[u8]) -> [u8; SIGNATURE_LEN] {
        self.signer(text).finalize().into_bytes().into()
    }

    /// Whether `signature` is what [`Self::sign`] gives, in a time that tells nothing about where the two differ.
    pub fn has_signed(&self, text: &[u8], signature: &[u8]) -> bool {
        self.signer(text).verify_slice(signature).is_ok()
    }

    fn signer(&self, text: &[u8]) -> Hmac<Sha256> {
        let mut signer = Hmac::new_from_slice(&self.0).expect("a key of HMAC may have any length");
        signer.update(text);
        signer
    }

    /// The bytes in hexadecimal, for the environment of a process.
    pub fn to_hex(&self) -> String {
        hex::encode(&self.0)
    }

    /// Reads what [`Self::to_hex`] wrote.
    pub fn from_hex(digits: &str) -> Result<Self, BadSecret> {
        Self::new(&hex::decode(digits).ok_or(BadSecret::NotHex)?)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({} bytes)", self.0.len())
    }
}

/// Random bytes from the system.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert_eq!(Secret::new(&[7; 15]).unwrap_err(), BadSecret::TooShort { len: 15 });
        assert!(!format!("{:?}", Secret::new(&[77; 16]).unwrap()).contains("77"));
    }

    #[test]
    fn hexadecimal_is_read_as_it_was_written_and_nothing_else_is() {
        let bytes: Vec<u8> = (0..=255).collect();
        let secret = Secret::new(&bytes).unwrap();

        assert_eq!(Secret::from_hex(&secret.to_hex()).unwrap().expose(), bytes);
        assert_eq!(Secret::from_hex(&secret.to_hex().to_uppercase()).unwrap().expose(), bytes);
        for bad in ["0g".repeat(16), "0".repeat(33), "ä".repeat(16), "+1".repeat(16)] {
            assert_eq!(Secret::from_hex(&bad).unwrap_err(), BadSecret::NotHex, "{bad}");
        }
        assert_eq!(Secret::from_hex("00ff").unwrap_err(), BadSecret::TooShort { len: 2 });
    }

    #[test]
    fn only_the_secret_of_nobody_is_publics() {
        assert!(Secret::public().is_public());
        assert!(!Secret::random().is_public());
    }

    #[test]
    fn random_bytes_differ() {
        assert_ne!(random_bytes::<32>(), random_bytes::<32>());
    }
}
