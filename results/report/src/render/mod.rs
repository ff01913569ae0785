//! Reports in their formats: HTML, Markdown, text for a terminal, and CSV.

mod comparison;
mod csv;
mod csv_text;
mod html;
mod markdown;
mod profile_csv;
mod profile_page;
mod terminal;
mod text_table;
mod timeline;

pub use comparison::{comparison, comparison_json, comparison_markdown};
pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use profile_csv::profile_csv;
pub use profile_page::{profile_line, profile_page};
pub use terminal::terminal;
#[cfg(test)]
pub(crate) use terminal::terminal_within;
pub use timeline::{TimelineFacts, timeline_page};
