//! Differences between a heap and its reference, as panics that can be caught and put into words.

use std::any::Any;
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};

use gclab_core::world::in_collector;

/// A difference between heap and reference. A distinct panic payload type, so that no panic hook
/// prints it while shrinking.
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

/// Puts a program into words.
type Words = Arc<dyn Fn() -> String + Send + Sync>;

/// The programs that run now, with the threads that run them.
static UNDER_TEST: Mutex<Vec<(ThreadId, Words)>> = Mutex::new(Vec::new());

fn programs() -> MutexGuard<'static, Vec<(ThreadId, Words)>> {
    UNDER_TEST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work` with a program, which is put into words if a collector's panic ends the process.
pub(super) fn testing<R>(words: impl Fn() -> String + Send + Sync + 'static, work: impl FnOnce() -> R) -> R {
    let this = thread::current().id();
    programs().push((this, Arc::new(words)));
    let result = work();
    programs().retain(|(thread, _)| *thread != this);
    result
}

/// The program of this thread; for a GC thread or a program's own thread, all running ones.
fn under_test() -> String {
    let this = thread::current().id();
    let all = programs().clone();
    let own = all.iter().any(|(thread, _)| *thread == this);
    let of = all.iter().filter(|(thread, _)| !own || *thread == this);
    of.map(|(_, words)| words()).collect::<Vec<_>>().join("\n")
}

/// Does `work` without printing its panics.
fn quietly<R>(work: impl FnOnce() -> R) -> R {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if in_collector() {
                // Written directly: the process ends before the test harness shows what it captured.
                let _ = writeln!(std::io::stderr(), "{info}\n{}", under_test());
            } else if !QUIET.get() || std::env::var_os("GCLAB_LOUD").is_some() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = work();
    QUIET.set(false);
    result
}
