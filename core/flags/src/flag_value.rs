//! A flag with its value, as in an experiment file or a plan.

use std::collections::BTreeMap;
use std::fmt;

use super::parse::unknown_key;
use super::read::Called;
use super::value::Value;
use super::{FLAGS, FlagError, FlagSpec, Flags};

/// A flag with a value of its type, and the text that the value was read from.
///
/// Records and the ids of configurations keep the text as written, so two of these are equal if key
/// and text are. To compare values, see [`FlagValue::meaning`].
#[derive(Clone)]
pub struct FlagValue {
    spec: &'static FlagSpec,
    value: Value,
    text: String,
}

impl FlagValue {
    /// Reads the value of `key`, a name of experiment files. Numbers and booleans are given as
    /// their text. `false` removes an optional value, and turns a switch off.
    ///
    /// # Errors
    /// An unknown key (with the nearest one), or a value that is not legal.
    pub fn read(key: &str, text: &str) -> Result<FlagValue, FlagError> {
        let Some(spec) = FLAGS.iter().find(|spec| spec.toml == Some(key)) else {
            return Err(unknown_key(key));
        };
        Ok(FlagValue {
            spec,
            value: spec.kind.read_key(&Called::Key(key), text, spec.optional)?,
            text: text.to_owned(),
        })
    }

    /// The flag's name in experiment files.
    pub fn key(&self) -> &'static str {
        self.spec.toml.unwrap_or(self.spec.name)
    }

    /// The value as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The effect of the value as words of a command line: equal for `1m` and `1024k`.
    pub fn meaning(&self) -> Vec<String> {
        let mut flags = Flags::default();
        flags.apply(self);
        flags.to_words()
    }
}

impl fmt::Debug for FlagValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:?}", self.key(), self.text)
    }
}

impl PartialEq for FlagValue {
    fn eq(&self, other: &FlagValue) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for FlagValue {}

impl PartialOrd for FlagValue {
    fn partial_cmp(&self, other: &FlagValue) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FlagValue {
    fn cmp(&self, other: &FlagValue) -> std::cmp::Ordering {
        (self.key(), &self.text).cmp(&(other.key(), &other.text))
    }
}

impl Flags {
    /// Enters a flag with its value.
    pub fn apply(&mut self, value: &FlagValue) {
        let text = match &value.value {
            Value::On | Value::Off | Value::Name(_) => value.value.text(&value.spec.kind),
            _ => value.text.clone(),
        };
        self.enter(value.spec, value.value.clone(), value.spec.word(&text));
    }

    /// Enters the value of `key`: [`FlagValue::read`] and [`Flags::apply`].
    ///
    /// # Errors
    /// As [`FlagValue::read`].
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), FlagError> {
        self.apply(&FlagValue::read(key, text)?);
        Ok(())
    }

    /// Returns the flags that differ from the default, by their names in experiment files.
    pub fn as_toml(&self) -> BTreeMap<&'static str, FlagValue> {
        let default = Flags::default();
        let entry = |spec: &'static FlagSpec| {
            let (key, value) = (spec.toml?, (spec.get)(self)?);
            let given = Some(&value) != (spec.get)(&default).as_ref();
            given.then(|| {
                let text = value.key_text(&spec.kind);
                (key, FlagValue { spec, value, text })
            })
        };
        FLAGS.iter().filter_map(entry).collect()
    }
}
