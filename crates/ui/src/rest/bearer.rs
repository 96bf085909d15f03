//! Whether a request proves that its sender knows the secret of the cluster.
//!
//! HTTP has no handshake for it, and the secret itself must not cross the wire. So a request carries a token that is made
//! from the secret and does not give it away: the HMAC-SHA256 of a fixed text under the secret, in hexadecimal.

use axum::http::{HeaderMap, header};
use firesteel_net::{Secret, hex};

/// What is signed.
const TEXT: &[u8] = b"firesteel rest";

/// The token that requests carry as `Authorization: Bearer …` where the cluster has a secret.
///
/// ```
/// use firesteel_net::Secret;
///
/// let token = firesteel_ui::rest_token(&Secret::new(b"at least sixteen characters")?);
/// assert_eq!(token, "6083dd0f6d1d82413ed979678d3089de0472226ca79c7639c43f8b6af368053e");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rest_token(secret: &Secret) -> String {
    hex::encode(&secret.sign(TEXT))
}

/// Whether the request may be served: there is no secret, or the request carries its token.
pub(super) fn is_allowed(headers: &HeaderMap, secret: Option<&Secret>) -> bool {
    let Some(secret) = secret else { return true };
    let Some(given) = headers.get(header::AUTHORIZATION) else { return false };
    let Some((scheme, token)) = given.to_str().ok().and_then(|given| given.split_once(' ')) else {
        return false;
    };
    let is_token = || hex::decode(token.trim()).is_some_and(|token| secret.has_signed(TEXT, &token));
    scheme.eq_ignore_ascii_case("bearer") && is_token()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_token_of_the_secret_opens_and_not_the_secret() {
        const SECRET: &str = "a secret of the cluster";
        let secret = Secret::new(SECRET.as_bytes()).unwrap();
        let token = rest_token(&secret);
        let allowed = |given: &str| {
            let headers = [(header::AUTHORIZATION, HeaderValue::from_str(given).unwrap())];
            is_allowed(&headers.into_iter().collect(), Some(&secret))
        };

        assert!(allowed(&format!("Bearer {token}")));
        assert!(allowed(&format!("bearer  {}", token.to_uppercase())));
        let other = rest_token(&Secret::new(b"a secret of another cluster").unwrap());
        let wrong = ["", " ", SECRET, &secret.to_hex(), &token[1..], &token[2..], &other];
        for bad in wrong.map(|token| format!("Bearer {token}")).iter().chain([&format!("Basic {token}")]) {
            assert!(!allowed(bad), "{bad:?}");
        }
        assert!(!is_allowed(&HeaderMap::new(), Some(&secret)));
        assert!(is_allowed(&HeaderMap::new(), None));
    }
}
