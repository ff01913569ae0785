//! Names of files and programs in messages: anybody may have chosen them.

use std::path::Path;

/// Whether this character must not be output as it is: it controls the terminal, ends a line
/// (except `\n`) or changes the direction of text.
pub fn is_unprintable(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    turns || ends_line || c.is_control() && !"\n\t".contains(c)
}

/// A name on one line: line breaks, tabs and unprintable characters are escaped as `\n` and
/// `\u{1b}`.
pub fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() || is_unprintable(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// A path in a message, [`escaped`].
pub fn path_name(path: impl AsRef<Path>) -> String {
    escaped(&path.as_ref().display().to_string())
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_name_stays_on_one_line() {
        assert_eq!(escaped("a\nb\t\u{1b}[31m\u{202e}é"), r"a\nb\t\u{1b}[31m\u{202e}é");
    }
}
