//! Faults that the tests must detect.
//!
//! A build with `--cfg gclab_mutants` contains every fault of the workspace. Each is placed at the
//! correct code, under a name: `mutant!("copy/not-forwarded")`. The environment variable
//! `GCLAB_MUTANT` chooses one fault when a program starts, so one build serves all of them. In any
//! other build [`mutant!`](crate::mutant) is the constant `false` and costs nothing.
//!
//! `.ci/mutants` finds the names in the sources and runs the tests under each. The first part of a
//! name determines which tests run first: see that script. Three groups are for other checks:
//! `models/` for `.ci/loom mutants`, `worlds/` for `.ci/shuttle mutants`, `tsan/` for `.ci/tsan mutant`.
//! (`.ci/loom` and `.ci/shuttle` run under some faults of other groups, too.)

/// Whether the fault with this name is chosen: `if mutant!("threads/no-interrupt") { ... }`. With
/// two values, the second if it is chosen, the first (the sound one) if not:
/// `mutant!("models/leave-relaxed", AcqRel => Relaxed)`.
#[macro_export]
macro_rules! mutant {
    ($name:literal, $sound:expr => $faulty:expr) => {
        if $crate::mutant!($name) { $faulty } else { $sound }
    };
    ($name:literal) => {{
        #[cfg(gclab_mutants)]
        {
            static CHOSEN: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| $crate::mutants::is_chosen($name));
            *CHOSEN
        }
        #[cfg(not(gclab_mutants))]
        {
            false
        }
    }};
}

/// Whether `GCLAB_MUTANT` is `name`.
#[cfg(gclab_mutants)]
pub fn is_chosen(name: &str) -> bool {
    std::env::var("GCLAB_MUTANT").is_ok_and(|chosen| chosen == name)
}
