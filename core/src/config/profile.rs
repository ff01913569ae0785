//! The configuration of a heap profile: its bands, its interval, and the closures that it counts.

/// The property by which a heap profile tells closures apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breakdown {
    /// `-hT`: the constructor with its module, or the kind of closure.
    ClosureType,
    /// `-hd`: the name of the closure.
    Description,
    /// `-hy`: the type.
    Type,
    /// `-hm`: the module that the type was defined in.
    Module,
    /// `-hr`: the retainers that keep it alive.
    Retainer,
    /// `-ho`: the named heap roots that it can be reached from.
    NamedRoots,
    /// `-hc`: the stack of cost centres that it was allocated by.
    CostCentre,
    /// `-hb`: whether it has been used, and will be.
    Biography,
}

impl Breakdown {
    /// The property that its bands represent, in words.
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

/// The restrictions of a heap profile: for each non-empty list, it counts only closures with one of
/// the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// `-hd<names>`: the closure's own name is one of these.
    pub descriptions: Vec<String>,
    /// `-hy<names>`: the closure's type is one of these.
    pub types: Vec<String>,
    /// `-hm<names>`: the module of the closure's type is one of these.
    pub modules: Vec<String>,
    /// `-hr<names>`: one of these is among the closure's retainers.
    pub retainers: Vec<String>,
    /// `-hc<names>`: one of these is the innermost cost centre that it was allocated by.
    pub cost_centres: Vec<String>,
    /// `-hC<names>`: one of these is among the cost centres that it was allocated by.
    pub cost_centre_stacks: Vec<String>,
    /// `-hb<names>`: its phase at the time of the census (`void`, `lag`, `use` or `drag`) is one of
    /// these.
    pub biographies: Vec<String>,
}

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

    /// The same list, to change; `None` for a breakdown that cannot restrict.
    pub fn by_mut(&mut self, breakdown: Breakdown) -> Option<&mut Vec<String>> {
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

/// A time profile, in the report of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeProfile {
    /// `-p`: shares of time and allocation.
    Shares,
    /// `-P`: ticks and bytes, too.
    Figures,
}

/// A heap profile, if one is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct HeapProfile {
    /// The property that its bands represent; `None`: no profile.
    pub breakdown: Option<Breakdown>,
    /// The closures that it counts.
    pub only: Restrictions,
    /// `-i`: seconds between censuses; 0: one at each collection. Default 0.1.
    pub interval: f64,
    /// `-R`: limit on the retainers of a set that is counted separately; 0: no limit. Default 8.
    pub retainers: u32,
    /// `-L`: maximum length of the name of a retainer set, including its number, or of a stack of
    /// cost centres. Default 25.
    pub name_length: u32,
}

impl Default for HeapProfile {
    fn default() -> Self {
        HeapProfile {
            breakdown: None,
            only: Restrictions::default(),
            interval: 0.1,
            retainers: 8,
            name_length: 25,
        }
    }
}

impl HeapProfile {
    /// Whether it matters when closures are used.
    pub fn follows_uses(&self) -> bool {
        self.breakdown == Some(Breakdown::Biography) || !self.only.biographies.is_empty()
    }

    /// Whether it matters where closures were allocated. (Retainers are named after that, where it
    /// has a name.)
    pub fn follows_allocation(&self) -> bool {
        let only = &self.only;
        matches!(self.breakdown, Some(Breakdown::CostCentre | Breakdown::Retainer))
            || [&only.cost_centres, &only.cost_centre_stacks, &only.retainers]
                .iter()
                .any(|names| !names.is_empty())
    }

    /// Whether closures need side words ([`crate::profile::SideWords`]).
    pub fn needs_side_words(&self) -> bool {
        self.follows_uses() || self.follows_allocation()
    }
}
