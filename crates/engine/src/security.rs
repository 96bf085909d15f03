//! Secrets and certificates, from the settings or from the environment.

use std::{env, fs};

use firesteel_deploy::Security;
use firesteel_net::{Secret, TlsClient, TlsServer};
use firesteel_types::settings;

use crate::{Conf, Error, Result};

/// The variables that name the files of certificates, for processes that have no settings yet.
const CERTIFICATE: &str = "FIRESTEEL_SSL_CERTIFICATE";
const KEY: &str = "FIRESTEEL_SSL_KEY";
const TRUSTED: &str = "FIRESTEEL_SSL_TRUSTED";

/// What a secret begins with that is written in hexadecimal.
const HEX: &str = "hex:";

/// The secrets and certificates of the settings.
pub fn of_conf(conf: &Conf) -> Result<Security> {
    let text = match (conf.get(settings::AUTHENTICATE_SECRET), conf.get(settings::AUTHENTICATE_SECRET_FILE)) {
        (Some(secret), _) => Some(secret),
        (None, Some(path)) => Some(fs::read_to_string(&path).map_err(|source| Error::System {
            what: format!("cannot read {path}, the file of firesteel.authenticate.secret.file"),
            source,
        })?),
        (None, None) => None,
    };
    let secret = text.map(|text| match text.trim().strip_prefix(HEX) {
        Some(digits) => Secret::from_hex(digits),
        None => Secret::new(text.trim().as_bytes()),
    });
    let secret = secret.transpose();
    let secret =
        secret.map_err(|error| Error::security(format!("firesteel.authenticate.secret: {error}")))?;
    let files = [settings::SSL_CERTIFICATE, settings::SSL_KEY, settings::SSL_TRUSTED];
    let [certificate, key, trusted] = files.map(|setting| conf.get(setting));
    Ok(Security { secret, ..encryption(certificate, key, trusted)? })
}

/// What a worker passes on to its executors.
pub(crate) fn from_env() -> Result<Security> {
    let [certificate, key, trusted] =
        [CERTIFICATE, KEY, TRUSTED].map(|variable| env::var(variable).ok().filter(|path| !path.is_empty()));
    encryption(certificate, key, trusted)
}

fn encryption(certificate: Option<String>, key: Option<String>, trusted: Option<String>) -> Result<Security> {
    let (certificate, key) = match (certificate, key) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(Security::default()),
        _ => {
            let what = "firesteel.ssl.certificate and firesteel.ssl.key belong together: set both or none";
            return Err(Error::security(what));
        }
    };
    let wrong = |error| Error::security(format!("TLS cannot be used: {error}"));
    let server = TlsServer::from_pem(&certificate, &key).map_err(wrong)?;
    let client = TlsClient::from_pem(trusted.as_deref().unwrap_or(&certificate)).map_err(wrong)?;
    Ok(Security { secret: None, tls_server: Some(server), tls_client: Some(client) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_the_settings_is_taken_if_it_is_long_enough() {
        let security = |secret| of_conf(&Conf::new().set("firesteel.authenticate.secret", secret).unwrap());

        assert!(security("at least sixteen characters").unwrap().secret.is_some());
        assert!(security("too short").is_err());
    }
}
