//! What protects the connections of a cluster, and where nothing does: [`Security`].

use std::{
    net::{IpAddr, ToSocketAddrs},
    sync::Arc,
};

use firesteel_net::{Dialer, ListenerConf, Realm, Secret, Secrets, TlsClient, TlsServer, hex};

use crate::error::DeployError;

/// The setting that gives a cluster its secret, for messages.
pub(crate) const SECRET_SETTING: &str = "firesteel.authenticate.secret";

/// The secret and the certificates of a cluster.
///
/// ```
/// use firesteel_deploy::Security;
///
/// let open = Security::default();
/// assert!(open.check_listen("127.0.0.1", 7077).is_ok());
/// let refused = open.check_listen("0.0.0.0", 7077).unwrap_err().to_string();
/// assert!(refused.contains("0.0.0.0:7077") && refused.contains("firesteel.authenticate.secret"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Security {
    /// What masters, workers, applications and clients know; none on a machine that keeps to itself.
    pub secret: Option<Secret>,
    /// The certificate of listeners; none for connections in clear.
    pub tls_server: Option<TlsServer>,
    /// The authorities that dialers trust; none for connections in clear.
    pub tls_client: Option<TlsClient>,
}

impl Security {
    /// The cluster's secret, or the public one when there is none.
    pub fn cluster_secret(&self) -> Secret {
        self.secret.clone().unwrap_or_else(Secret::public)
    }

    /// Makes connections in the name of the cluster.
    pub fn dialer(&self) -> Dialer {
        self.dialer_for(Realm::cluster(), self.cluster_secret())
    }

    /// Makes connections in the name of a realm.
    pub fn dialer_for(&self, realm: Realm, secret: Secret) -> Dialer {
        Dialer { tls: self.tls_client.clone(), ..Dialer::new(realm, secret) }
    }

    /// The secret of an application as it travels in a command: sealed under the cluster's, in hexadecimal.
    ///
    /// ```
    /// use firesteel_deploy::Security;
    /// use firesteel_net::Secret;
    ///
    /// let (security, app) = (Security::default(), Secret::random());
    /// let travels = security.seal_app_secret(&app);
    /// let opened = security.open_app_secret(&travels).expect("the cluster's secret opens it");
    /// assert_eq!(opened.expose(), app.expose());
    /// ```
    pub fn seal_app_secret(&self, secret: &Secret) -> String {
        let sealed = self.cluster_secret().seal(secret.expose());
        hex::encode(&sealed)
    }

    /// Opens what [`Self::seal_app_secret`] made; none when that was done under another cluster's secret.
    pub fn open_app_secret(&self, sealed: &str) -> Option<Secret> {
        let plain = self.cluster_secret().open(&hex::decode(sealed)?)?;
        Secret::new(&plain).ok()
    }

    /// What a listener of the cluster asks.
    pub(crate) fn listener(&self, secrets: Arc<dyn Secrets>) -> ListenerConf {
        ListenerConf { tls: self.tls_server.clone(), ..ListenerConf::new(secrets) }
    }

    /// Refuses to listen where other machines can connect, unless there is a secret.
    ///
    /// A host that cannot be resolved is not refused here: listening there fails with a better message.
    pub fn check_listen(&self, host: &str, port: u16) -> Result<(), DeployError> {
        if self.secret.as_ref().is_some_and(|secret| !secret.is_public()) {
            return Ok(());
        }
        let mut addresses = (host, port).to_socket_addrs().into_iter().flatten();
        match addresses.find(|address| !is_loopback(address.ip())) {
            Some(_) => {
                Err(DeployError::Unprotected { address: format!("{host}:{port}"), setting: SECRET_SETTING })
            }
            None => Ok(()),
        }
    }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// The name under which others reach a process that listens at `bind`: the given one, `bind` itself, or the name of
/// this machine when `bind` stands for all of its addresses.
pub fn reachable_host(bind: &str, public: Option<&str>) -> String {
    let is_any = bind.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified());
    match public {
        Some(public) => public.to_owned(),
        None if is_any => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        None => bind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_secret_only_this_machine_may_connect() {
        let open = Security::default();

        for host in ["127.0.0.1", "localhost", "::1", "127.8.8.8"] {
            assert!(open.check_listen(host, 1).is_ok(), "{host}");
        }
        for host in ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"] {
            let refused = open.check_listen(host, 7077).unwrap_err();
            assert!(matches!(refused, DeployError::Unprotected { .. }), "{host}");
            assert!(refused.to_string().contains(&format!("{host}:7077")), "{refused}");
        }
    }

    #[test]
    fn with_a_secret_others_may_and_the_secret_of_nobody_is_none() {
        let with = |secret| Security { secret: Some(secret), ..Security::default() };

        assert!(with(Secret::random()).check_listen("0.0.0.0", 1).is_ok());
        assert!(with(Secret::public()).check_listen("0.0.0.0", 1).is_err());
    }

    #[test]
    fn a_sealed_secret_opens_only_under_the_secret_of_its_cluster() {
        let with = |secret| Security { secret: Some(secret), ..Security::default() };
        let (ours, app) = (with(Secret::random()), Secret::random());
        let sealed = ours.seal_app_secret(&app);

        assert_eq!(ours.open_app_secret(&sealed).unwrap().expose(), app.expose());
        assert!(with(Secret::random()).open_app_secret(&sealed).is_none());
        for bad in ["", "0", "zz", &sealed[2..]] {
            assert!(ours.open_app_secret(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_process_that_listens_everywhere_is_reached_by_the_name_of_its_machine() {
        assert_eq!(reachable_host("10.0.0.1", None), "10.0.0.1");
        assert_eq!(reachable_host("0.0.0.0", Some("node-1")), "node-1");
        assert!(!["0.0.0.0", ""].contains(&&*reachable_host("0.0.0.0", None)));
    }
}
