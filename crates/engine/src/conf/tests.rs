//! What the tests of settings share.

use std::{
    env, fs,
    path::PathBuf,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A file with a text in it, gone when the test is over.
pub(super) struct TempFile(PathBuf);

impl TempFile {
    pub(super) fn new(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("firesteel-conf-{}-{number}", process::id()));
        fs::write(&path, text).expect("the temporary directory takes files");
        Self(path)
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().expect("the temporary directory has a name in Unicode")
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = fs::remove_file(&self.0);
    }
}
