//! The phases of a collection, and the time that each takes.

/// A part of a collection. A collector announces it when it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The blocks to collect are condemned, and to-space is open.
    Condemned,
    /// Remembered slots are traced.
    RememberedTraced,
    /// Roots are traced.
    RootsTraced,
    /// Everything reachable is traced.
    HeapTraced,
    /// The closures that finalisers get are traced.
    FinalisersTraced,
    /// Weak handles are up to date.
    WeakProcessed,
    /// Live closures of the compacted part are marked, and weak handles to dead ones are cleared.
    Marked,
    /// Each marked closure has its destination.
    Planned,
    /// Each marked closure is at its destination, and every pointer to it is updated.
    Moved,
    /// The memory of dead closures is free.
    Released,
}

/// The number of phases.
const COUNT: usize = Phase::ALL.len();

impl Phase {
    /// All phases, in their order in a collection that compacts.
    pub const ALL: [Phase; 10] = [
        Phase::Condemned,
        Phase::RememberedTraced,
        Phase::RootsTraced,
        Phase::HeapTraced,
        Phase::FinalisersTraced,
        Phase::WeakProcessed,
        Phase::Marked,
        Phase::Planned,
        Phase::Moved,
        Phase::Released,
    ];

    /// Returns its name in run records.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Condemned => "condemn",
            Phase::RememberedTraced => "remembered",
            Phase::RootsTraced => "roots",
            Phase::HeapTraced => "trace",
            Phase::FinalisersTraced => "finalisers",
            Phase::WeakProcessed => "weak",
            Phase::Marked => "mark",
            Phase::Planned => "plan",
            Phase::Moved => "move",
            Phase::Released => "release",
        }
    }
}

/// The elapsed time of each phase of a collection, or of many collections. The rest of a pause
/// belongs to no phase: counting before the first phase, sizing after the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes([u64; COUNT]);

impl PhaseTimes {
    /// Adds `ns` nanoseconds to `phase`. A collection may go through a phase several times.
    pub fn add(&mut self, phase: Phase, ns: u64) {
        self.0[phase as usize] += ns;
    }

    /// Returns the phases that took time, in order, with their nanoseconds.
    pub fn taken(&self) -> impl Iterator<Item = (Phase, u64)> + '_ {
        Phase::ALL.into_iter().zip(self.0).filter(|(_, ns)| *ns > 0)
    }
}

impl std::ops::AddAssign<&PhaseTimes> for PhaseTimes {
    fn add_assign(&mut self, other: &PhaseTimes) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, ns)| *sum += ns);
    }
}
