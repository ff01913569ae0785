//! The text of `-?` and the page of flags in `docs/`, from the table.

use super::{FLAGS, Scope};

/// All flags with their meanings, defaults and ranges, and their differences from GHC: the text
/// that `-?` prints.
pub fn help() -> String {
    let mut text =
        "Flags, between +RTS and -RTS, or in GCLABRTS (sizes: k, m, g, t are powers of 1024, w is words of 8 bytes).\n\
         The command line overrides GCLABRTS. `--no-` and a flag's name takes the flag back: --no-c, --no-M, --no-sizing.\n"
            .to_owned();
    for spec in FLAGS {
        text += &format!("\n  {:<20} {}", spec.form(), spec.meaning);
        let mut notes = vec![format!("default: {}", spec.default)];
        if let Some((min, max)) = spec.kind.range() {
            notes.push(format!("range: {min} to {max}"));
        }
        if spec.parameter().is_some() {
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

/// The table as a page of Markdown: `docs/flags.md`.
pub fn markdown() -> String {
    let mut page = "# Flags

[All pages](README.md)

GHC's names and meanings, between `+RTS` and `-RTS` on the command line of `gclab exec`, in the environment variable `GCLABRTS` (read first), \
and by their key under `[flags]` and `[sweep]` in an experiment file. Sizes take `k`, `m`, `g`, `t` (powers of 1024) and `w` (words of 8 bytes).
A flag marked *collector* is refused if the chosen collector does not honour it.\n
The command line overrides `GCLABRTS`: of two flags that exclude each other, the one in `GCLABRTS` is dropped, and a note says so. `--no-` and a flag's name cancels the flag, wherever it was given: `--no-c`, `--no-hT`, `--no-sizing` (and `--huge-pages` cancels `--no-huge-pages`). \
`--RTS` ends the flags: all words after it are the program's, even `+RTS` and words that begin with a dash. `gclab` does not read `GHCRTS`, and says so if it is set. \
An interrupted run (Ctrl-C, SIGTERM) stops at its next safepoint, writes the statistics and the profile up to there, and then ends by the signal: a shell shows status 130 or 143.\n
A program with its own `main` can set flags itself and restrict those its users may give, as with GHC's `-with-rtsopts` and `-rtsopts`: `gclab::Settings`.\n
| flag | key | value | default | meaning | differs from GHC |
|---|---|---|---|---|---|
"
    .to_owned();
    for spec in FLAGS {
        let range = spec
            .kind
            .range()
            .map_or(String::new(), |(min, max)| format!(", {min} to {max}"));
        let key = match (spec.scope, spec.toml) {
            (Scope::Profile, _) => "in `profiles`".to_owned(),
            (_, Some(key)) => format!("`{key}`"),
            (_, None) => "-".to_owned(),
        };
        let scope = if spec.parameter().is_some() {
            " (*collector*)"
        } else {
            ""
        };
        page += &format!(
            "| `{}` | {key} | {}{range} | {} | {}{scope} | {} |\n",
            spec.form(),
            spec.kind.name(),
            spec.default,
            spec.meaning.replace('<', "&lt;"),
            spec.ghc.unwrap_or("").replace('<', "&lt;")
        );
    }
    page
}
