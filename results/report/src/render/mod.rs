//! Reports in their formats: HTML, Markdown, text for a terminal, CSV, Vega-Lite, and SVG files.

mod comparison;
mod csv;
mod csv_text;
mod data;
mod github;
mod heap_map;
mod history;
mod html;
mod html_table;
mod markdown;
mod profile_page;
mod rivals;
mod terminal;
mod text_table;
mod timeline;

pub use comparison::{comparison, comparison_json, comparison_markdown};
pub use csv::{csv, write_csv};
pub use heap_map::{HeapMapFacts, heap_map_page};
pub use history::{history, history_json, history_markdown};
pub use html::{html, html_and_tables};
pub use markdown::markdown;
pub use profile_page::{profile_line, profile_page};
pub use terminal::terminal;
#[cfg(test)]
pub(crate) use terminal::terminal_within;
pub use timeline::{TimelineFacts, timeline_page};
