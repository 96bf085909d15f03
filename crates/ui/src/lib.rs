//! Status pages and the same as JSON, for masters, workers and applications; drivers submitted over HTTP.
//!
//! - [`Site`] listens and answers on one thread of its own. What it shows is given as [`Pages`].
//! - [`Pages::master`], [`Pages::worker`], [`Pages::app`]: what each of the three shows. Each asks a source
//!   ([`MasterSource`], [`WorkerSource`], [`AppSource`]) for plain data at each request; nothing is kept.
//! - [`Pages::submissions`]: Spark's REST protocol for drivers that the cluster runs.
//! - [`app`]: what is shown of an application, in the shape of Spark's REST API.
//!
//! Pages are plain HTML without scripts and work in a text browser. They show no secrets and change nothing, so they
//! are open to every client that can connect; a site listens beyond this machine only where the cluster has a secret.
//! Nothing here decides or stores anything.

pub mod app;
mod html;
mod json;
mod master;
mod rest;
mod serve;
mod words;
mod worker;

pub use app::AppSource;
pub use master::MasterSource;
pub use rest::rest_token;
pub use serve::{BoundSite, Pages, Site, SiteConf, SiteError};
pub use worker::{WorkerSource, executor_logs};
