//! Jobs that write rows to files, which are read back.

use std::{fs, path::Path};

use firesteel::{Codec, prelude::*};

use super::{Setting, Trouble, compare_codes, compare_rows};
use crate::{
    case::FileAction,
    kind::{Kind, Row},
};

pub(super) fn check<K: Kind>(setting: &Setting<'_, K>, action: FileAction) -> Result<(), Trouble> {
    let (rdd, ctx) = (&setting.node.rdd, setting.ctx);
    let path = setting.folder.join(&format!("out-{}", setting.name)).to_string_lossy().into_owned();
    match action {
        FileAction::SaveAsText { compressed } => {
            let lines = rdd.map(|row| {
                let (key, value) = K::code(&row);
                format!("{key} {value}")
            });
            if compressed {
                lines.save_as_compressed_text_file(&path, Codec::Gzip)?;
            } else {
                lines.save_as_text_file(&path)?;
            }
            is_whole(&path)?;
            let code = |line: &String| {
                let (key, value) = line.split_once(' ')?;
                Some((key.parse().ok()?, value.parse().ok()?))
            };
            let lines = ctx.text_file(&path)?.collect()?;
            let codes: Option<Vec<_>> = lines.iter().map(code).collect();
            match codes {
                Some(codes) => compare_codes(setting.node, codes),
                None => Err(Trouble::Wrong("a line came back changed".to_owned())),
            }
        }
        FileAction::HalfCheckpoint { keep } => half_checkpoint(setting, keep),
        FileAction::SaveAsObjects => {
            rdd.save_as_object_file(&path)?;
            is_whole(&path)?;
            compare_rows(setting, &ctx.object_file::<Row<K>>(&path)?.collect()?)
        }
    }
}

fn is_whole(path: &str) -> Result<(), Trouble> {
    if !Path::new(path).join("_SUCCESS").exists() {
        return Err(Trouble::Wrong("a save succeeded without _SUCCESS".to_owned()));
    }
    if Path::new(path).join("_temporary").exists() {
        return Err(Trouble::Wrong("a save left its temporary files".to_owned()));
    }
    Ok(())
}

/// Takes a checkpoint, removes some of its files, and reads it.
fn half_checkpoint<K: Kind>(setting: &Setting<'_, K>, keep: u64) -> Result<(), Trouble> {
    let checkpointed = setting.node.rdd.checkpoint()?;
    checkpointed.count()?;
    let folder = checkpointed
        .checkpoint_file()
        .ok_or_else(|| Trouble::Wrong("a checkpoint was not written".to_owned()))?;
    let mut names: Vec<_> = fs::read_dir(&folder)
        .map_err(|error| Trouble::Wrong(format!("a checkpoint cannot be listed: {error}")))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("part-") || name == "_SUCCESS")
        .collect();
    names.sort();
    let removed: Vec<_> = names
        .into_iter()
        .zip(0_u32..)
        .filter(|(_, place)| (keep >> (place % 64)).trailing_zeros() >= 2)
        .collect();
    for (name, _) in &removed {
        let _ = fs::remove_file(Path::new(&folder).join(name));
    }
    let read = setting.ctx.checkpoint_file::<Row<K>>(&folder).and_then(|rows| rows.collect());
    match read {
        Ok(rows) if removed.is_empty() => compare_rows(setting, &rows),
        Ok(rows) => Err(Trouble::Wrong(format!(
            "a checkpoint without {removed:?} was read as a whole one with {} rows",
            rows.len()
        ))),
        Err(error) if removed.is_empty() => Err(error.into()),
        Err(_) => Ok(()),
    }
}
