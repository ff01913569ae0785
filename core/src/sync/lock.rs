//! The locks of the model checkers, which are like the standard library's, behind the interface of
//! parking_lot's.

#[cfg(gclab_loom)]
use loom::sync as checker;
#[cfg(gclab_shuttle)]
use shuttle::sync as checker;
use std::ops::{Deref, DerefMut};

/// As parking_lot's `Mutex`.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(checker::Mutex<T>);

/// As parking_lot's `MutexGuard`. Empty while a condition variable waits with it.
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T>(Option<checker::MutexGuard<'a, T>>);

/// As parking_lot's `Condvar`.
#[derive(Debug, Default)]
pub(crate) struct Condvar(checker::Condvar);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(checker::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(checker::Condvar::new())
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let waiting = guard.0.take().expect("a guard that is not waited with");
        guard.0 = Some(self.0.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_ref().expect("a guard that is not waited with")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("a guard that is not waited with")
    }
}
