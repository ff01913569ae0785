//! A collector's own flags (`--own`).

use super::Config;

/// A collector's own flag: a whole number in a range, 0 or 1 for a switch. A collector lists it
/// among the parameters that it honours ([`super::Parameter::Own`]), and reads its value when it is
/// created ([`OwnFlag::of`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnFlag {
    /// The name, as in `--own=NAME=4`: letters, digits and dashes.
    pub name: &'static str,
    /// Its meaning, in one line.
    pub meaning: &'static str,
    /// The default value.
    pub default: u64,
    /// The smallest legal value.
    pub least: u64,
    /// The largest legal value.
    pub most: u64,
}

impl OwnFlag {
    /// The value in `config`: the last one that is given, or the default.
    ///
    /// # Panics
    /// If the text in [`Config::own`] is not a legal value. (The reader of the flags refuses that with
    /// a message.)
    pub fn of(&self, config: &Config) -> u64 {
        let given = config.own.iter().rev().find_map(|word| self.text_in(word));
        given.map_or(self.default, |text| {
            let value = text
                .parse()
                .ok()
                .filter(|value| (self.least..=self.most).contains(value));
            value.unwrap_or_else(|| panic!("--own={}={text} is not legal", self.name))
        })
    }

    /// The text of the value in `word`, if that is `NAME=VALUE` with this name.
    pub fn text_in<'w>(&self, word: &'w str) -> Option<&'w str> {
        word.strip_prefix(self.name)?.strip_prefix('=')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts_and_other_names_do_not() {
        let flag = OwnFlag {
            name: "period",
            meaning: "collections",
            default: 8,
            least: 1,
            most: 100,
        };
        let of = |own: &[&str]| {
            let own = own.iter().map(|&word| word.to_owned()).collect();
            flag.of(&Config {
                own,
                ..Config::default()
            })
        };
        assert_eq!(of(&[]), 8);
        assert_eq!(of(&["period=3", "periods=5", "period=4", "perio=6"]), 4);
    }
}
