//! Tables of a comparison, for people: Markdown and SVG.

mod build;
mod grid;
mod markdown;
mod number;
mod svg;

pub use build::grids;
pub use grid::{Cell, Grid};
pub use markdown::markdown;
pub use svg::svg;
