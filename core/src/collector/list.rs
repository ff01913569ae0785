//! Lists of collectors, as types: `(TwoSpace, (Copying, ()))`.
//!
//! Collectors, even from outside this workspace, are added at the front.

use super::{Collector, Description};

/// A list of collectors.
pub trait CollectorList {
    /// The descriptions of the collectors, in order.
    fn descriptions() -> Vec<&'static Description>;
    /// Calls `visitor` with the collector of that name; `None` if there is none.
    fn with<V: CollectorVisitor>(name: &str, visitor: V) -> Option<V::Output>;
}

/// Work for a collector chosen by name.
///
/// `visit` is compiled for every collector of a list. Larger work belongs in a function that is
/// generic only in the kind of mutators, and takes the collector as a [`super::Chosen`] value.
pub trait CollectorVisitor {
    /// The result of the work.
    type Output;
    /// Does the work with collector `C`.
    fn visit<C: Collector>(self) -> Self::Output;
}

impl CollectorList for () {
    fn descriptions() -> Vec<&'static Description> {
        Vec::new()
    }
    fn with<V: CollectorVisitor>(_: &str, _: V) -> Option<V::Output> {
        None
    }
}

impl<C: Collector, Rest: CollectorList> CollectorList for (C, Rest) {
    fn descriptions() -> Vec<&'static Description> {
        let mut all = Rest::descriptions();
        all.insert(0, &C::DESCRIPTION);
        all
    }
    fn with<V: CollectorVisitor>(name: &str, visitor: V) -> Option<V::Output> {
        if name == C::DESCRIPTION.name {
            Some(visitor.visit::<C>())
        } else {
            Rest::with(name, visitor)
        }
    }
}
