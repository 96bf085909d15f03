//! Saves that do not come to their end.

use std::{fs, path::Path};

use firesteel::prelude::*;

use crate::{gate::Gate, support::each_backend};

/// A folder for output that does not exist yet, in one that goes with the test.
fn new_output(folder: &tempfile::TempDir) -> String {
    folder.path().join("out").to_str().unwrap().to_owned()
}

/// Something else has the name of the mark of success, which is written last.
#[test]
fn a_save_that_cannot_be_published_is_an_error_and_leaves_nothing() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = new_output(&folder);
        let rows = ctx.range_into(0..8_u64, 4).with(out.clone()).map(|out, x| {
            fs::create_dir_all(Path::new(out).join("_SUCCESS")).unwrap();
            x
        });

        let error = rows.save_as_text_file(&out).unwrap_err().to_string();

        assert!(error.contains("_SUCCESS"), "{error}");
        assert!(!fs::exists(&out).unwrap());
    });
}

/// As if the executors wrote to disks of their own.
#[test]
fn a_file_that_the_driver_does_not_find_is_named_with_the_remedy() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = new_output(&folder);
        let rows = ctx.range_into(0..8_u64, 4).with(out.clone()).map(|out, x| {
            for staging in fs::read_dir(Path::new(out).join("_temporary")).unwrap() {
                let own = format!("part-00002-{}", TaskContext::current().unwrap().attempt_id().0);
                // There while the task of that partition writes.
                let _ = fs::remove_file(staging.unwrap().path().join(own));
            }
            x
        });

        let error = rows.save_as_text_file(&out).unwrap_err().to_string();

        assert!(error.contains("part-00002") && error.contains("see the same files"), "{error}");
        assert!(!fs::exists(&out).unwrap());
    });
}

#[test]
fn a_save_that_is_cancelled_while_tasks_write_leaves_nothing() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = new_output(&folder);
        let gate = Gate::new();
        let rows = ctx.range_into(0..8_u64, 4).with(gate.clone()).map(|gate, x| {
            gate.pass();
            x
        });
        let save = rows.save_as_text_file_async(&out);
        gate.until_reached();

        save.cancel();
        let cancelled = save.wait();
        gate.open();

        assert!(cancelled.is_err());
        assert!(!fs::exists(&out).unwrap());
        // The place is free, and what the old tasks still do shows nowhere.
        ctx.range_into(0..8_u64, 4).save_as_text_file(&out).unwrap();
        let saved = ctx.text_file(&out).unwrap().collect().unwrap();
        assert_eq!(saved, (0..8).map(|x| x.to_string()).collect::<Vec<_>>());
    });
}
