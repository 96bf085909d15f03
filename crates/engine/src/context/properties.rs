//! Properties of a thread, which the jobs it submits take along.

use std::thread::{self, JoinHandle};

use firesteel_types::Properties;

use super::Context;
use crate::{Error, Result};

impl Context {
    /// A property of this thread, if it is set.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_local_property("team", Some("search"));
    /// let seen = ctx.range(0..1).map(|_| TaskContext::current().unwrap().property("team").map(str::to_owned));
    /// assert_eq!(seen.collect()?[0].as_deref(), Some("search"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn local_property(&self, key: &str) -> Option<String> {
        self.driver().local_properties().get(key).map(str::to_owned)
    }

    /// Sets or removes a property of this thread. Jobs take the properties that are set when they are submitted.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_local_property("team", Some("search"));
    /// assert_eq!(ctx.local_property("team").as_deref(), Some("search"));
    /// ctx.set_local_property("team", None);
    /// assert_eq!(ctx.local_property("team"), None);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn set_local_property(&self, key: &str, value: Option<&str>) {
        let driver = self.driver();
        let before = driver.local_properties();
        let after = match value {
            Some(value) => before.with(key, value),
            None => {
                let others = before.iter().filter(|(other, _)| *other != key);
                others.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
            }
        };
        driver.set_local_properties(after);
    }

    /// The FAIR pool that this thread's jobs go to; none is the default pool.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_pool(Some("reports"));
    /// assert_eq!(ctx.local_property("spark.scheduler.pool").as_deref(), Some("reports"));
    /// ctx.set_pool(None);
    /// assert_eq!(ctx.local_property("spark.scheduler.pool"), None);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn set_pool(&self, pool: Option<&str>) {
        self.set_local_property(Properties::POOL, pool);
    }

    /// Puts this thread's jobs into a group, which can be cancelled as a whole. With `interrupt_on_cancel` tasks that
    /// wait are woken when the group is cancelled.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_job_group("nightly", "the nightly report", false);
    /// assert_eq!(ctx.range(0..9).count()?, 9);
    /// ctx.clear_job_group();
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn set_job_group(&self, group: &str, description: &str, interrupt_on_cancel: bool) {
        self.set_local_property(Properties::JOB_GROUP, Some(group));
        self.set_local_property(Properties::DESCRIPTION, Some(description));
        self.set_local_property(Properties::INTERRUPT_ON_CANCEL, Some(&interrupt_on_cancel.to_string()));
    }

    /// Takes this thread's jobs out of their group.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_job_group("nightly", "", false);
    /// ctx.clear_job_group();
    /// ctx.range(0..9).count()?;
    /// assert!(ctx.status()?.job_ids_for_group(Some("nightly")).is_empty());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn clear_job_group(&self) {
        for key in [Properties::JOB_GROUP, Properties::DESCRIPTION, Properties::INTERRUPT_ON_CANCEL] {
            self.set_local_property(key, None);
        }
    }

    /// What this thread's jobs do, for people.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_job_description(Some("counts the rows"));
    /// ctx.range(0..9).count()?;
    /// assert_eq!(ctx.status()?.jobs()[0].description.as_deref(), Some("counts the rows"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn set_job_description(&self, description: Option<&str>) {
        self.set_local_property(Properties::DESCRIPTION, description);
    }

    /// The tags that this thread's jobs carry.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(ctx.job_tags().is_empty());
    /// ctx.add_job_tag("etl")?;
    /// ctx.add_job_tag("nightly")?;
    /// assert_eq!(ctx.job_tags(), ["etl", "nightly"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn job_tags(&self) -> Vec<String> {
        let tags = self.local_property(Properties::TAGS).unwrap_or_default();
        tags.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
    }

    /// Adds a tag to this thread's later jobs. A tag is not empty and has no comma.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("etl")?;
    /// assert_eq!(ctx.job_tags(), ["etl"]);
    /// assert!(ctx.add_job_tag("a,b").is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn add_job_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        let mut tags = self.job_tags();
        if !tags.iter().any(|other| other == tag) {
            tags.push(tag.to_owned());
        }
        self.set_tags(&tags);
        Ok(())
    }

    /// Removes a tag from this thread's later jobs.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("etl")?;
    /// ctx.add_job_tag("nightly")?;
    /// ctx.remove_job_tag("etl")?;
    /// assert_eq!(ctx.job_tags(), ["nightly"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn remove_job_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        let mut tags = self.job_tags();
        tags.retain(|other| other != tag);
        self.set_tags(&tags);
        Ok(())
    }

    /// Removes every tag from this thread's later jobs.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("etl")?;
    /// ctx.clear_job_tags();
    /// assert!(ctx.job_tags().is_empty());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn clear_job_tags(&self) {
        self.set_tags(&[]);
    }

    fn set_tags(&self, tags: &[String]) {
        let joined = (!tags.is_empty()).then(|| tags.join(","));
        self.set_local_property(Properties::TAGS, joined.as_deref());
    }

    /// Starts a thread whose properties begin as a copy of this thread's. What either changes later, the other does not
    /// see. A thread started otherwise begins with none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_pool(Some("reports"));
    /// let pool = ctx.spawn(|ctx| ctx.local_property("spark.scheduler.pool"))?.join().unwrap();
    /// assert_eq!(pool.as_deref(), Some("reports"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn spawn<T: Send + 'static>(
        &self,
        f: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let (ctx, properties) = (self.clone(), self.driver().local_properties());
        let run = move || {
            ctx.driver().set_local_properties(properties);
            f(&ctx)
        };
        let thread = thread::Builder::new().name("firesteel-user".to_owned()).spawn(run);
        thread.map_err(|source| Error::System { what: "cannot start a thread".to_owned(), source })
    }
}

fn check_tag(tag: &str) -> Result<()> {
    if tag.is_empty() || tag.contains(',') {
        return Err(Error::invalid(format!("`{tag}` is no job tag: a tag is not empty and has no comma")));
    }
    Ok(())
}
