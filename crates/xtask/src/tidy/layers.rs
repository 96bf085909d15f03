//! Which module of the engine may know which: only those before it in [`LAYERS`].
//!
//! So no two modules need each other, and a reader can begin at the bottom. Looks at `use` lines and at paths in the code;
//! test code may know everything. Paths inside macro calls are not seen.

use std::collections::BTreeMap;

use syn::{
    ItemMod, ItemUse, Path, UseTree,
    spanned::Spanned as _,
    visit::{self, Visit},
};

use super::problem::Problem;
use super::sizes::is_cfg_test;
use super::source::SourceFile;

const ROOT: &str = "crates/engine/src/";

/// The modules of the engine from the bottom up; ARCHITECTURE.md draws them.
const LAYERS: &[&str] = &[
    // What everything may use.
    "allocator",
    "conf",
    "contain",
    "data",
    "either",
    "logging",
    "bury",
    "error",
    "security",
    "sent_files",
    // What crosses processes, and where keys go.
    "ship",
    "build",
    "partitioner",
    // A task and what it has around it.
    "task",
    "spill",
    "protocol",
    // Those that run tasks, and the one that decides which.
    "executor",
    "driver",
    "backend",
    "ui",
    // What an application is made of.
    "rdd",
    "context",
    "run_main",
    "job",
    "shuffle",
    "accumulator",
    "broadcast",
    // Operators.
    "source",
    "sink",
    "checkpoint",
    "narrow",
    "pair",
    "set",
    "action",
];

/// Checks every file of the engine.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let engine = || files.iter().filter(|file| file.path.starts_with(ROOT) && file.is_rust());
    let Some(library) = engine().find(|file| file.path == format!("{ROOT}lib.rs")) else { return Vec::new() };
    let exports = exports(&library.text);
    let mut problems = Vec::new();
    for file in engine() {
        let module = module_of(file);
        let is_test = file.is_test() || file.name().ends_with("tests.rs") || module == "fuzz";
        if is_test || matches!(module, "lib" | "prelude") {
            continue;
        }
        let Some(own) = rank(module) else {
            let message =
                format!("`{module}` has no place in LAYERS of tidy/layers.rs: say what it may know");
            problems.push(Problem::in_file(&file.path, message));
            continue;
        };
        let Ok(syntax) = syn::parse_file(&file.text) else { continue };
        let mut known = Known::default();
        known.visit_file(&syntax);
        for (name, line) in known.0 {
            let target = exports.get(&name).map_or(name.as_str(), String::as_str);
            if target != module && rank(target).is_some_and(|target| target > own) {
                let message = format!(
                    "`{module}` may not know `{target}`, which is above it in LAYERS of tidy/layers.rs"
                );
                problems.push(Problem::at(&file.path, line, message));
            }
        }
    }
    problems
}

fn module_of(file: &SourceFile) -> &str {
    let below = file.path.strip_prefix(ROOT).unwrap_or(&file.path);
    let first = below.split('/').next().unwrap_or(below);
    first.strip_suffix(".rs").unwrap_or(first)
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|known| *known == module)
}

/// Which module a name of the crate's root comes from.
fn exports(library: &str) -> BTreeMap<String, String> {
    let Ok(syntax) = syn::parse_file(library) else { return BTreeMap::new() };
    let mut exports = BTreeMap::new();
    for item in &syntax.items {
        if let syn::Item::Use(item) = item
            && let UseTree::Path(path) = &item.tree
            && rank(&path.ident.to_string()).is_some()
        {
            let mut names = Vec::new();
            leaves(&path.tree, &mut names);
            exports.extend(names.into_iter().map(|name| (name, path.ident.to_string())));
        }
    }
    exports
}

fn leaves(tree: &UseTree, into: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, into),
        UseTree::Name(name) => into.push(name.ident.to_string()),
        UseTree::Rename(rename) => into.push(rename.rename.to_string()),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, into)),
    }
}

/// The first names behind `crate::`, each with its line.
#[derive(Default)]
struct Known(Vec<(String, usize)>);

impl Known {
    /// The first names of what is imported from the crate's root.
    fn add_firsts(&mut self, tree: &UseTree) {
        let mut add = |ident: &syn::Ident| self.0.push((ident.to_string(), ident.span().start().line));
        match tree {
            UseTree::Path(path) => add(&path.ident),
            UseTree::Name(name) => add(&name.ident),
            UseTree::Rename(rename) => add(&rename.ident),
            UseTree::Glob(_) => {}
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_firsts(tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Known {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_cfg_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_cfg_test(&item.attrs)
            && let UseTree::Path(path) = &item.tree
            && path.ident == "crate"
        {
            self.add_firsts(&path.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let mut segments = path.segments.iter();
        if segments.next().is_some_and(|first| first.ident == "crate")
            && let Some(second) = segments.next()
        {
            self.0.push((second.ident.to_string(), path.span().start().line));
        }
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let library =
            "mod context;\npub use context::{Context, builder::ContextBuilder};\npub use other::Thing;";
        let files = [(format!("{ROOT}lib.rs"), library), (format!("{ROOT}{path}"), text)]
            .map(|(path, text)| SourceFile { path, text: text.to_owned() });
        check(&files).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_module_may_know_what_is_below_it_and_itself() {
        let text = "use crate::{Error, task::TaskContext, driver::{Driver, Incoming}};\nuse super::Other;";

        assert_eq!(found("driver/turn.rs", text), Vec::<String>::new());
    }

    #[test]
    fn what_is_above_is_a_problem_in_use_lines_in_paths_and_by_a_name_of_the_root() {
        let text = "use crate::{task::TaskContext, pair::Group};\nfn a(_: crate::context::Context) {}\nuse crate::Context;\n\
                    use crate::ContextBuilder as B;";

        let problem = |line: usize, target: &str| {
            format!(
                "{ROOT}driver.rs:{line}: `driver` may not know `{target}`, which is above it in LAYERS of tidy/layers.rs"
            )
        };
        let mut all = found("driver.rs", text);
        all.sort();
        assert_eq!(
            all,
            [problem(1, "pair"), problem(2, "context"), problem(3, "context"), problem(4, "context")]
        );
    }

    #[test]
    fn code_of_tests_may_know_everything() {
        let text = "#[cfg(test)]\nmod tests { use crate::pair::Group; }";

        assert_eq!(found("driver/turn.rs", text), Vec::<String>::new());
        assert_eq!(found("driver/tests.rs", "use crate::pair::Group;"), Vec::<String>::new());
    }

    #[test]
    fn a_new_module_needs_a_place() {
        assert_eq!(
            found("novel.rs", ""),
            [format!(
                "{ROOT}novel.rs: `novel` has no place in LAYERS of tidy/layers.rs: say what it may know"
            )]
        );
    }
}
