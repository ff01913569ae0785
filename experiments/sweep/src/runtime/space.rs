//! The flags of a runtime that are worth trying, for `gclab tune`.

/// A flag with the values that a search tries.
#[derive(Clone, Copy, Debug)]
pub struct TunableFlag {
    /// The key of the flag.
    pub key: &'static str,
    /// Its values in order; an empty one where the flag is not given, at the place of the default.
    pub values: &'static [&'static str],
    /// Another flag, and the values of it with which this flag makes sense; an empty one if it is
    /// not given.
    pub only_with: Option<(&'static str, &'static [&'static str])>,
    /// Whether the values are numbers of processors: those beyond the machine's are left out.
    pub counts_processors: bool,
}

/// A flag with its values.
pub(super) const fn tried(key: &'static str, values: &'static [&'static str]) -> TunableFlag {
    TunableFlag {
        key,
        values,
        only_with: None,
        counts_processors: false,
    }
}

impl TunableFlag {
    /// The same, where it makes sense only with one of these values of another flag.
    pub(super) const fn only_with(mut self, key: &'static str, values: &'static [&'static str]) -> TunableFlag {
        self.only_with = Some((key, values));
        self
    }

    /// The same, for a number of processors.
    pub(super) const fn counting_processors(mut self) -> TunableFlag {
        self.counts_processors = true;
        self
    }
}
