//! A flag of a runtime: its key, the values that it takes, and the words that it becomes.

use std::collections::BTreeMap;

use gclab_core::words::size::read_number;

/// The description of one flag.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flag {
    /// The key in experiment files.
    pub key: &'static str,
    /// The values that it takes.
    pub kind: Kind,
    /// Its word, with `{}` for the value. Empty for a limit of the system.
    pub word: &'static str,
    /// The meaning, in one line.
    pub meaning: &'static str,
}

/// The values of a flag.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A size: bytes, or a number with k, m, g or t.
    Size {
        /// The letters that the runtime takes, as `[k, m, g]`.
        letters: [char; 3],
    },
    /// A whole number from the first to the second.
    Integer(i64, i64),
    /// A number, not below the first.
    Number(i64),
    /// On or off: the word for `false`, which is empty if off is the default.
    Switch(&'static str),
    /// A whole number from the first to the second, or `true`, or `false` for the words at the end.
    /// A word of one dash is none.
    IntegerOr(i64, i64, &'static str, &'static str),
    /// One of these names.
    Name(&'static [&'static str]),
}

impl Flag {
    /// A flag with this key, which becomes this word.
    pub(super) const fn new(key: &'static str, kind: Kind, word: &'static str, meaning: &'static str) -> Flag {
        Flag {
            key,
            kind,
            word,
            meaning,
        }
    }

    /// The form of a legal value, in words.
    pub fn expected(&self) -> String {
        match &self.kind {
            Kind::Size { .. } => "a size, such as \"64k\", \"1m\" or \"2g\"".into(),
            Kind::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Number(least) => format!("a number, at least {least}"),
            Kind::Switch(_) => "true or false".into(),
            Kind::IntegerOr(least, most, yes, no) => {
                let words = [("true", yes), ("false", no)];
                let words = words
                    .iter()
                    .filter(|(_, word)| **word != NO_SUCH)
                    .map(|(name, _)| *name);
                let words: Vec<&str> = words.collect();
                format!("a whole number from {least} to {most}, or {}", words.join(" or "))
            }
            Kind::Name(names) => format!("one of {}", names.join(", ")),
        }
    }

    /// Reads the text of a value. `None` if the flag does not take it.
    pub fn read(&'static self, text: &str) -> Option<Value> {
        Some(Value::new(self.key, text, self.word_of(text)?))
    }

    fn word_of(&self, text: &str) -> Option<String> {
        let with = |value: &str| Some(self.word.replacen("{}", value, 1));
        let integer = |least: i64, most: i64| {
            let number = text.parse::<i64>().ok()?;
            (least..=most).contains(&number).then(|| number.to_string())
        };
        match (&self.kind, text) {
            (Kind::Size { letters }, _) => {
                let bytes = size(text)?;
                if self.word.is_empty() {
                    return Some(bytes.to_string());
                }
                with(&in_letters(bytes, letters))
            }
            (Kind::Integer(least, most), _) => with(&integer(*least, *most)?),
            (Kind::Number(least), _) => {
                let number = text.parse::<f64>().ok()?;
                (number.is_finite() && number >= *least as f64).then(|| with(&number.to_string()))?
            }
            (Kind::Switch(_), "true") => Some(self.word.to_owned()),
            (Kind::Switch(off), "false") => Some((*off).to_owned()),
            (Kind::Switch(_), _) => None,
            (Kind::IntegerOr(_, _, yes, _), "true") => (*yes != NO_SUCH).then(|| (*yes).to_owned()),
            (Kind::IntegerOr(_, _, _, no), "false") => (*no != NO_SUCH).then(|| (*no).to_owned()),
            (Kind::IntegerOr(least, most, ..), _) => with(&integer(*least, *most)?),
            (Kind::Name(names), name) => names.contains(&name).then(|| with(name))?,
        }
    }
}

/// The word of a value that [`Kind::IntegerOr`] does not take.
pub(super) const NO_SUCH: &str = "-";

/// The letters of sizes in GHC and the JVM.
pub(super) const BYTES: Kind = Kind::Size {
    letters: ['k', 'm', 'g'],
};

/// A size in bytes.
fn size(text: &str) -> Option<u64> {
    let bytes = read_number(text)?;
    // Beyond 2^50 no machine has memory, and below it every whole number is exact.
    let fits = bytes >= 0.0 && bytes.fract() == 0.0 && bytes <= (1_u64 << 50) as f64;
    fits.then_some(bytes as u64)
}

/// A size with the largest letter that leaves a whole number.
fn in_letters(size: u64, letters: &[char; 3]) -> String {
    let units = [(2, 30), (1, 20), (0, 10)];
    let whole = |(_, shift): &(usize, u32)| size > 0 && size.is_multiple_of(1 << shift);
    match units.into_iter().find(whole) {
        Some((letter, shift)) => format!("{}{}", size >> shift, letters[letter]),
        None => size.to_string(),
    }
}

/// A flag with a value.
///
/// Records and the ids of configurations have the text as it was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    key: &'static str,
    text: String,
    meaning: String,
}

impl Value {
    /// The value `text` of the flag `key`; `meaning` is its word on a command line.
    pub(super) fn new(key: &'static str, text: &str, meaning: String) -> Value {
        Value {
            key,
            text: text.to_owned(),
            meaning,
        }
    }

    /// The flag's key in experiment files.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The value as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The effect of the value, as words of a command line: equal for `1m` and `1024k`. Empty for
    /// the default.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }
}

/// A value for each flag that has one, by the flag's key.
pub type Setting = BTreeMap<&'static str, Value>;

/// The words of a setting, in the order of keys.
pub(super) fn words(setting: &Setting) -> impl Iterator<Item = &str> {
    let words = setting.values().filter(|value| value.key != ADDRESS_SPACE_KEY);
    words.map(Value::meaning).filter(|word| !word.is_empty())
}

/// The limit of address space of a setting, in bytes.
pub(super) fn address_space(setting: &Setting) -> Option<u64> {
    setting.get(ADDRESS_SPACE_KEY)?.meaning.parse().ok()
}

/// The key of [`ADDRESS_SPACE`].
pub(crate) const ADDRESS_SPACE_KEY: &str = "address-space";

/// The limit of a runtime without one.
pub(super) const ADDRESS_SPACE: Flag = Flag::new(
    ADDRESS_SPACE_KEY,
    BYTES,
    "",
    "the maximum address space of the process, as `ulimit -v` sets it",
);
