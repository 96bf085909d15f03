//! Rows that cannot be saved.

use std::fmt;

use firesteel::{Codec, prelude::*};
use serde::{Deserialize, Serialize};

use crate::support::each_backend;

/// A row whose `Display` fails after it has written something, for one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fragile(u32);

impl fmt::Display for Fragile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "row {}", self.0)?;
        if self.0 == 17 { Err(fmt::Error) } else { Ok(()) }
    }
}

#[test]
fn a_display_that_fails_fails_the_save_with_the_place_and_type_of_the_row() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let path = out.to_str().unwrap();
        let rows = ctx.range_into(0..40_u32, 4).map(Fragile);
        let plain = rows.save_as_text_file(path).unwrap_err().to_string();
        let packed = rows.save_as_compressed_text_file(path, Codec::Gzip).unwrap_err().to_string();

        for error in [plain, packed] {
            for part in
                [&format!("cannot save row 7 of partition 1 to {path}/part-00001"), "::Fragile` failed"]
            {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
        assert!(!out.exists(), "nothing is published");
        rows.filter(|row| row.0 != 17).save_as_text_file(path).unwrap();
        assert_eq!(ctx.text_file(path).unwrap().count().unwrap(), 39);
    });
}
