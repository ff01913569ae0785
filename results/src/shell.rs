//! Command lines as people type them in a shell.

/// A command line as one text that a shell reads as the same words.
pub fn shell_line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%".contains(c);
    let quoted = words.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::shell_line;

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        let words = ["gclab", "a b", "", "it's", "-A4m", "$x", "50%"].map(str::to_owned);
        assert_eq!(shell_line(&words), r"gclab 'a b' '' 'it'\''s' -A4m '$x' 50%");
    }
}
