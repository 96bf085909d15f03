//! Which cluster a command speaks to: [`Chosen`].

use anyhow::{Result, anyhow};
use firesteel::{__private::security, Conf, Origin, settings};
use firesteel_deploy::submit::{SubmitClient, SubmitConf};
use firesteel_net::Address;
use firesteel_types::MasterUrl;

use crate::{
    cluster::{Folder, default_folder},
    exit::Usage,
};

/// A cluster, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its masters.
    pub(crate) masters: Vec<Address>,
    /// Where the master's pages are, where that is known.
    pub(crate) page: Option<String>,
}

impl Chosen {
    /// The cluster that the flag names, or the settings, or the one that runs on this machine.
    pub(crate) fn new(conf: &Conf, flag: Option<&str>) -> Result<Self> {
        if let Some(flag) = flag {
            return Self::of(&flag.parse()?);
        }
        if conf.origin(settings::MASTER) != Origin::Default {
            return Self::of(&conf.get(settings::MASTER));
        }
        let own = default_folder().ok().map(Folder::new).and_then(|folder| folder.running().ok().flatten());
        let Some(own) = own else {
            return Err(anyhow!(
                "no cluster is named, and none runs on this machine; give --master firesteel://host:7077, or start one \
                 with `firesteel cluster up`"
            ));
        };
        Ok(Self { page: Some(own.master.page.clone()), ..Self::of(&own.master.url.parse()?)? })
    }

    fn of(master: &MasterUrl) -> Result<Self> {
        let MasterUrl::Cluster { masters } = master else {
            return Err(Usage(format!("`{master}` is no cluster; use firesteel://host:7077")).into());
        };
        let masters = masters.iter().map(|master| Ok(master.parse()?)).collect::<Result<_>>()?;
        Ok(Self { masters, page: None })
    }

    /// The masters as users write them.
    pub(crate) fn url(&self) -> String {
        let masters: Vec<String> = self.masters.iter().map(ToString::to_string).collect();
        format!("firesteel://{}", masters.join(","))
    }

    /// Who asks the masters.
    pub(crate) fn client(&self, conf: &Conf) -> Result<SubmitClient> {
        Ok(SubmitClient::new(SubmitConf {
            security: security(conf)?,
            first_look: conf.get(settings::SUBMIT_FIRST_LOOK),
            look_every: conf.get(settings::SUBMIT_LOOK_EVERY),
            ..SubmitConf::new(self.masters.clone())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_the_settings_and_both_must_name_a_cluster() {
        let conf = Conf::new().set("firesteel.master", "firesteel://h1:7077,h2:7077").unwrap();
        let url = |conf: &Conf, flag| Chosen::new(conf, flag).map(|chosen| chosen.url());

        assert_eq!(url(&conf, None).unwrap(), "firesteel://h1:7077,h2:7077");
        assert_eq!(url(&conf, Some("firesteel://h3:1")).unwrap(), "firesteel://h3:1");
        assert!(url(&conf, Some("local[2]")).unwrap_err().is::<Usage>());
        let local = Conf::new().set("firesteel.master", "local[2]").unwrap();
        assert!(url(&local, None).unwrap_err().to_string().contains("firesteel://host:7077"));
    }
}
