//! Where a daemon listens.

use anyhow::Result;
use firesteel::{__private::security, Conf, settings};
use firesteel_deploy::Security;
use firesteel_types::settings::Setting;
use firesteel_ui::SiteConf;

/// Where a daemon listens, and who may connect.
pub(super) struct Place {
    pub(super) host: String,
    pub(super) public_host: Option<String>,
    pub(super) port_tries: u16,
    pub(super) security: Security,
}

impl Place {
    /// The place that is set; by default, this machine only, or everywhere if the cluster has a secret.
    pub(super) fn new(conf: &Conf, host: Setting<Option<String>>) -> Result<Self> {
        let security = security(conf)?;
        let usual = if security.secret.is_some() { "0.0.0.0" } else { "127.0.0.1" };
        Ok(Self {
            host: conf.get(host).unwrap_or_else(|| usual.to_owned()),
            public_host: conf.get(settings::DEPLOY_PUBLIC_HOST),
            port_tries: port(conf, settings::PORT_MAX_RETRIES),
            security,
        })
    }

    /// The same place for pages, at another port.
    pub(super) fn site(&self, port: u16) -> SiteConf {
        SiteConf {
            host: self.host.clone(),
            public_host: self.public_host.clone(),
            port,
            port_tries: self.port_tries,
            security: self.security.clone(),
        }
    }
}

/// A setting that is a port, or a number of them.
pub(super) fn port(conf: &Conf, setting: Setting<u32>) -> u16 {
    u16::try_from(conf.get(setting)).unwrap_or(u16::MAX)
}
