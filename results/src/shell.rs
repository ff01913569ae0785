//! Text for terminals: command lines as people type them, and names that cannot drive a terminal.

use std::borrow::Cow;

use gclab_core::stats::render::is_unprintable;

/// A command line as text on one line, which a shell splits into the same words.
pub fn shell_line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else if word.contains(|c: char| c.is_control() || is_unprintable(c)) {
            // For bash and zsh. A line break in other quotes would end a comment.
            format!(
                "$'{}'",
                word.replace('\\', r"\\")
                    .replace('\'', r"\'")
                    .chars()
                    .map(in_quotes)
                    .collect::<String>()
            )
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// A character of a word between `$'` and `'`.
fn in_quotes(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        c if is_unprintable(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}

/// The same text without characters that control the terminal, end a line or change the direction
/// of text: they become `\u001b`, which JSON reads as the character. Line breaks and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_unprintable(c) => plain.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        let words = ["gclab", "a b", "", "it's", "-A4m", "$x", "50%", "a\n'b\\\u{1b}"].map(str::to_owned);
        assert_eq!(
            shell_line(&words),
            r"gclab 'a b' '' 'it'\''s' -A4m '$x' 50% $'a\n\'b\\\u001b'"
        );
    }

    #[test]
    fn a_name_cannot_drive_a_terminal() {
        assert_eq!(printable("a\tb\n é"), "a\tb\n é");
        assert_eq!(printable("\u{1b}[31m\u{7}\u{202e}\r"), r"\u001b[31m\u0007\u202e\u000d");
        assert_eq!(printable("a\u{2028}b\u{2029}\u{2066}"), r"a\u2028b\u2029\u2066");
        assert_eq!(shell_line(&["a\u{202e}b".to_owned()]), r"$'a\u202eb'");
    }
}
