//! Tables as Markdown.

use std::fmt::{Display, Write};

use super::{Grid, grids};
use crate::compare::Comparison;

/// The page of a comparison.
pub fn markdown(comparison: &Comparison) -> String {
    let mut page = format!("# Benchmarks, {}\n\n", comparison.machine.day);
    page += &list(comparison.machine.lines().iter().chain(&comparison.versions()));
    page.push_str(
        "\nMedians; ratios are of this run on this machine. Each figure in brackets is the one wanted; ✓ it is reached, ✗ it \
         is not.\n",
    );
    for grid in grids(comparison) {
        page.push_str(&table(&grid));
    }
    if !comparison.failures.is_empty() {
        page.push_str("\n## What did not work\n\n");
        page += &list(comparison.failures.iter().filter_map(|failure| failure.lines().next()));
    }
    page
}

fn list(items: impl Iterator<Item = impl Display>) -> String {
    items.map(|item| format!("- {item}\n")).collect::<Vec<_>>().concat()
}

fn table(grid: &Grid) -> String {
    let mut text = format!("\n## {}\n\n| {} |\n|", grid.title, grid.head.join(" | "));
    for column in 0..grid.head.len() {
        text.push_str(if column == 0 { "---|" } else { "---:|" });
    }
    text.push('\n');
    for row in &grid.rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.marked().replace('|', "\\|")).collect();
        writeln!(text, "| {} |", cells.join(" | ")).expect("a text takes every line");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Cell;

    #[test]
    fn a_grid_becomes_a_table() {
        let rows = vec![vec![Cell::plain("join"), Cell::judged("2×", "≤ 3", true)]];
        let grid = Grid { title: "Here".to_owned(), head: vec!["a".to_owned(), "b".to_owned()], rows };

        assert_eq!(table(&grid), "\n## Here\n\n| a | b |\n|---|---:|\n| join | 2× (≤ 3) ✓ |\n");
    }

    #[test]
    fn a_page_says_what_failed() {
        let failures = vec!["join: spark gave 4\nand more".to_owned()];

        let page = markdown(&Comparison { failures, ..Comparison::default() });

        assert!(page.ends_with("## What did not work\n\n- join: spark gave 4\n"), "{page}");
    }
}
