//! Lists of workloads as types, so that each is compiled for its collector and a `main` outside the workspace can lengthen them.
//!
//! `(A, (B, ()))` is the list of A and B; `(Mine, gclab_workloads::All)` is all of this crate's and one more.

use crate::workload::{Workload, WorkloadDescription};

/// What is to be done with a workload whose type is known only by its name.
pub trait WorkloadVisitor {
    /// What comes out of it.
    type Output;
    /// Called with the workload that was named.
    fn visit<W: Workload>(self, workload: &W) -> Self::Output;
}

/// A list of workloads. The first of a name wins, so that a lengthened list can put its own in another's place.
pub trait WorkloadList {
    /// What is said of each, in order.
    fn descriptions() -> Vec<&'static WorkloadDescription>;
    /// Calls `visitor` with the workload called `name`; `None` if there is none.
    fn with<V: WorkloadVisitor>(name: &str, visitor: V) -> Option<V::Output>;
}

impl WorkloadList for () {
    fn descriptions() -> Vec<&'static WorkloadDescription> {
        Vec::new()
    }
    fn with<V: WorkloadVisitor>(_: &str, _: V) -> Option<V::Output> {
        None
    }
}

impl<W: Workload, Rest: WorkloadList> WorkloadList for (W, Rest) {
    fn descriptions() -> Vec<&'static WorkloadDescription> {
        let mut all = Rest::descriptions();
        all.insert(0, &W::DESCRIPTION);
        all
    }
    fn with<V: WorkloadVisitor>(name: &str, visitor: V) -> Option<V::Output> {
        if name == W::DESCRIPTION.name {
            Some(visitor.visit(&W::default()))
        } else {
            Rest::with(name, visitor)
        }
    }
}
