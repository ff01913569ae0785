//! The measurable part of plain prose.
//!
//! A *headless pronoun* is one of [`PRONOUNS`]: in a technical text it nearly always stands where a
//! noun should. Code between backquotes and in code blocks is not counted, nor is text in angle
//! brackets.

use std::path::Path;

/// The words that are counted.
pub const PRONOUNS: [&str; 6] = ["who", "whoever", "what", "whatever", "nobody", "somebody"];

/// The most pronouns in 1000 words of a crate's comments, or of `docs/` and the README.
pub const MOST_IN_A_FOLDER: f64 = 2.0;

/// The most pronouns in 1000 words of one file of more than [`LONG`] words.
pub const MOST_IN_A_FILE: f64 = 5.0;

/// A file of more words than this is held against [`MOST_IN_A_FILE`].
pub const LONG: usize = 500;

/// The longest line of a comment, in columns.
pub const WIDTH: usize = 100;

/// The fewest words of the documentation of a public item.
pub const FEWEST_WORDS: usize = 3;

/// A text as it is counted: how many words, and the lines with pronouns.
#[derive(Debug, Default, Clone)]
pub struct Count {
    /// The number of words.
    pub words: usize,
    /// The words that are [`PRONOUNS`].
    pub pronouns: usize,
    /// Line number and line of each pronoun.
    pub lines: Vec<(usize, String)>,
}

impl Count {
    /// Adds another text.
    pub fn add(&mut self, other: &Count) {
        self.words += other.words;
        self.pronouns += other.pronouns;
    }

    /// Pronouns in 1000 words; 0 for an empty text.
    pub fn per_thousand(&self) -> f64 {
        1000.0 * self.pronouns as f64 / self.words.max(1) as f64
    }
}

/// A place that breaks a rule, and the rule.
#[derive(Debug)]
pub struct Fault {
    /// The line's number, from 1.
    pub line: usize,
    /// The rule that it breaks.
    pub rule: String,
}

/// The comment lines of a Rust source, without their slashes: number, marker (`//`, `///`, `//!`)
/// and text. Comments behind code count; slashes within string literals do not.
fn comments(source: &str) -> impl Iterator<Item = (usize, &'static str, &str)> {
    source.lines().enumerate().filter_map(|(at, line)| {
        let start = comment_start(line)?;
        let text = &line[start + 2..];
        let (marker, text) = match text.as_bytes().first() {
            Some(b'/') => ("///", &text[1..]),
            Some(b'!') => ("//!", &text[1..]),
            _ => ("//", text),
        };
        Some((at + 1, marker, text))
    })
}

/// Where a comment begins in `line`: the first `//` with an even number of quotes before it.
fn comment_start(line: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = line[from..].find("//") {
        let at = from + found;
        let quotes = line[..at].matches('"').count() - line[..at].matches("\\\"").count();
        let in_address = line[..at].ends_with(':');
        if quotes.is_multiple_of(2) && !in_address {
            return Some(at);
        }
        from = at + 2;
    }
    None
}

/// Counts the lines of a text. `lines` are numbered; code blocks between lines of backquotes, code
/// spans and angle brackets are left out.
fn count<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Count {
    let mut total = Count::default();
    let (mut in_block, mut in_span) = (false, false);
    for (number, line) in lines {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            in_span = false;
            continue;
        }
        if in_block {
            continue;
        }
        // A paragraph ends a code span that was never closed.
        if line.trim().is_empty() {
            in_span = false;
        }
        let mut text = String::new();
        let mut in_brackets = false;
        for c in line.chars() {
            match c {
                '`' => in_span = !in_span,
                '<' if !in_span => in_brackets = true,
                '>' if !in_span => in_brackets = false,
                _ if in_span || in_brackets => {}
                _ => text.push(c),
            }
        }
        let words = text
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '_' || c == '-'))
            .filter(|word| word.contains(char::is_alphabetic));
        for word in words {
            total.words += 1;
            if PRONOUNS.contains(&word.to_lowercase().as_str()) {
                total.pronouns += 1;
                total.lines.push((number, line.trim().to_string()));
            }
        }
    }
    total
}

