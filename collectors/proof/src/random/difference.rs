//! Differences between a heap and its reference, as panics that can be caught and put into words.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

/// A difference between heap and reference. It is a panic payload of its own type, so that no panic
/// hook prints it while shrinking.
struct Difference(String);

/// Panics with a difference.
pub(super) fn differ(difference: impl Into<String>) -> ! {
    resume_unwind(Box::new(Difference(difference.into())))
}

/// Returns the value of `result`, or panics with a difference.
pub(super) fn agreed<T>(result: Result<T, String>) -> T {
    result.unwrap_or_else(|difference| differ(difference))
}

/// Does `work`, and puts its panic into words if there is one.
pub(super) fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    quietly(|| catch_unwind(AssertUnwindSafe(work))).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let difference = payload.downcast_ref::<Difference>().map(|difference| &difference.0);
    let text = difference.or(payload.downcast_ref::<String>()).map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
        .to_owned()
}

thread_local! {
    /// Whether panics of this thread are not printed: shrinking causes hundreds, of which the last
    /// is reported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` without printing its panics.
fn quietly<R>(work: impl FnOnce() -> R) -> R {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() || std::env::var_os("GCLAB_LOUD").is_some() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = work();
    QUIET.set(false);
    result
}
