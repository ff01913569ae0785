//! Documents and other pages in a format for people or programs.

mod csv;
mod heap_map;
mod html;
mod markdown;
mod profile_changes;
mod profile_page;
mod terminal;
mod timeline;

pub use csv::csv;
pub use heap_map::{HeapFacts, heap_map_page, heap_page};
pub use html::html;
pub use markdown::markdown;
pub use profile_changes::profile_changes;
pub use profile_page::{profile_line, profile_page};
pub use terminal::{folded, terminal, wrapped};
pub use timeline::{TimelineFacts, timeline_page};
