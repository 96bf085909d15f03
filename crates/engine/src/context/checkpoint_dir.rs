//! Where the checkpoints of an application go.

use firesteel_files::Location;

use super::Context;
use crate::Result;

impl Context {
    /// Sets the directory that checkpoints go to; the application makes a folder of its own in it. It should be one that
    /// every executor reaches, and that outlives them.
    ///
    /// ```
    /// use firesteel::prelude::*;
    ///
    /// let ctx = Context::local(2)?;
    /// let folder = std::env::temp_dir().join(format!("firesteel-doc-checkpoints-{}", std::process::id()));
    /// ctx.set_checkpoint_dir(folder.to_str().unwrap())?;
    /// let rdd = ctx.range(0..9).map(|x| x + 1).checkpoint()?;
    /// assert_eq!(rdd.count()?, 9);
    /// assert!(rdd.is_checkpointed(), "written after the first job");
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_checkpoint_dir(&self, path: &str) -> Result<()> {
        let driver = self.driver();
        let own = format!("{}-{}", std::process::id(), driver.clock.now().0);
        driver.checkpoints.set_location(Location::parse(path)?.join(&own));
        Ok(())
    }
}
