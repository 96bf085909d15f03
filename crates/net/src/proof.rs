//! The proof that both ends know a secret: [`Said`].
//!
//! Each side sends a random nonce. The client proves itself first, then the server: a proof is an HMAC-SHA256, keyed
//! with the secret, over the version, the service, the side that proves, the realm and both nonces. The secret never
//! crosses the wire, a recorded proof is worth nothing for other nonces, and a proof of one side is none of the other.
//! Comparison takes the same time for every wrong proof.
//!
//! The proof is about the ends of the connection, not about the bytes that follow: without TLS they are neither
//! encrypted nor protected against someone who can change packets on the way.

use crate::{
    hello::VERSION,
    secret::{SIGNATURE_LEN, Secret},
    service::Service,
};

/// The size of a nonce and of a proof.
pub(crate) const PROOF_LEN: usize = SIGNATURE_LEN;

/// The side of a connection that proves itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client = 1,
    Server = 2,
}

/// Everything that a proof is about.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) side: Side,
    pub(crate) service: Service,
    pub(crate) realm: &'a str,
    pub(crate) client: &'a [u8; PROOF_LEN],
    pub(crate) server: &'a [u8; PROOF_LEN],
}

impl Said<'_> {
    pub(crate) fn prove(&self, secret: &Secret) -> [u8; PROOF_LEN] {
        secret.sign(&self.to_bytes())
    }

    /// Whether `proof` is what [`Self::prove`] gives, in constant time.
    pub(crate) fn is_proved_by(&self, secret: &Secret, proof: &[u8; PROOF_LEN]) -> bool {
        secret.has_signed(&self.to_bytes(), proof)
    }

    /// All parts but the last have a fixed length, so that two different sayings are never the same bytes.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = b"firesteel connection".to_vec();
        bytes.extend([VERSION, self.side as u8, self.service as u8]);
        bytes.extend(self.client);
        bytes.extend(self.server);
        bytes.extend(self.realm.as_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [u8; PROOF_LEN] = [1; PROOF_LEN];
    const TWO: [u8; PROOF_LEN] = [2; PROOF_LEN];

    #[test]
    fn a_proof_holds_only_for_what_was_said_and_only_with_the_secret() {
        let secret = Secret::random();
        let said =
            Said { side: Side::Client, service: Service::Blocks, realm: "app-1", client: &ONE, server: &TWO };
        let proof = said.prove(&secret);

        assert!(said.is_proved_by(&secret, &proof));
        let others = [
            ("sent back", Said { side: Side::Server, ..said }),
            ("another realm", Said { realm: "app-2", ..said }),
            ("another service", Said { service: Service::Driver, ..said }),
            ("another client", Said { client: &TWO, ..said }),
            ("recorded", Said { server: &ONE, ..said }),
        ];
        for (what, other) in others {
            assert!(!other.is_proved_by(&secret, &proof), "{what}");
        }
        assert!(!said.is_proved_by(&Secret::random(), &proof));
    }
}
