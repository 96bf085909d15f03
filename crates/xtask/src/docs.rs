//! `cargo xtask docs`: the docs of every crate, and whether those of `firesteel` stand on their own.
//!
//! An application depends on `firesteel` alone, so it must be able to name whatever a public item mentions. rustdoc shows
//! where a name leads: to a page of `firesteel` if the type is its own or exported by it, else to another crate's. A page
//! of `firesteel` that leads to another crate is therefore a leak, and so is a type of another crate that has no page
//! (rustc's `unnameable_types`, which the engine turns on, finds the types of its own that are not exported).
//!
//! Links are made only to crates that have a folder among the docs, so every dependency is given one first. Does not look
//! at `#[doc(hidden)]` items, which have no page, nor at what other crates implement for every type.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;

const FACADE: &str = "firesteel";

/// Crates whose traits an application has to name anyway, to derive them.
const PUBLIC_DEPENDENCIES: &[&str] = &["serde", "serde_core"];

/// What is listed for every type because a dependency implements it for every type.
const BLANKET_IMPLS: &str = "<h2 id=\"blanket-implementations\"";

/// Builds the docs and checks those of the facade.
pub(crate) fn run() -> Result<()> {
    let metadata = metadata()?;
    let docs = docs_folder(&metadata)?;
    let pages = docs.join(FACADE);
    // Pages that were made while a dependency had no folder lack the links to it: they are made again.
    remove_folder(&pages)?;
    let placeholders = make_placeholders(&docs, &dependencies(&metadata)?)?;
    let mut command = process::cargo(&["doc", "--workspace", "--no-deps"]);
    let built = process::run(command.env("RUSTDOCFLAGS", "-D warnings"));
    let leaks = built.and_then(|()| leaks(&pages));
    // Crates of the workspace have pages by now, and keep their folder.
    for folder in &placeholders {
        drop(fs::remove_dir(folder));
    }

    let leaks = leaks?;
    for (target, places) in &leaks {
        let (first, more) = (&places[0], places.len() - 1);
        println!(
            "problem: {target} is mentioned on {first} and {more} other pages of {FACADE}, which does not export it"
        );
    }
    if leaks.is_empty() {
        println!("docs: whatever {FACADE} mentions can be named through it");
        return Ok(());
    }
    bail!("docs: {} items of other crates are mentioned by {FACADE} but not exported", leaks.len())
}

fn metadata() -> Result<Value> {
    let text = process::output(&mut process::cargo(&["metadata", "--format-version=1"]))?;
    serde_json::from_str(&text).context("cannot read what cargo metadata printed")
}

fn docs_folder(metadata: &Value) -> Result<PathBuf> {
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    Ok(Path::new(target).join("doc"))
}

/// The names of all libraries that the workspace is built from, as rustdoc writes them.
fn dependencies(metadata: &Value) -> Result<BTreeSet<String>> {
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let targets = packages.iter().filter_map(|package| package["targets"].as_array()).flatten();
    let is_library = |target: &&Value| {
        target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"))
    };
    let names = targets.filter(is_library).filter_map(|target| target["name"].as_str());
    Ok(names.map(|name| name.replace('-', "_")).filter(|name| name != FACADE).collect())
}

/// Gives each crate a folder, and returns the new ones.
fn make_placeholders(docs: &Path, crates: &BTreeSet<String>) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(docs).with_context(|| format!("cannot make {}", docs.display()))?;
    let mut made = Vec::new();
    for name in crates {
        let folder = docs.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => made.push(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", folder.display())),
        }
    }
    Ok(made)
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// What the pages mention that has its page in another crate, with the pages that do.
fn leaks(pages: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut folders = vec![(pages.to_owned(), 1)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let html =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let page = path.strip_prefix(pages).unwrap_or(&path).display().to_string();
                for target in foreign_links(&html, depth) {
                    found.entry(target).or_default().push(page.clone());
                }
            }
        }
    }
    for places in found.values_mut() {
        places.sort();
    }
    Ok(found)
}

/// The items of other crates that a page links to, where the page lies `depth` folders below all docs.
fn foreign_links(html: &str, depth: usize) -> BTreeSet<String> {
    let own = html.split(BLANKET_IMPLS).next().unwrap_or(html);
    let root = "../".repeat(depth);
    let links = own.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let items = links.filter_map(|link| link.strip_prefix(&root)).filter(|item| {
        let name = item.split('/').next().unwrap_or(item);
        // Files beside the crates, such as style sheets and the page about rustdoc itself.
        let is_crate = item.contains('/') && !matches!(name, "src" | "static.files" | "search.index" | "..");
        is_crate && name != FACADE && !PUBLIC_DEPENDENCIES.contains(&name)
    });
    items
        .map(|item| item.split('#').next().unwrap_or(item).trim_end_matches(".html").replace('/', "::"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<String> {
        foreign_links(html, 2).into_iter().collect()
    }

    #[test]
    fn a_link_to_another_crate_is_found_wherever_it_points_in_it() {
        let html = r#"<a href="../../firesteel_types/struct.Cpus.html#method.new">Cpus</a><a href="../../bytes/index.html">"#;

        assert_eq!(found(html), ["bytes::index", "firesteel_types::struct.Cpus"]);
    }

    #[test]
    fn own_pages_std_sources_and_serde_are_no_leaks() {
        let html = r#"<a href="../struct.Rdd.html"><a href="../../firesteel/enum.Error.html"><a href="struct.A.html">
            <a href="https://doc.rust-lang.org/1.95.0/std/io/struct.Error.html"><a href="../../src/firesteel/lib.rs.html">
            <link href="../../static.files/a.css"><a href="../../help.html"><a href="../../serde/trait.Serialize.html">"#;

        assert_eq!(found(html), Vec::<String>::new());
    }

    #[test]
    fn what_a_dependency_implements_for_every_type_is_no_leak() {
        let html = r#"<h2 id="blanket-implementations" class="x">…</h2><a href="../../tracing/trait.Instrument.html">"#;

        assert_eq!(found(html), Vec::<String>::new());
    }
}
