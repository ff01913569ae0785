//! The text of `-?`, from the table.

use super::{FLAGS, Scope};

/// All flags with their meanings, defaults and ranges, and where they differ from GHC's: what `-?` prints.
pub fn help() -> String {
    let mut text = "Flags, between +RTS and -RTS, or in GCLABRTS (sizes: k, m, g, t are powers of 1024, w is words of 8 bytes):\n".to_owned();
    for spec in FLAGS {
        text += &format!("\n  {:<20} {}", spec.form(), spec.meaning);
        let mut notes = vec![format!("default: {}", spec.default)];
        if let Some((min, max)) = spec.kind.range() {
            notes.push(format!("range: {min} to {max}"));
        }
        if spec.scope == Scope::Collector {
            notes.push("if the collector honours it".to_owned());
        }
        text += &format!("\n{:23}({})", "", notes.join("; "));
        if let Some(difference) = spec.ghc {
            text += &format!("\n{:23}differs from GHC: {difference}", "");
        }
        text.push('\n');
    }
    text
}
