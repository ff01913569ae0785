//! `include`: experiment files that a file builds on.
//!
//! The texts of all files are joined behind each other, the file itself first, so that every place
//! is one of the joined text, and `plan.json` has all that the plan depends on. A key of a file
//! replaces that of the files that it includes, and a later included file replaces an earlier one.
//! Only `[flags]` are joined key by key.

use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::errors::{Parsed, Part, Source, SpecError};
use super::read;

/// More files are a mistake.
const MOST_FILES: usize = 100;

const HELP: &str = "files that this one builds on, relative to it: include = [\"base.toml\"]";

/// Reads the files that the file in `source` includes, whose path is `path`, and joins them to it.
pub(super) fn join(source: Source, path: &Path) -> Parsed<Source> {
    let mut gathered = Gathered {
        joined: Source {
            parts: Vec::new(),
            ..source
        },
        above: Vec::new(),
    };
    let whole = gathered.joined.text.len();
    gathered.joined.parts.push(Part {
        name: gathered.joined.name.clone(),
        start: 0,
        end: whole,
        includes: Vec::new(),
    });
    gathered.follow(0, path)?;
    // A file that includes none is as it would be without this.
    if gathered.joined.parts.len() == 1 {
        gathered.joined.parts.clear();
    }
    Ok(gathered.joined)
}

struct Gathered {
    joined: Source,
    /// The files that include the current one, from the first on: their real paths and their names.
    above: Vec<(PathBuf, String)>,
}

impl Gathered {
    /// Reads the files that part `number`, the file at `path`, includes.
    fn follow(&mut self, number: usize, path: &Path) -> Parsed<()> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = self.joined.parts[number].name.clone();
        self.above.push((real, name));
        for wanted in self.includes(number)? {
            let (place, file) = (wanted.span(), wanted.get_ref());
            let at = path.parent().unwrap_or(Path::new("")).join(file);
            let real = at.canonicalize().unwrap_or_else(|_| at.clone());
            if let Some(first) = self.above.iter().position(|(above, _)| *above == real) {
                let mut names: Vec<&str> = self.above[first..].iter().map(|(_, name)| name.as_str()).collect();
                names.push(names[0]);
                let message = format!("`include` goes in a circle: {}", names.join(" includes "));
                return Err(
                    SpecError::at(&self.joined, place, message, "included before").help("take one of these lines out")
                );
            }
            if self.joined.parts.len() >= MOST_FILES {
                let message = format!("`include`: more than {MOST_FILES} files");
                return Err(SpecError::at(&self.joined, place, message, "one too many"));
            }
            let read = read::read(&at).map_err(|error| {
                SpecError::at(
                    &self.joined,
                    place,
                    format!("`include`: {}", error.message()),
                    "this file",
                )
                .help(error.remedy_or(HELP))
            })?;
            let new = self.add(read);
            self.joined.parts[number].includes.push(new);
            self.follow(new, &at)?;
        }
        self.above.pop();
        Ok(())
    }

    /// Adds a file behind the others. Returns the number of its part.
    fn add(&mut self, file: Source) -> usize {
        let text = &mut self.joined.text;
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("\n# included: {}\n", file.name));
        let start = text.len();
        text.push_str(&file.text);
        let end = text.len();
        self.joined.parts.push(Part {
            name: file.name,
            start,
            end,
            includes: Vec::new(),
        });
        self.joined.parts.len() - 1
    }

    /// The files that a part includes.
    fn includes(&self, number: usize) -> Parsed<Vec<Spanned<String>>> {
        let source = &self.joined;
        let text = padded(source, &source.parts[number]);
        // A file that is not TOML is reported when it is parsed as a whole.
        let Ok(document) = DeTable::parse(&text) else {
            return Ok(Vec::new());
        };
        let Some(value) = document.get_ref().get("include") else {
            return Ok(Vec::new());
        };
        let wrong = |value: &Spanned<DeValue<'_>>| {
            SpecError::at(
                source,
                value.span(),
                "`include` must be an array of files",
                "no list of files",
            )
            .help(HELP)
        };
        let list = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        list.iter()
            .map(|item| {
                let file = item.get_ref().as_str().ok_or_else(|| wrong(item))?;
                Ok(Spanned::new(item.span(), file.to_owned()))
            })
            .collect()
    }
}

/// The text of a part behind as many blanks as there are bytes before it: so a place in it is one
/// of the joined text.
pub(super) fn padded(source: &Source, part: &Part) -> String {
    let mut text = " ".repeat(part.start);
    text.push_str(&source.text[part.start..part.end]);
    text
}

/// The table of part `number` on top of those that it includes.
pub(super) fn merged<'t>(tables: &[DeTable<'t>], parts: &[Part], number: usize) -> DeTable<'t> {
    let mut all = DeTable::new();
    for below in &parts[number].includes {
        put(&mut all, merged(tables, parts, *below));
    }
    put(&mut all, tables[number].clone());
    all.remove("include");
    all
}

/// Enters the keys of `over` into `all`.
fn put<'t>(all: &mut DeTable<'t>, over: DeTable<'t>) {
    for (key, value) in over {
        let is_flags = key.get_ref() == "flags" || key.get_ref() == "ocaml";
        match (
            all.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut),
            value.get_ref(),
        ) {
            (Some(DeValue::Table(below)), DeValue::Table(table)) if is_flags => {
                for (flag, value) in table.clone() {
                    below.remove(flag.get_ref().as_ref());
                    below.insert(flag, value);
                }
            }
            _ => {
                // An equal key would keep the place of the old one.
                all.remove(key.get_ref().as_ref());
                all.insert(key, value);
            }
        }
    }
}
