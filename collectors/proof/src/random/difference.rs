//! Differences between a heap and its reference, as panics that can be caught and put into words.

use std::cell::{Cell, RefCell};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use gclab_core::world::in_collector;

/// A difference between heap and reference. A distinct panic payload type, which no panic hook sees.
struct Difference(String);

/// Panics with a difference.
pub(super) fn differ(difference: impl Into<String>) -> ! {
    resume_unwind(Box::new(Difference(difference.into())))
}

/// Returns the value of `result`, or panics with a difference.
pub(super) fn agreed<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|difference| differ(difference))
}

thread_local! {
    /// Whether panics of this thread are put into words, not printed.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// The last panic of this thread: place and message.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does `work`, and puts its panic into words if there is one.
pub(super) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    panics_in_collections_speak();
    IS_CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(false);
    result.map_err(|payload| match payload.downcast::<Difference>() {
        Ok(difference) => difference.0,
        Err(_) => LAST.take().unwrap_or_else(|| "a panic without a message".to_owned()),
    })
}

/// From now on, the panic of a collector is printed at once. The test harness would keep it until
/// the test ends, but the process ends before that.
pub(crate) fn panics_in_collections_speak() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if in_collector() {
                let _ = writeln!(std::io::stderr(), "{info}");
            } else if IS_CAUGHT.get() {
                LAST.set(Some(info.to_string()));
            } else {
                before(info);
            }
        }));
    });
}
