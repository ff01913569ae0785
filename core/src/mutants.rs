//! Faults that the tests must notice.
//!
//! A build with `--cfg gclab_mutants` contains every fault of the workspace. Each stands where the
//! sound code stands, under a name: `mutant!("copy/not-forwarded")`. The environment variable
//! `GCLAB_MUTANT` chooses one fault when a program starts, so one build serves all of them. In any
//! other build [`mutant!`](crate::mutant) is the constant `false` and costs nothing.
//!
//! `.ci/mutants` finds the names in the sources and runs the tests under each. The first part of a
//! name says which tests are run first: see that script.

/// Whether the fault of this name is chosen: `if mutant!("threads/no-interrupt") { ... }`.
#[macro_export]
macro_rules! mutant {
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

/// A memory ordering, or `Relaxed` if the fault of this name is chosen.
#[macro_export]
macro_rules! weaker {
    ($name:literal, $sound:expr) => {
        if $crate::mutant!($name) {
            $crate::mutants::RELAXED
        } else {
            $sound
        }
    };
}

/// The ordering of the faults of [`weaker!`](crate::weaker).
pub const RELAXED: std::sync::atomic::Ordering = std::sync::atomic::Ordering::Relaxed;

/// Whether `GCLAB_MUTANT` is `name`.
#[cfg(gclab_mutants)]
pub fn is_chosen(name: &str) -> bool {
    std::env::var("GCLAB_MUTANT").is_ok_and(|chosen| chosen == name)
}
