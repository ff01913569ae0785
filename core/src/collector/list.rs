//! Lists of collectors, as types: `(TwoSpace, (Copying, ()))`.
//!
//! A list is lengthened by putting a collector in front of it, also outside this workspace; every workload is
//! instantiated for every collector of the list.

use super::{Collector, Description};

/// A list of collectors.
pub trait CollectorList {
    /// What the collectors are, in order.
    fn descriptions() -> Vec<&'static Description>;
    /// Calls `visitor` with the collector of that name; `None` if there is none.
    fn with<V: CollectorVisitor>(name: &str, visitor: V) -> Option<V::Output>;
}

/// What to do with a collector chosen by name.
pub trait CollectorVisitor {
    /// What it gives.
    type Output;
    /// Do it with collector `C`.
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
