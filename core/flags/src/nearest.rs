//! Suggestions: the name nearest to one that does not exist.

/// Returns the candidate nearest to `name`: one that differs only in case, or else the one with the
/// fewest letters inserted, deleted or replaced, at most about a third of the longer name (none of
/// one letter, one of two to four, two of five). The first of equals wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter_map(|c| {
            let edits = if c.eq_ignore_ascii_case(name) {
                0
            } else {
                distance(name, c)
            };
            let length = name.chars().count().max(c.chars().count());
            (edits <= (length + 1) / 3).then_some((edits, c))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, c)| c)
}

/// The Levenshtein distance in characters, in O(a x b) steps and O(b) memory.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Joins words as in `a, b and c`.
pub(super) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., end] => format!("{} and {end}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("qg", "qb", 1),
            ("same", "same", 0),
            ("größe", "grosse", 3),
        ] {
            assert_eq!(distance(a, b), d, "{a} {b}");
            assert_eq!(distance(b, a), d, "{b} {a}");
        }
    }

    #[test]
    fn nearest_is_near_or_nothing() {
        let names = ["two-space", "copying", "compacting", "a", "qg"];
        assert_eq!(nearest("coppying", names), Some("copying"));
        assert_eq!(nearest("twospace", names), Some("two-space"));
        assert_eq!(nearest("A", names), Some("a"));
        assert_eq!(nearest("qx", names), Some("qg"));
        assert_eq!(nearest("b", names), None);
        assert_eq!(nearest("immix", names), None);
    }
}
