//! CPU time and elapsed time, and the time for which listeners look at the stopped heap.

/// CPU time and elapsed time of a part of the run, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// CPU time of all threads of the process.
    pub cpu_ns: u64,
    /// Elapsed (wall clock) time.
    pub elapsed_ns: u64,
}

impl Times {
    /// The time from `from` to `self`, which are readings of the same clocks.
    pub fn since(self, from: Times) -> Times {
        Times {
            cpu_ns: self.cpu_ns.saturating_sub(from.cpu_ns),
            elapsed_ns: self.elapsed_ns.saturating_sub(from.elapsed_ns),
        }
    }
}

impl std::ops::Add for Times {
    type Output = Times;
    fn add(self, other: Times) -> Times {
        Times {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            elapsed_ns: self.elapsed_ns + other.elapsed_ns,
        }
    }
}

impl std::ops::AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        *self = *self + other;
    }
}

/// Why the stopped heap is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// A census of a heap profile: GHC's PROF.
    Census,
    /// A census of a profile by retainers: GHC's RP.
    Retainers,
    /// The checker (`-DS`).
    Check,
    /// Anything else: a dump of the heap, a tool of the program.
    #[default]
    Inspect,
}

/// The time of looks at the stopped heap, which is neither the program's nor a collection's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// Censuses of heap profiles, without those by retainers.
    pub census: Times,
    /// Censuses of profiles by retainers.
    pub retainers: Times,
    /// The time of the checker.
    pub check: Times,
    /// The time of all other looks.
    pub inspect: Times,
}

impl Looks {
    /// Adds the time of a look.
    pub fn add(&mut self, look: Look, times: Times) {
        *match look {
            Look::Census => &mut self.census,
            Look::Retainers => &mut self.retainers,
            Look::Check => &mut self.check,
            Look::Inspect => &mut self.inspect,
        } += times;
    }

    /// Returns the time of all looks.
    pub fn total(&self) -> Times {
        self.census + self.retainers + self.check + self.inspect
    }
}

impl std::ops::AddAssign for Looks {
    fn add_assign(&mut self, other: Looks) {
        self.census += other.census;
        self.retainers += other.retainers;
        self.check += other.check;
        self.inspect += other.inspect;
    }
}
