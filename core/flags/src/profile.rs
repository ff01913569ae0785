//! The flags of heap profiles (`-h..`): how words become a [`HeapProfile`], and which combine.

use gclab_core::config::{Breakdown, HeapProfile};

use crate::{Flags, Value};

/// The flag for a breakdown, without its dash.
pub(crate) const fn breakdown_flag(breakdown: Breakdown) -> &'static str {
    match breakdown {
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

/// The names, GHC's, that `-hb` restricts to.
const BIOGRAPHIES: [&str; 4] = ["void", "lag", "use", "drag"];

/// The breakdowns that can restrict a profile.
const RESTRICTING: [Breakdown; 6] = [
    Breakdown::Description,
    Breakdown::Type,
    Breakdown::Module,
    Breakdown::Retainer,
    Breakdown::CostCentre,
    Breakdown::Biography,
];

/// The breakdowns that restrict a profile.
fn restricting(profile: &HeapProfile) -> Vec<Breakdown> {
    RESTRICTING
        .into_iter()
        .filter(|by| !profile.only.by(*by).is_empty())
        .collect()
}

impl Flags {
    /// Enters a flag that asks for a breakdown, or restricts to some of its names.
    pub(crate) fn set_profile(&mut self, breakdown: Breakdown, value: Value) {
        let profile = &mut self.config.profile;
        match (value, profile.only.by_mut(breakdown)) {
            (Value::Names(names), Some(only)) => *only = names,
            (Value::Off, only) => {
                profile.breakdown = profile.breakdown.filter(|chosen| *chosen != breakdown);
                only.map(Vec::clear).unwrap_or_default();
            }
            _ if profile.breakdown.is_none_or(|chosen| chosen == breakdown) => profile.breakdown = Some(breakdown),
            _ => self.second_breakdown = Some(breakdown),
        }
    }

    /// The value of that flag.
    pub(crate) fn get_profile(&self, breakdown: Breakdown) -> Option<Value> {
        let profile = &self.config.profile;
        let names = profile.only.by(breakdown);
        if !names.is_empty() {
            return Some(Value::Names(names.to_vec()));
        }
        (profile.breakdown == Some(breakdown)).then_some(Value::On)
    }

    /// Enters `-hC`, which only restricts.
    pub(crate) fn set_stacks(&mut self, value: Value) {
        self.config.profile.only.cost_centre_stacks = match value {
            Value::Names(names) => names,
            _ => Vec::new(),
        };
    }

    /// The value of `-hC`.
    pub(crate) fn get_stacks(&self) -> Option<Value> {
        let names = &self.config.profile.only.cost_centre_stacks;
        (!names.is_empty()).then(|| Value::Names(names.clone()))
    }

    /// The bare flag that must accompany several restrictions, its own among them, to say which
    /// breakdown the profile shows.
    pub(crate) fn bare_profile_word(&self) -> Option<String> {
        let profile = &self.config.profile;
        let shown = profile.breakdown?;
        let several = restricting(profile).len() > 1 && !profile.only.by(shown).is_empty();
        several.then(|| format!("-{}", breakdown_flag(shown)))
    }

    /// Chooses the breakdown that the profile shows: that of a bare flag, or else the only one that
    /// restricts. The error is the flag at fault and the reason.
    pub(crate) fn settle_profile(&mut self) -> Result<(), (&'static str, String)> {
        if let (Some(first), Some(second)) = (self.config.profile.breakdown, self.second_breakdown) {
            let first = breakdown_flag(first);
            let why = format!(
                "one heap profile too many: -{first} asks for one; names after the flag would restrict it (as in -{first} -hyNode)",
            );
            return Err((breakdown_flag(second), why));
        }
        let profile = &mut self.config.profile;
        go_together(profile)?;
        match (profile.breakdown, &restricting(profile)[..]) {
            (None, [only]) => profile.breakdown = Some(*only),
            (None, [first, _, ..]) => {
                let first = breakdown_flag(*first);
                let why = format!(
                    "one of several restrictions of a heap profile: use a bare flag to say which one is shown (as in -{first})"
                );
                return Err((first, why));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Refuses combinations that no one run can make.
fn go_together(profile: &HeapProfile) -> Result<(), (&'static str, String)> {
    let only = &profile.only;
    if profile.breakdown == Some(Breakdown::NamedRoots) && !only.retainers.is_empty() {
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
    let by_reach = matches!(profile.breakdown, Some(Breakdown::NamedRoots | Breakdown::Retainer));
    if profile.follows_uses() && (by_reach || !only.retainers.is_empty()) {
        let why = "not with -hr or -ho: a biography becomes known only at the end of the run".to_owned();
        return Err(("hb", why));
    }
    let stacks = &only.cost_centre_stacks;
    if profile.breakdown.is_none() && !stacks.is_empty() && restricting(profile).is_empty() {
        let why = "only a restriction: use another flag to say which bands are shown (as in -hc)".to_owned();
        return Err(("hC", why));
    }
    Ok(())
}
