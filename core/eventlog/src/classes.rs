//! Classes of events to record: GHC's `-l<classes>`.

/// The classes of events in a log. Every log has the events that describe the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes {
    /// `s`: threads run and stop; tasks come and go.
    pub scheduler: bool,
    /// `g`: collections and the size of the heap.
    pub gc: bool,
    /// `n`: the nonmoving collector.
    pub nonmoving: bool,
    /// `p`: counters of sparks.
    pub sparks_sampled: bool,
    /// `f`: each spark.
    pub sparks_full: bool,
    /// `u`: messages and markers of the program.
    pub user: bool,
}

impl Default for Classes {
    /// The classes of plain `-l`.
    fn default() -> Self {
        Classes {
            scheduler: true,
            gc: true,
            nonmoving: false,
            sparks_sampled: true,
            sparks_full: false,
            user: true,
        }
    }
}

/// A letter that is not a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a class of events; the classes are s, g, n, p, f, u, and a for all; - before a letter leaves it out"
)]
pub struct NoClass(pub char);

impl Classes {
    /// Each letter with its class.
    fn each(&mut self) -> [(char, &mut bool); 6] {
        [
            ('s', &mut self.scheduler),
            ('g', &mut self.gc),
            ('n', &mut self.nonmoving),
            ('p', &mut self.sparks_sampled),
            ('f', &mut self.sparks_full),
            ('u', &mut self.user),
        ]
    }

    /// Reads the text after `-l`. Letters add classes to the default ones; `a` is all of them; `-`
    /// before a letter removes it. `t`, GHC's time stamps for `-v`, is always on.
    ///
    /// # Errors
    /// The first letter that is not a class.
    pub fn parse(text: &str) -> Result<Classes, NoClass> {
        let mut classes = Classes::default();
        let mut on = true;
        for letter in text.chars() {
            if letter == '-' && on {
                on = false;
                continue;
            }
            let mut found = letter == 't';
            for (name, class) in classes.each() {
                if letter == name || letter == 'a' {
                    (*class, found) = (on, true);
                }
            }
            if !found {
                return Err(NoClass(letter));
            }
            on = true;
        }
        if on { Ok(classes) } else { Err(NoClass('-')) }
    }

    /// The text that `parse` reads back as these classes.
    pub fn text(mut self) -> String {
        let mut default = Classes::default();
        let differ = self.each().into_iter().zip(default.each());
        let differ = differ.filter(|((_, class), (_, default))| **class != **default);
        differ
            .map(|((letter, class), _)| {
                if *class {
                    letter.to_string()
                } else {
                    format!("-{letter}")
                }
            })
            .collect()
    }

    /// Whether any class is on.
    pub fn any(mut self) -> bool {
        self.each().iter().any(|(_, class)| **class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_add_to_the_default_and_a_dash_removes() {
        let parse = |text| Classes::parse(text).map(Classes::text);
        for (text, written) in [
            ("", ""),
            ("g", ""),
            ("sgpu", ""),
            ("a", "nf"),
            ("-a", "-s-g-p-u"),
            ("-ag", "-s-p-u"),
            ("-g", "-g"),
            ("a-f", "n"),
            ("n-u", "n-u"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(written), "{text}");
            assert_eq!(parse(written).as_deref(), Ok(written), "{text}");
        }
        for (text, wrong) in [("x", 'x'), ("g-", '-'), ("--g", '-'), ("G", 'G'), (" ", ' ')] {
            assert_eq!(parse(text), Err(NoClass(wrong)), "{text}");
        }
        assert!(!Classes::parse("-a").expect("legal").any() && Classes::default().any());
    }
}
