//! Type-level lists of workloads: each workload is compiled for each kind of mutator, and a `main`
//! outside the workspace can extend the list.
//!
//! `(A, (B, ()))` is the list of A and B. `(Mine, gclab_workloads::All)` is the list of `Mine` and
//! all workloads of this crate.

use crate::description::WorkloadDescription;
use crate::workload::Workload;

/// An action on a workload chosen by name.
pub trait WorkloadVisitor {
    /// The result of the action.
    type Output;
    /// Acts on the workload.
    fn visit<W: Workload>(self, workload: &W) -> Self::Output;
}

/// A list of workloads. The first of a name wins, so an extended list can replace a workload.
pub trait WorkloadList {
    /// The description of each, in order.
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
