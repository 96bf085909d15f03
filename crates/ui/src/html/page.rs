//! A whole page: [`Page`].

use std::fmt::Write as _;

use super::{cell::Cell, escape::push_escaped, table::Table};

/// How a page looks.
const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;color:#1c2430;background:#fff;max-width:1200px;margin:0 auto;padding:0 20px 40px}\
header{border-bottom:2px solid #c2410c;padding:14px 0 10px}\
h1{font-size:20px;margin:0}h2{font-size:16px;margin:26px 0 8px}\
nav{margin-top:8px}nav a{margin-right:16px}\
a{color:#9a3412}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:14px 0}dt{color:#5b6472}dd{margin:0}\
table{border-collapse:collapse;width:100%}\
th{text-align:left;color:#5b6472;font-weight:600;border-bottom:1px solid #c9ced6}\
td,th{padding:4px 12px 4px 0;vertical-align:top}tr+tr td{border-top:1px solid #eceef1}\
td.n{text-align:right;font-variant-numeric:tabular-nums}\
td,dd{overflow-wrap:break-word}\
progress{width:90px;accent-color:#c2410c}\
pre{background:#f6f7f9;padding:12px;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}\
footer{margin-top:30px;color:#5b6472;font-size:13px}\
@media(prefers-color-scheme:dark){body{background:#14181e;color:#dde3ea}a{color:#fdba74}pre{background:#1d232b}\
tr+tr td{border-color:#262d36}th{border-color:#3a424d}dt,th,footer{color:#98a2af}}";

/// How often a page that shows what happens now is loaded again.
const REFRESH_SECONDS: u32 = 5;

/// A page: a title, links to its neighbours, and below them facts, tables and texts in the order they are added.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    links: Vec<Cell>,
    is_live: bool,
    body: String,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), links: Vec::new(), is_live: true, body: String::new() }
    }

    /// With links to its neighbours.
    pub(crate) fn links(mut self, links: impl IntoIterator<Item = Cell>) -> Self {
        self.links.extend(links);
        self
    }

    /// Not loaded again by itself.
    pub(crate) fn still(mut self) -> Self {
        self.is_live = false;
        self
    }

    /// With a list of names and what they stand for.
    pub(crate) fn facts(mut self, facts: impl IntoIterator<Item = (&'static str, Cell)>) -> Self {
        self.body.push_str("<dl>\n");
        for (name, fact) in facts {
            self.body.push_str("<dt>");
            push_escaped(&mut self.body, name);
            self.body.push_str("</dt><dd>");
            fact.write(&mut self.body);
            self.body.push_str("</dd>\n");
        }
        self.body.push_str("</dl>\n");
        self
    }

    /// With a table.
    pub(crate) fn table(mut self, table: &Table) -> Self {
        table.write(&mut self.body);
        self
    }

    /// With a table, if it is `wanted`.
    pub(crate) fn table_if(self, wanted: bool, table: &Table) -> Self {
        if wanted { self.table(table) } else { self }
    }

    /// With a line of links or words.
    pub(crate) fn line(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.body.push_str("<p>");
        Cell::Several(cells.into_iter().collect()).write(&mut self.body);
        self.body.push_str("</p>\n");
        self
    }

    /// With a text in which every character stands as it is.
    pub(crate) fn verbatim(mut self, text: &str) -> Self {
        self.body.push_str("<pre>");
        push_escaped(&mut self.body, text);
        self.body.push_str("</pre>\n");
        self
    }

    pub(crate) fn render(self) -> String {
        let mut out = String::with_capacity(self.body.len() + STYLE.len() + 1024);
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
        if self.is_live {
            writeln!(out, "<meta http-equiv=\"refresh\" content=\"{REFRESH_SECONDS}\">")
                .expect("a text takes whatever is written to it");
        }
        out.push_str("<title>");
        push_escaped(&mut out, &self.title);
        out.push_str("</title>\n<style>");
        out.push_str(STYLE);
        out.push_str("</style>\n</head>\n<body>\n<header><h1>");
        push_escaped(&mut out, &self.title);
        out.push_str("</h1>");
        if !self.links.is_empty() {
            out.push_str("\n<nav>");
            Cell::Several(self.links).write(&mut out);
            out.push_str("</nav>");
        }
        out.push_str("</header>\n");
        out.push_str(&self.body);
        out.push_str("<footer>Firesteel ");
        out.push_str(env!("CARGO_PKG_VERSION"));
        out.push_str(". Times are UTC.</footer>\n</body>\n</html>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_on_a_page_is_escaped() {
        const EVIL: &str = "<script>x</script>";
        let page = Page::new(EVIL)
            .links([Cell::link("/\"><script>", EVIL)])
            .facts([("Name", Cell::text(EVIL))])
            .table(&Table::new("Rows", &["Name"], [[Cell::text(EVIL)], [Cell::number(EVIL)]]))
            .line([Cell::text(EVIL)])
            .verbatim(EVIL)
            .render();

        assert!(!page.contains("<script"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;x").count(), 8);
        assert!(page.contains("Rows (2)"));
    }

    #[test]
    fn a_live_page_is_loaded_again_and_a_still_one_is_not() {
        assert!(Page::new("a").render().contains("http-equiv=\"refresh\""));
        assert!(!Page::new("a").still().render().contains("refresh"));
    }
}
