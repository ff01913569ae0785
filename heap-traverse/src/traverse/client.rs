//! Clients: the callbacks and constants that parameterise a traversal.

use gclab_core::world::ClosureView;

/// A client's answer to the visit of a closure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit<D> {
    /// Visit the closures that it points to, with this data.
    Descend(D),
    /// Do not visit the closures that it points to, unless they are reached by another path.
    Skip,
}

/// The order in which closures are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Any order that is fast.
    Any,
    /// Each closure before the closures that it points to, and everything below a slot before the
    /// next slot.
    DepthFirst,
}

/// The type of parent passed to a visit: `()` for no information, `Option<ClosureView>` for the
/// closure from which it was reached (none for a root).
pub trait Lineage<'a>: Copy {
    /// The parent of a root.
    const ROOT: Self;
    /// The parent of the closures that `parent` points to.
    fn child_of(parent: ClosureView<'a>) -> Self;
}

impl Lineage<'_> for () {
    const ROOT: () = ();
    #[inline(always)]
    fn child_of(_: ClosureView<'_>) {}
}

impl<'a> Lineage<'a> for Option<ClosureView<'a>> {
    const ROOT: Self = None;
    #[inline(always)]
    fn child_of(parent: ClosureView<'a>) -> Self {
        Some(parent)
    }
}

/// The callbacks and constants that parameterise a traversal.
pub trait Client<'a> {
    /// The order of visits.
    const ORDER: Order;
    /// Whether a closure is visited each time it is reached, not only the first time. The client
    /// may then descend again; if it always does, the traversal of a cycle does not end.
    const AGAIN: bool = false;
    /// Whether [`Client::leave`] is called. Only in [`Order::DepthFirst`].
    const LEAVE: bool = false;
    /// The parent passed to visits.
    type Parent: Lineage<'a>;
    /// The data that the visit of a closure passes to the visits of the closures that it points to.
    type Data: Copy;
    /// The sum accumulated on the way back.
    type Sum: Default;

    /// A closure was reached, for the first time if `first`. `data` comes from the closure it was
    /// reached from.
    fn visit(
        &mut self,
        closure: ClosureView<'a>,
        parent: Self::Parent,
        data: Self::Data,
        first: bool,
    ) -> Visit<Self::Data>;

    /// A closure was found and will be visited soon. The client can prefetch memory outside the
    /// heap that the visit will need. Only in [`Order::Any`].
    #[inline(always)]
    fn found(&self, closure: ClosureView<'a>) {
        let _ = closure;
    }

    /// Everything below `closure`, into which `visit` descended, has been visited. `sum` has the
    /// additions by the closures that were descended into from here. `parent` is the closure it was
    /// reached from and that closure's sum so far, or none for a root.
    #[inline]
    fn leave(&mut self, closure: ClosureView<'a>, sum: Self::Sum, parent: Option<(ClosureView<'a>, &mut Self::Sum)>) {
        let _ = (closure, sum, parent);
    }
}

/// The client that calls a function once for each closure.
#[derive(Debug)]
pub(super) struct Each<F>(pub F);

impl<'a, F: FnMut(ClosureView<'a>) -> Visit<()>> Client<'a> for Each<F> {
    const ORDER: Order = Order::Any;
    type Parent = ();
    type Data = ();
    type Sum = ();

    #[inline(always)]
    fn visit(&mut self, closure: ClosureView<'a>, _: (), _: (), _: bool) -> Visit<()> {
        (self.0)(closure)
    }
}
