//! The settings of a program with its own `main`: GHC's link options and hooks.

use gclab_core::block::OutOfMemory;

pub use gclab_flags::RtsOpts;

/// Makes the text that is printed instead of gclab's own message.
pub type Hook = fn(&OutOfMemory) -> String;

/// The settings of a program with its own `main`.
///
/// ```
/// let settings = gclab::Settings {
///     with_rtsopts: "-A16m -F1.5",
///     rtsopts: gclab::RtsOpts::Some,
///     out_of_heap: Some(|error| format!("indexer: {} bytes were not enough", error.in_use.0)),
///     ..gclab::Settings::default()
/// };
/// # let _ = settings;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// The program's built-in flags, separated by blanks; `GCLABRTS` and the command line override
    /// them. GHC's `-with-rtsopts`.
    pub with_rtsopts: &'static str,
    /// The flags that users of the program may give, in `GCLABRTS` and on the command line. GHC's
    /// `-rtsopts`. Unless all are allowed, experiment files may set none, and there is no
    /// `minheap`.
    pub rtsopts: RtsOpts,
    /// Makes the message of an exhausted heap. GHC's `OutOfHeapHook`.
    pub out_of_heap: Option<Hook>,
    /// Makes the message if the system refuses memory. GHC's `MallocFailHook`.
    pub malloc_fail: Option<Hook>,
}
