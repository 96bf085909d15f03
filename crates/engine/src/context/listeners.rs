//! Listeners of an application: adding, removing and flushing them.

use super::Context;
use crate::Result;
use firesteel_listener::{Listener, ListenerBus, ListenerId, StatusStore, Wait};

impl Context {
    /// Has a listener hear every event from now on, in order, on a thread of its own.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use firesteel::{ListenerEvent, prelude::*};
    ///
    /// let ctx = Context::local(2)?;
    /// let (ended, jobs) = mpsc::channel();
    /// ctx.add_listener(move |event: &ListenerEvent| {
    ///     if let ListenerEvent::JobEnd { job, .. } = event {
    ///         ended.send(*job).ok();
    ///     }
    /// })?;
    /// ctx.range(0..9).count()?;
    /// assert_eq!(jobs.recv().unwrap().0, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn add_listener(&self, listener: impl Listener + 'static) -> Result<ListenerId> {
        Ok(self.driver().bus.add(ListenerBus::SHARED, listener)?)
    }

    /// Lets go of a listener; gives whether it was there.
    ///
    /// ```
    /// # use firesteel::{ListenerEvent, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let listener = ctx.add_listener(|event: &ListenerEvent| drop(event.clone()))?;
    /// assert!(ctx.remove_listener(listener));
    /// assert!(!ctx.remove_listener(listener));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn remove_listener(&self, listener: ListenerId) -> bool {
        self.driver().bus.remove(listener)
    }

    /// What runs and what ran: jobs, stages, executors, with all that has happened so far.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_job_group("nightly", "", false);
    /// ctx.range(0..9).count()?;
    /// assert_eq!(ctx.status()?.job_ids_for_group(Some("nightly")).len(), 1);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn status(&self) -> Result<&StatusStore> {
        // A turn posts what it decided before the next one begins; so all that the caller knows of has been posted.
        self.driver().query(|_| ());
        self.driver().bus.flush(Wait::Forever)?;
        Ok(&self.driver().status)
    }

    /// Where the web pages of the application are, if they are served: at the port `firesteel.ui.port` or one of those
    /// above it, unless `firesteel.ui.enabled` is `false` or no port is free.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[2]").set("firesteel.ui.port", 0)?.start()?;
    /// assert!(ctx.ui_web_url().is_some_and(|url| url.starts_with("http://127.0.0.1:")));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn ui_web_url(&self) -> Option<String> {
        self.driver().ui.get().map(firesteel_ui::Site::url)
    }

    /// The application's id: the name that a master gave it, or `local-` and a number in local mode.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(ctx.application_id().starts_with("local-"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn application_id(&self) -> String {
        self.driver().application_id()
    }
}
