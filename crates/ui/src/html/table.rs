//! Rows and columns: [`Table`].

use super::{cell::Cell, escape::push_escaped};

/// Rows and columns below a title. The number of rows stands behind the title.
#[derive(Debug)]
pub(crate) struct Table {
    title: &'static str,
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(
        title: &'static str,
        columns: &'static [&'static str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        Self { title, columns, rows: rows.into_iter().map(Vec::from).collect() }
    }

    pub(super) fn write(&self, out: &mut String) {
        out.push_str("<h2>");
        push_escaped(out, &format!("{} ({})", self.title, self.rows.len()));
        out.push_str("</h2>\n");
        if self.rows.is_empty() {
            return;
        }
        out.push_str("<table>\n<tr>");
        for column in self.columns {
            out.push_str("<th>");
            push_escaped(out, column);
            out.push_str("</th>");
        }
        out.push_str("</tr>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for cell in row {
                out.push_str(if cell.is_number() { "<td class=\"n\">" } else { "<td>" });
                cell.write(out);
                out.push_str("</td>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</table>\n");
    }
}