/// Counts the comments of a Rust source.
pub fn count_rust(source: &str) -> Count {
    count(comments(source).map(|(number, _, text)| (number, text)))
}

/// Counts a page of Markdown.
pub fn count_markdown(source: &str) -> Count {
    count(source.lines().enumerate().map(|(at, line)| (at + 1, line)))
}

/// Counts the comments of a file in a language whose comments begin with `#`.
pub fn count_script(source: &str) -> Count {
    let lines = source.lines().enumerate().filter_map(|(at, line)| {
        let text = line.trim_start().strip_prefix('#')?;
        Some((at + 1, text))
    });
    count(lines)
}

/// The lines of a Rust source whose comment is too wide, or that document a public item in fewer
/// than [`FEWEST_WORDS`] words.
pub fn faults(source: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let lines: Vec<&str> = source.lines().collect();
    for (number, _, _) in comments(source) {
        let line = lines[number - 1];
        let is_comment = line.trim_start().starts_with("//");
        if is_comment && line.chars().count() > WIDTH && line.split_whitespace().count() > 2 {
            let rule = format!("the comment ends after column {WIDTH}");
            faults.push(Fault { line: number, rule });
        }
    }
    faults.extend(short_documentation(&lines));
    faults.sort_by_key(|fault| fault.line);
    faults
}

/// Documentation of one line, above a public item, that has too few words.
fn short_documentation(lines: &[&str]) -> Vec<Fault> {
    let documented = |at: usize| lines.get(at).is_some_and(|line| line.trim_start().starts_with("///"));
    let is_alone = |at: usize| documented(at) && !documented(at + 1) && (at == 0 || !documented(at - 1));
    let mut faults = Vec::new();
    for at in (0..lines.len()).filter(|&at| is_alone(at)) {
        let item = lines[at + 1..]
            .iter()
            .map(|line| line.trim_start())
            .find(|line| !line.starts_with("#["))
            .unwrap_or_default();
        let text = lines[at].trim_start().trim_start_matches('/').trim();
        let words = text.split_whitespace().count();
        if item.starts_with("pub ") && words < FEWEST_WORDS {
            let rule = format!("the documentation of a public item has {words} words: `{text}`");
            faults.push(Fault { line: at + 1, rule });
        }
    }
    faults
}

/// Whether `path` is a source that is counted: no expected text of a test.
pub fn is_counted(path: &Path) -> bool {
    !path
        .components()
        .any(|part| part.as_os_str() == "fixtures" || part.as_os_str() == "snapshots")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pronouns_in_comments_are_counted_and_code_is_not() {
        let source =
            "/// Who comes, `what` \"whatever\"\nlet who = \"// nobody\"; // somebody\n//! ```\n//! who\n//! ```\n";
        let count = count_rust(source);
        assert_eq!((count.words, count.pronouns), (4, 3));
        assert_eq!(count.lines.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 1, 2]);
    }

    #[test]
    fn a_page_is_counted_without_its_code() {
        let count = count_markdown("What `who`\nis\n\n```sh\nwho\n```\n[whatever](who.md)\n");
        assert_eq!(count.pronouns, 3);
    }

    #[test]
    fn wide_lines_and_short_documentation_are_faults() {
        let wide = format!("// {} {}\n", "a".repeat(60), "b".repeat(60));
        assert_eq!(faults(&wide).len(), 1);
        assert_eq!(faults("/// Which.\n#[inline]\npub fn id() {}\n").len(), 1);
        assert_eq!(
            faults("/// Which.\nfn id() {}\n/// The thread's id.\npub fn id() {}\n").len(),
            0
        );
    }
}
