//! Listening and answering: [`Site`] serves [`Pages`].
//!
//! One thread with a runtime of its own takes connections and speaks HTTP; what a page asks of a master, worker or
//! application is asked on a few further threads, started on demand, since the answer may take a while.
//! Everything a client can use up is bounded: connections, the size of a request, the time it may take.

mod answer;
mod connections;
mod error;
mod guard;
mod pages;
mod site;

pub(crate) use answer::{Answer, ask};
pub use error::SiteError;
pub use pages::Pages;
pub use site::{BoundSite, Site, SiteConf};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
