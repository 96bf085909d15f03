//! The proof that both ends know the application's secret: [`Secret`], [`Secrets`].
//!
//! Each side sends a random nonce. The client proves itself first, then the server: a proof is an HMAC-SHA256, keyed
//! with the secret, over the version, the side that proves, the application's id and both nonces. The secret never
//! crosses the wire, a recorded proof is worth nothing for other nonces, and a proof of one side is none of the other.
//! Comparison takes the same time for every wrong proof.
//!
//! The proof is about the ends of the connection, not about the bytes that follow: without TLS they are neither
//! encrypted nor protected against someone who can change packets on the way.

use std::{fmt, sync::Arc};

use firesteel_types::AppId;
use hashbrown::HashMap;
use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};

use super::frame::{PROOF_LEN, VERSION};

/// The fewest bytes of a secret: whoever sees a proof can guess short ones at leisure.
const SECRET_MIN: usize = 16;

/// What the processes of one application know and nobody else does.
///
/// Must be random: a secret that can be guessed can be found from one recorded connection.
///
/// ```
/// use firesteel_storage::transfer::Secret;
///
/// let secret = Secret::random();
/// assert_eq!(secret.expose().len(), 32);
/// assert_eq!(format!("{secret:?}"), "Secret(32 bytes)");
/// ```
#[derive(Clone)]
pub struct Secret(Arc<[u8]>);

/// A secret that is too short to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a secret of {len} bytes can be guessed; give at least {SECRET_MIN} random bytes")]
pub struct WeakSecret {
    /// Its length.
    pub len: usize,
}

impl Secret {
    /// Takes over a secret that another process made.
    pub fn new(bytes: &[u8]) -> Result<Self, WeakSecret> {
        match bytes.len() {
            len if len < SECRET_MIN => Err(WeakSecret { len }),
            _ => Ok(Self(Arc::from(bytes))),
        }
    }

    /// Makes a new secret of 32 random bytes.
    pub fn random() -> Self {
        Self(Arc::from(random_bytes().as_slice()))
    }

    /// The bytes, for the one who must give them to the application's other processes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn prove(&self, said: &Said<'_>) -> [u8; PROOF_LEN] {
        let mut proof = [0; PROOF_LEN];
        proof.copy_from_slice(said.sign(&self.key()).as_ref());
        proof
    }

    /// Whether `proof` is what [`Self::prove`] gives, in constant time.
    pub(super) fn accepts(&self, said: &Said<'_>, proof: &[u8; PROOF_LEN]) -> bool {
        hmac::verify(&self.key(), &said.to_bytes(), proof).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({} bytes)", self.0.len())
    }
}

/// Where a server looks up the secret of an application.
pub trait Secrets: Send + Sync {
    /// The secret of `app`, none when this server does not serve it.
    fn secret(&self, app: &AppId) -> Option<Secret>;
}

/// The secret of the only application that a process serves.
#[derive(Clone, Debug)]
pub struct OneSecret {
    /// The application.
    pub app: AppId,
    /// Its secret.
    pub secret: Secret,
}

impl Secrets for OneSecret {
    fn secret(&self, app: &AppId) -> Option<Secret> {
        (*app == self.app).then(|| self.secret.clone())
    }
}

/// The applications of a worker, which come and go.
impl Secrets for parking_lot::RwLock<HashMap<AppId, Secret>> {
    fn secret(&self, app: &AppId) -> Option<Secret> {
        self.read().get(app).cloned()
    }
}

/// The side of a connection that proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client = 1,
    Server = 2,
}

/// Everything that a proof is about.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) side: Side,
    pub(super) app: &'a str,
    pub(super) client: &'a [u8; PROOF_LEN],
    pub(super) server: &'a [u8; PROOF_LEN],
}

impl Said<'_> {
    fn sign(&self, key: &hmac::Key) -> hmac::Tag {
        hmac::sign(key, &self.to_bytes())
    }

    /// All parts but the last have a fixed length, so that two different sayings are never the same bytes.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = b"firesteel block transfer".to_vec();
        bytes.extend([VERSION, self.side as u8]);
        bytes.extend(self.client);
        bytes.extend(self.server);
        bytes.extend(self.app.as_bytes());
        bytes
    }
}

/// Bytes that nobody can foresee.
pub(super) fn random_bytes() -> [u8; PROOF_LEN] {
    let mut bytes = [0; PROOF_LEN];
    SystemRandom::new().fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [u8; PROOF_LEN] = [1; PROOF_LEN];
    const TWO: [u8; PROOF_LEN] = [2; PROOF_LEN];

    fn said(side: Side, app: &'static str) -> Said<'static> {
        Said { side, app, client: &ONE, server: &TWO }
    }

    #[test]
    fn a_proof_holds_only_for_what_was_said_and_only_with_the_secret() {
        let secret = Secret::random();
        let client = said(Side::Client, "app-1");
        let proof = secret.prove(&client);

        assert!(secret.accepts(&client, &proof));
        assert!(!secret.accepts(&said(Side::Server, "app-1"), &proof), "a proof sent back is no proof");
        assert!(!secret.accepts(&said(Side::Client, "app-2"), &proof));
        assert!(!secret.accepts(&Said { client: &TWO, ..client }, &proof));
        assert!(!secret.accepts(&Said { server: &ONE, ..client }, &proof), "a recorded proof is no proof");
        assert!(!Secret::random().accepts(&client, &proof));
    }

    #[test]
    fn short_secrets_are_refused_and_none_is_shown() {
        assert_eq!(Secret::new(&[7; 15]).unwrap_err(), WeakSecret { len: 15 });
        assert!(!format!("{:?}", Secret::new(&[77; 16]).unwrap()).contains("77"));
    }

    #[test]
    fn random_bytes_differ() {
        assert_ne!(random_bytes(), random_bytes());
    }
}
