//! Heap profiles: what is counted (`-h..`), how often (`-i`), and of what (restrictions).

/// By what a heap profile tells closures apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Breakdown {
    /// `-hT`: the constructor with its module, or the kind of closure.
    ClosureType,
    /// `-hd`: the name of the closure.
    Description,
    /// `-hy`: the type.
    Type,
    /// `-hm`: the module that the type was defined in.
    Module,
    /// `-hr`: who keeps it alive.
    Retainer,
    /// `-ho`: the named heap roots that it can be reached from.
    NamedRoots,
}

impl Breakdown {
    /// The flag that asks for it, without its dash.
    pub const fn flag(self) -> &'static str {
        match self {
            Breakdown::ClosureType => "hT",
            Breakdown::Description => "hd",
            Breakdown::Type => "hy",
            Breakdown::Module => "hm",
            Breakdown::Retainer => "hr",
            Breakdown::NamedRoots => "ho",
        }
    }

    /// What its bands are, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Breakdown::ClosureType => "closure type",
            Breakdown::Description => "description",
            Breakdown::Type => "type",
            Breakdown::Module => "module",
            Breakdown::Retainer => "retainers",
            Breakdown::NamedRoots => "roots",
        }
    }
}

/// What a heap profile is restricted to: closures that have one of the names, for each list that has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// `-hd<names>`.
    pub descriptions: Vec<String>,
    /// `-hy<names>`.
    pub types: Vec<String>,
    /// `-hm<names>`.
    pub modules: Vec<String>,
    /// `-hr<names>`: one of these is among the closure's retainers.
    pub retainers: Vec<String>,
}

impl Restrictions {
    /// The names by which one breakdown restricts.
    pub fn by(&self, breakdown: Breakdown) -> &[String] {
        match breakdown {
            Breakdown::Description => &self.descriptions,
            Breakdown::Type => &self.types,
            Breakdown::Module => &self.modules,
            Breakdown::Retainer => &self.retainers,
            Breakdown::ClosureType | Breakdown::NamedRoots => &[],
        }
    }

    fn by_mut(&mut self, breakdown: Breakdown) -> Option<&mut Vec<String>> {
        match breakdown {
            Breakdown::Description => Some(&mut self.descriptions),
            Breakdown::Type => Some(&mut self.types),
            Breakdown::Module => Some(&mut self.modules),
            Breakdown::Retainer => Some(&mut self.retainers),
            Breakdown::ClosureType | Breakdown::NamedRoots => None,
        }
    }
}

/// What can restrict.
const RESTRICTING: [Breakdown; 4] = [
    Breakdown::Description,
    Breakdown::Type,
    Breakdown::Module,
    Breakdown::Retainer,
];

/// A heap profile, if one is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct HeapProfile {
    /// By what; none: no profile.
    pub breakdown: Option<Breakdown>,
    /// Another one that was asked for too, which is one too many.
    pub(super) second: Option<Breakdown>,
    /// Of what.
    pub only: Restrictions,
    /// `-i`: seconds between censuses; 0: one at each collection. Default 0.1.
    pub interval: f64,
    /// `-R`: the most retainers of a set that is told from others; 0: any number. Default 8.
    pub retainers: u32,
    /// `-L`: the most letters of the names of a set of retainers. Default 25.
    pub name_length: u32,
}

impl Default for HeapProfile {
    fn default() -> Self {
        HeapProfile {
            breakdown: None,
            second: None,
            only: Restrictions::default(),
            interval: 0.1,
            retainers: 8,
            name_length: 25,
        }
    }
}

impl HeapProfile {
    /// A flag asks for a breakdown, or restricts by it.
    pub(super) fn set(&mut self, breakdown: Breakdown, value: super::Value) {
        match (value, self.only.by_mut(breakdown)) {
            (super::Value::Names(names), Some(only)) => *only = names,
            (super::Value::Off, only) => {
                self.breakdown = self.breakdown.filter(|chosen| *chosen != breakdown);
                only.map(Vec::clear).unwrap_or_default();
            }
            _ if self.breakdown.is_none_or(|chosen| chosen == breakdown) => self.breakdown = Some(breakdown),
            _ => self.second = Some(breakdown),
        }
    }

    pub(super) fn get(&self, breakdown: Breakdown) -> Option<super::Value> {
        let names = self.only.by(breakdown);
        if !names.is_empty() {
            return Some(super::Value::Names(names.to_vec()));
        }
        (self.breakdown == Some(breakdown)).then_some(super::Value::On)
    }

    /// Breakdowns that restrict.
    fn restricting(&self) -> Vec<Breakdown> {
        RESTRICTING
            .into_iter()
            .filter(|by| !self.only.by(*by).is_empty())
            .collect()
    }

    /// The bare flag that has to stand beside restrictions by several, its own among them, to say which is shown.
    pub(super) fn bare_word(&self) -> Option<String> {
        let shown = self.breakdown?;
        let several = self.restricting().len() > 1 && !self.only.by(shown).is_empty();
        several.then(|| format!("-{}", shown.flag()))
    }

    /// A restriction alone is shown by what it restricts. Otherwise one flag says what is shown; the error is why that is not so.
    pub(super) fn settle(&mut self) -> Result<(), (Breakdown, String)> {
        if let (Some(first), Some(second)) = (self.breakdown, self.second) {
            let why = format!(
                "one heap profile too many: -{} asks for one; names behind the flag would restrict it (as in -{} -hyNode)",
                first.flag(),
                first.flag()
            );
            return Err((second, why));
        }
        if self.breakdown == Some(Breakdown::NamedRoots) && !self.only.retainers.is_empty() {
            let why = "not for -ho: a profile by roots takes no retainers into account".to_owned();
            return Err((Breakdown::Retainer, why));
        }
        match (self.breakdown, &self.restricting()[..]) {
            (None, [only]) => self.breakdown = Some(*only),
            (None, [first, _, ..]) => {
                let why = format!(
                    "one of several restrictions of a heap profile: say by a bare flag what is shown (as in -{})",
                    first.flag()
                );
                return Err((*first, why));
            }
            _ => {}
        }
        Ok(())
    }
}
