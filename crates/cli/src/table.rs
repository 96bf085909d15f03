//! Tables on a terminal.

use std::fmt::Write as _;

/// Rows in columns that are as wide as they need to be, below their names. No rows, no table.
pub(crate) fn table<const N: usize>(columns: [&str; N], rows: &[[String; N]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let widths: Vec<usize> = (0..N)
        .map(|at| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.chain([columns[at].len()]).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: [&str; N]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            write!(line, "{}  ", plain(cell, *width)).expect("a text takes whatever is written to it");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(columns);
    for row in rows {
        line(std::array::from_fn(|at| row[at].as_str()));
    }
    text
}

/// Without anything that could steer the terminal, filled up to `width`.
fn plain(text: &str, width: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("{plain:<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need_to_be_and_nothing_steers_the_terminal() {
        let rows = [["a".to_owned(), "1".to_owned()], ["längst".to_owned(), "\u{1b}[31m2".to_owned()]];

        assert_eq!(table(["ID", "NAME"], &rows), "ID      NAME\na       1\nlängst  \u{fffd}[31m2\n");
        assert_eq!(table(["ID"], &[]), "");
    }
}
