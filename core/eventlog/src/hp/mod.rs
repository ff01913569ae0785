//! GHC's heap profiles, `.hp` files: written ([`HpWriter`]) and read ([`Profile`]).
//!
//! **Terms.** A *sample* is one census of the heap: a time, and a value for each *band*, a part of
//! the heap counted together, such as a type. A *mark* is a time that the program marked. All times
//! of a file have one unit, and so do all values: `seconds` and `bytes`.
//!
//! **The format** is text, a line for each item. Its reader in GHC is `hp2ps`.
//!
//! ```text
//! JOB "program +RTS -hT"
//! DATE "Fri Nov  6 23:05 2026"
//! SAMPLE_UNIT "seconds"
//! VALUE_UNIT "bytes"
//! BEGIN_SAMPLE 0.500000
//! Tree    48
//! MUT_ARR_PTRS    16
//! END_SAMPLE 0.500000
//! MARK 0.600000
//! ```
//!
//! ```
//! let text = "JOB \"p\"\nDATE \"d\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n\
//!             BEGIN_SAMPLE 0.5\nTree\t48\nEND_SAMPLE 0.5\n";
//! let profile = gclab_eventlog::hp::Profile::read(text.as_bytes(), "p.hp")?;
//! assert_eq!((profile.samples[0].at, profile.samples[0].values[0].1), (0.5, 48));
//! # Ok::<(), gclab_eventlog::hp::ReadError>(())
//! ```

mod read;
mod write;

pub use read::{Problem, Profile, ReadError, Sample};
pub use write::{DATE_FORMAT, HpWriter};
