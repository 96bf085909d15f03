//! A table before it has a form.

/// A head and rows of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// The heads of the columns.
    pub head: Vec<String>,
    /// Rows with as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The text of the cell.
    pub text: String,
    /// Whether the figure in it is reached, where one is asked for.
    pub reached: Option<bool>,
}

impl Cell {
    /// A cell without a verdict.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), reached: None }
    }

    /// A cell with a figure that is wanted, shown by `bound`, and whether it is reached.
    pub fn judged(text: &str, bound: &str, reached: bool) -> Self {
        Self { text: format!("{text} ({bound})"), reached: Some(reached) }
    }

    /// The text with a mark for the verdict.
    pub fn marked(&self) -> String {
        match self.reached {
            Some(true) => format!("{} ✓", self.text),
            Some(false) => format!("{} ✗", self.text),
            None => self.text.clone(),
        }
    }
}
