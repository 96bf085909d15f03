//! Whether a request carries the secret of the cluster.

use axum::http::{HeaderMap, header};
use firesteel_net::Secret;
use ring::{hmac, rand::SystemRandom};

/// Whether the request may be served: there is no secret, or the request carries it as it is or in hexadecimal.
pub(super) fn is_allowed(headers: &HeaderMap, secret: Option<&Secret>) -> bool {
    let Some(secret) = secret else { return true };
    let Some(given) = headers.get(header::AUTHORIZATION) else { return false };
    let Some((scheme, token)) = given.to_str().ok().and_then(|given| given.split_once(' ')) else {
        return false;
    };
    let token = token.trim().as_bytes();
    scheme.eq_ignore_ascii_case("bearer")
        && (is_same(token, secret.expose()) || is_same(token, secret.to_hex().as_bytes()))
}

/// Compares in a time that tells nothing about where the two differ.
fn is_same(given: &[u8], secret: &[u8]) -> bool {
    let Ok(key) = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()) else { return false };
    hmac::verify(&key, given, hmac::sign(&key, secret).as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_secret_itself_opens() {
        let secret = Secret::new(b"a secret of the cluster").unwrap();
        let allowed = |given: &str| {
            let headers = [(header::AUTHORIZATION, HeaderValue::from_str(given).unwrap())];
            is_allowed(&headers.into_iter().collect(), Some(&secret))
        };

        assert!(allowed("Bearer a secret of the cluster"));
        assert!(allowed(&format!("bearer {}", secret.to_hex())));
        for bad in
            ["Bearer", "Bearer ", "Bearer a secret of the clusteR", "Basic a secret of the cluster", ""]
        {
            assert!(!allowed(bad), "{bad:?}");
        }
        assert!(!is_allowed(&HeaderMap::new(), Some(&secret)));
        assert!(is_allowed(&HeaderMap::new(), None));
    }
}
