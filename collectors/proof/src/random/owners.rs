//! Closures of a random program that own values outside the heap, and the rules that collections
//! must obey.
//!
//! * A value is dropped once, and only if its closure is unreachable.
//! * After a full collection, the values of all unreachable closures have been dropped.
//! * Statistics match the run's values and their bytes ([`super::end`]).

use super::difference::differ;
use super::model::{Id, Model};
use super::shapes::Shape;
use std::collections::HashMap;

/// The objects of a program whose values are not dropped, as far as the program knows.
#[derive(Default)]
pub(super) struct Owners {
    /// By the number of the value.
    objects: HashMap<u64, Id>,
}

impl Owners {
    /// The object `id` owns the value of this number.
    pub(super) fn register(&mut self, number: u64, id: Id) {
        self.objects.insert(number, id);
    }

    /// Looks at the values that were dropped since the last look. For each the list says whether it
    /// was dropped before. A closure that was garbage at once has no object.
    pub(super) fn look(&mut self, dropped: Vec<(u64, bool)>, reachable: &[bool]) {
        for (number, is_twice) in dropped {
            if is_twice {
                differ(format!("value {number} was dropped twice"));
            }
            if let Some(id) = self.objects.remove(&number)
                && reachable[id.0]
            {
                differ(format!("value {number} was dropped, but {id:?} is reachable"));
            }
        }
    }

    /// After a full collection: checks that all values in `held` have a reachable closure.
    pub(super) fn no_others_are_held(&self, held: &[u64], reachable: &[bool]) {
        for number in held {
            let id = self.objects.get(number);
            if !id.is_some_and(|id| reachable[id.0]) {
                differ(format!(
                    "value {number} was not dropped, but its closure {id:?} is unreachable"
                ));
            }
        }
    }

    /// The bytes that the reachable objects own.
    pub(super) fn bytes(&self, model: &Model, reachable: &[bool]) -> u64 {
        let ids = self.objects.values().filter(|id| reachable[id.0]);
        ids.map(|id| match model.get(*id).shape {
            Shape::Foreign(bytes) => u64::from(bytes),
            other => unreachable!("a {other:?} owns no value"),
        })
        .sum()
    }
}
