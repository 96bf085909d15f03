//! Bytes that only those who know a secret can read: [`Secret::seal`] and [`Secret::open`].
//!
//! Sealed bytes are a random salt and then AES-256-GCM under a key that HKDF-SHA256 makes from the secret and the
//! salt. Each key is used once, so its nonce can be a constant and the number of messages has no bound.

use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
};

use crate::secret::{Secret, random_bytes};

const SALT_LEN: usize = 32;

impl Secret {
    /// Encrypts `plain` for those who know the secret; who changes the sealed bytes is found out.
    ///
    /// This is how an application's secret goes from its driver over the master to a worker. The master of a cluster
    /// needs no secret of the application, and keeps only the sealed form.
    pub fn seal(&self, plain: &[u8]) -> Vec<u8> {
        let salt = random_bytes::<SALT_LEN>();
        let mut body = plain.to_vec();
        seal_key(self, &salt)
            .seal_in_place_append_tag(nonce(), Aad::empty(), &mut body)
            .expect("a message that fits in memory is not too long for the cipher");
        [salt.as_slice(), &body].concat()
    }

    /// Decrypts what [`Self::seal`] made, none when it was sealed with another secret or changed since.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (salt, body) = sealed.split_first_chunk::<SALT_LEN>()?;
        let mut body = body.to_vec();
        let len = seal_key(self, salt).open_in_place(nonce(), Aad::empty(), &mut body).ok()?.len();
        body.truncate(len);
        Some(body)
    }
}

/// Every key is used for one message, so it may be the same for all.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

fn seal_key(secret: &Secret, salt: &[u8; SALT_LEN]) -> LessSafeKey {
    let derived = Salt::new(HKDF_SHA256, salt).extract(secret.expose());
    let key = derived.expand(&[b"firesteel sealed message 1"], &AES_256_GCM);
    LessSafeKey::new(UnboundKey::from(key.expect("a key is much shorter than HKDF allows")))
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

    #[test]
    fn the_plain_text_does_not_show_and_no_two_seals_are_alike() {
        let secret = Secret::random();
        let (one, two) = (secret.seal(&[7; 32]), secret.seal(&[7; 32]));

        assert!(!one.windows(4).any(|window| window == [7; 4]));
        assert!(!one.windows(8).any(|window| two.windows(8).any(|other| other == window)));
    }
}
