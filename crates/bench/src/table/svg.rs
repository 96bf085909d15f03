//! Tables as a picture, for pages that show no tables.

use std::fmt::Write;

use super::{Cell, Grid, grids};
use crate::compare::Comparison;

const ROW: usize = 22;
/// The width of a letter, and the space beside a cell.
const LETTER: usize = 8;
const GAP: usize = 16;

/// The picture of a comparison.
pub fn svg(comparison: &Comparison) -> String {
    let grids = grids(comparison);
    let lines: Vec<String> = comparison.machine.lines().into_iter().chain(comparison.versions()).collect();
    let table_width = |grid: &Grid| widths(grid).iter().sum::<usize>();
    let text_width = lines.iter().map(|line| line.chars().count() * LETTER).max().unwrap_or(0);
    let width = grids.iter().map(table_width).max().unwrap_or(0).max(text_width) + 2 * GAP;
    let mut body = String::new();
    let mut y = ROW;
    for line in &lines {
        text(&mut body, GAP, y, "start", "#666", line);
        y += ROW;
    }
    for grid in &grids {
        y = draw(&mut body, grid, y + ROW);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{y}\" viewBox=\"0 0 {width} {y}\" \
         font-family=\"ui-monospace, monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// Draws a table with its title at `y`; gives where it ends.
fn draw(body: &mut String, grid: &Grid, mut y: usize) -> usize {
    let widths = widths(grid);
    let width = widths.iter().sum::<usize>();
    text(body, GAP, y, "start", "#000", &grid.title);
    y += ROW;
    let head: Vec<Cell> = grid.head.iter().map(Cell::plain).collect();
    for (number, row) in std::iter::once(&head).chain(&grid.rows).enumerate() {
        if number % 2 == 0 {
            let fill = if number == 0 { "#ddd" } else { "#f4f4f4" };
            let top = y - ROW + 7;
            line(
                body,
                &format!(
                    "<rect x=\"{GAP}\" y=\"{top}\" width=\"{width}\" height=\"{ROW}\" fill=\"{fill}\"/>"
                ),
            );
        }
        let mut right = GAP;
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let colour = match cell.reached {
                Some(true) => "#176f2c",
                Some(false) => "#b42318",
                None => "#000",
            };
            let (x, anchor) =
                if column == 0 { (right + GAP / 2, "start") } else { (right + width - GAP / 2, "end") };
            text(body, x, y, anchor, colour, &cell.marked());
            right += width;
        }
        y += ROW;
    }
    y
}

fn widths(grid: &Grid) -> Vec<usize> {
    let letters = |column: usize| {
        let cells = grid.rows.iter().map(|row| row[column].marked().chars().count());
        cells.chain([grid.head[column].chars().count()]).max().unwrap_or(0)
    };
    (0..grid.head.len()).map(|column| letters(column) * LETTER + GAP).collect()
}

fn text(body: &mut String, x: usize, y: usize, anchor: &str, colour: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    line(
        body,
        &format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>"),
    );
}

fn line(body: &mut String, element: &str) {
    writeln!(body, "{element}").expect("a text takes every line");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checksum::Checksum,
        report::{Metrics, Record, Report},
        workload::find,
    };

    fn picture(seconds: f64) -> String {
        let report = |seconds| Report {
            seconds: vec![seconds],
            checksum: Checksum::rows(1),
            peak_resident_bytes: 1,
            metrics: Metrics::new(),
        };
        let record = |system, master, seconds| {
            Record::new(find("join").unwrap(), 1.0, system, master, report(seconds)).unwrap()
        };
        let peer = Record { version: Some("a < b & c".to_owned()), ..record("limit", "2 threads", 1.0) };
        let records = vec![record("firesteel", "local[2]", seconds), peer];
        svg(&Comparison { records, ..Comparison::default() })
    }

    #[test]
    fn a_picture_has_every_cell_in_the_colour_of_its_verdict() {
        let (good, bad) = (picture(1.0), picture(3.0));

        assert!(good.contains("fill=\"#176f2c\">1.00× (≤ 2) ✓</text>"), "{good}");
        assert!(bad.contains("fill=\"#b42318\">3.00× (≤ 2) ✗</text>"), "{bad}");
    }

    #[test]
    fn marks_of_the_language_are_written_as_such() {
        let picture = picture(1.0);

        assert!(picture.contains("a &lt; b &amp; c"), "{picture}");
        assert_eq!(picture.matches("<text").count(), picture.matches("</text>").count());
    }
}
