//! Inverted index: in which files, and on which lines, each word is.

#![expect(clippy::print_stdout, reason = "a program prints its answer")]

use std::{fs, path::PathBuf};

use firesteel::prelude::*;

#[firesteel::main]
fn main(ctx: Context) -> Result<()> {
    let folder = make_files()?;
    let index = ctx
        .whole_text_files(&folder.display().to_string())?
        .flat_map(|(path, text)| {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            let lines = (1_u32..).zip(text.lines());
            let places =
                lines.flat_map(|(line, words)| words.split_whitespace().map(move |word| (word, line)));
            places.map(|(word, line)| (word.to_lowercase(), (name.clone(), line))).collect::<Vec<_>>()
        })
        .distinct()
        .group_by_key()
        .map_values(|mut places| {
            places.sort();
            places
        })
        .sort_by_key(Order::Ascending)?;

    let output = folder.join("index");
    index
        .map(|(word, places)| {
            let places: Vec<_> = places.iter().map(|(file, line)| format!("{file}:{line}")).collect();
            format!("{word}\t{}", places.join(" "))
        })
        .save_as_text_file(&output.display().to_string())?;
    println!("{} words; some of what is in {}:", index.count()?, output.display());
    for line in ctx.text_file(&output.display().to_string())?.take(8)? {
        println!("  {line}");
    }
    fs::remove_dir_all(folder).map_err(Error::from)
}

fn make_files() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("firesteel-index-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let files = [
        ("spring.txt", "the snow melts\nand the river rises\nbirds come back"),
        ("summer.txt", "the sun stands high\nthe river runs low\nchildren swim"),
        ("autumn.txt", "leaves fall into the river\nbirds leave\nthe wind rises"),
        ("winter.txt", "snow covers the leaves\nthe river freezes\nthe wind is cold"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}
