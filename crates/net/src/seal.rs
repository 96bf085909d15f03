//! Bytes that only those who know a secret can read: [`Secret::seal`] and [`Secret::open`].
//!
//! Sealed bytes are a random salt and then AES-256-GCM under a key that HKDF-SHA256 makes from the secret and the
//! salt. Each key is used once, so its nonce can be a constant and the number of messages has no bound.

use aes_gcm::{Aes256Gcm, Key, KeyInit, aead::AeadInOut};
use hkdf::Hkdf;
use sha2::Sha256;

use crate::secret::{Secret, random_bytes};

const SALT_LEN: usize = 32;

/// Every key is used for one message, so it may be the same for all.
const NONCE: [u8; 12] = [0; 12];

impl Secret {
    /// Encrypts `plain` for those who know the secret; who changes the sealed bytes is found out.
    ///
    /// This is how an application's secret goes from its driver over the master to a worker. The master of a cluster
    /// needs no secret of the application, and keeps only the sealed form.
    pub fn seal(&self, plain: &[u8]) -> Vec<u8> {
        let salt = random_bytes::<SALT_LEN>();
        let mut body = plain.to_vec();
        cipher(self, &salt)
            .encrypt_in_place(&NONCE.into(), b"", &mut body)
            .expect("a message that fits in memory is not too long for the cipher");
        [salt.as_slice(), &body].concat()
    }

    /// Decrypts what [`Self::seal`] made, none when it was sealed with another secret or changed since.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (salt, body) = sealed.split_first_chunk::<SALT_LEN>()?;
        let mut body = body.to_vec();
        cipher(self, salt).decrypt_in_place(&NONCE.into(), b"", &mut body).ok()?;
        Some(body)
    }
}

fn cipher(secret: &Secret, salt: &[u8; SALT_LEN]) -> Aes256Gcm {
    let mut key = Key::<Aes256Gcm>::default();
    Hkdf::<Sha256>::new(Some(salt), secret.expose())
        .expand(b"firesteel sealed message 1", &mut key)
        .expect("a key is much shorter than HKDF allows");
    Aes256Gcm::new(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_opens_and_only_unchanged_bytes() {
        let (ours, theirs) = (Secret::random(), Secret::random());
        let sealed = ours.seal(b"the plain text");

        assert_eq!(ours.open(&sealed).unwrap(), b"the plain text");
        assert_eq!(theirs.open(&sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(ours.open(&changed), None, "byte {at}");
            assert_eq!(ours.open(&sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(ours.open(&ours.seal(b"")).unwrap(), b"");
    }

    /// Made with another implementation of HKDF and AES-GCM.
    #[test]
    fn what_others_sealed_is_opened() {
        let secret = Secret::new(b"at least sixteen characters").unwrap();
        let body = crate::hex::decode("b6a28ef922e796c459eb662004f2c4da7a284df43f").unwrap();

        assert_eq!(secret.open(&[&[3; SALT_LEN][..], &body].concat()).unwrap(), b"plain");
    }

    #[test]
    fn the_plain_text_does_not_show_and_no_two_seals_are_alike() {
        let secret = Secret::random();
        let (one, two) = (secret.seal(&[7; 32]), secret.seal(&[7; 32]));

        assert!(!one.windows(4).any(|window| window == [7; 4]));
        assert!(!one.windows(8).any(|window| two.windows(8).any(|other| other == window)));
    }
}
