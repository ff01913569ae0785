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
    /// `-hc`: the stack of cost centres that it was allocated by.
    CostCentre,
    /// `-hb`: whether it has been used, and will be.
    Biography,
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
            Breakdown::CostCentre => "hc",
            Breakdown::Biography => "hb",
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
            Breakdown::CostCentre => "cost centre",
            Breakdown::Biography => "biography",
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
    /// `-hc<names>`: one of these is the innermost cost centre that it was allocated by.
    pub cost_centres: Vec<String>,
    /// `-hC<names>`: one of these is among the cost centres that it was allocated by.
    pub cost_centre_stacks: Vec<String>,
    /// `-hb<names>`: of `void`, `lag`, `use` and `drag`, what it is at the time.
    pub biographies: Vec<String>,
}

/// What `-hb` restricts to: GHC's names.
const BIOGRAPHIES: [&str; 4] = ["void", "lag", "use", "drag"];

impl Restrictions {
    /// The names by which one breakdown restricts.
    pub fn by(&self, breakdown: Breakdown) -> &[String] {
        match breakdown {
            Breakdown::Description => &self.descriptions,
            Breakdown::Type => &self.types,
            Breakdown::Module => &self.modules,
            Breakdown::Retainer => &self.retainers,
            Breakdown::CostCentre => &self.cost_centres,
            Breakdown::Biography => &self.biographies,
            Breakdown::ClosureType | Breakdown::NamedRoots => &[],
        }
    }

    fn by_mut(&mut self, breakdown: Breakdown) -> Option<&mut Vec<String>> {
        match breakdown {
            Breakdown::Description => Some(&mut self.descriptions),
            Breakdown::Type => Some(&mut self.types),
            Breakdown::Module => Some(&mut self.modules),
            Breakdown::Retainer => Some(&mut self.retainers),
            Breakdown::CostCentre => Some(&mut self.cost_centres),
            Breakdown::Biography => Some(&mut self.biographies),
            Breakdown::ClosureType | Breakdown::NamedRoots => None,
        }
    }
}

/// What can restrict.
const RESTRICTING: [Breakdown; 6] = [
    Breakdown::Description,
    Breakdown::Type,
    Breakdown::Module,
    Breakdown::Retainer,
    Breakdown::CostCentre,
    Breakdown::Biography,
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
    /// `-L`: the most letters of the name of a set of retainers, its number among them, or of a stack of cost centres, without. Default 25.
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

    /// `-hC` restricts only.
    pub(super) fn set_stacks(&mut self, value: super::Value) {
        self.only.cost_centre_stacks = match value {
            super::Value::Names(names) => names,
            _ => Vec::new(),
        };
    }

    pub(super) fn stacks(&self) -> Option<super::Value> {
        let names = &self.only.cost_centre_stacks;
        (!names.is_empty()).then(|| super::Value::Names(names.clone()))
    }

    /// Whether it matters when closures are used.
    pub fn follows_uses(&self) -> bool {
        self.breakdown == Some(Breakdown::Biography) || !self.only.biographies.is_empty()
    }

    /// Whether it matters where closures were allocated. (Retainers are known by that, where it has a name.)
    pub fn follows_allocation(&self) -> bool {
        let only = &self.only;
        matches!(self.breakdown, Some(Breakdown::CostCentre | Breakdown::Retainer))
            || [&only.cost_centres, &only.cost_centre_stacks, &only.retainers]
                .iter()
                .any(|names| !names.is_empty())
    }

    /// Whether closures need side words ([`crate::profile::Profiled`]).
    pub fn needs_side_words(&self) -> bool {
        self.follows_uses() || self.follows_allocation()
    }

    /// The bare flag that has to stand beside restrictions by several, its own among them, to say which is shown.
    pub(super) fn bare_word(&self) -> Option<String> {
        let shown = self.breakdown?;
        let several = self.restricting().len() > 1 && !self.only.by(shown).is_empty();
        several.then(|| format!("-{}", shown.flag()))
    }

    /// A restriction alone is shown by what it restricts. Otherwise one flag says what is shown; the error is why that is not so.
    pub(super) fn settle(&mut self) -> Result<(), (&'static str, String)> {
        if let (Some(first), Some(second)) = (self.breakdown, self.second) {
            let why = format!(
                "one heap profile too many: -{} asks for one; names behind the flag would restrict it (as in -{} -hyNode)",
                first.flag(),
                first.flag()
            );
            return Err((second.flag(), why));
        }
        self.go_together()?;
        match (self.breakdown, &self.restricting()[..]) {
            (None, [only]) => self.breakdown = Some(*only),
            (None, [first, _, ..]) => {
                let why = format!(
                    "one of several restrictions of a heap profile: say by a bare flag what is shown (as in -{})",
                    first.flag()
                );
                return Err((first.flag(), why));
            }
            _ => {}
        }
        Ok(())
    }

    /// Some profiles are made in such different ways that there is no both.
    fn go_together(&self) -> Result<(), (&'static str, String)> {
        let only = &self.only;
        if self.breakdown == Some(Breakdown::NamedRoots) && !only.retainers.is_empty() {
            let why = "not for -ho: a profile by roots takes no retainers into account".to_owned();
            return Err(("hr", why));
        }
        if let Some(other) = only
            .biographies
            .iter()
            .find(|name| !BIOGRAPHIES.contains(&name.as_str()))
        {
            let why = format!("not for {other:?}: it restricts to {}", BIOGRAPHIES.join(", "));
            return Err(("hb", why));
        }
        let by_reach = matches!(self.breakdown, Some(Breakdown::NamedRoots | Breakdown::Retainer));
        if self.follows_uses() && (by_reach || !only.retainers.is_empty()) {
            let why = "not with -hr or -ho: what a biography is becomes known only at the end of the run".to_owned();
            return Err(("hb", why));
        }
        let stacks = &only.cost_centre_stacks;
        if self.breakdown.is_none() && !stacks.is_empty() && self.restricting().is_empty() {
            let why = "a restriction only: say by another flag what is shown (as in -hc)".to_owned();
            return Err(("hC", why));
        }
        Ok(())
    }
}
