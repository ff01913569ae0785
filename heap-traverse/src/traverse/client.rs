//! What a traversal is for: its client.

use gclab_core::world::ClosureView;

/// What a client wants of the closure that it was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit<D> {
    /// Go on to what it points to, with this data.
    Descend(D),
    /// Leave out what it points to (unless it is reached otherwise).
    Skip,
}

/// In which order closures are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// In any that is fast.
    Any,
    /// Each before what it points to, all that is below a slot before the next slot.
    DepthFirst,
}

/// What a visit is told of the closure it came from: `()` for nothing, `Option<ClosureView>` for that closure, or none for a root.
pub trait Lineage<'a>: Copy {
    /// Of a root.
    const ROOT: Self;
    /// Of what `parent` points to.
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

/// Who goes through a heap, and why.
pub trait Client<'a> {
    /// The order it wants.
    const ORDER: Order;
    /// Whether it wants a visit each time that a closure is reached, not only the first time. It may descend again then; what it does not
    /// end is not ended.
    const AGAIN: bool = false;
    /// Whether it wants to be told when all below a closure has been visited ([`Client::leave`]). Only in [`Order::DepthFirst`].
    const LEAVE: bool = false;
    /// What it wants to know of where it came from.
    type Parent: Lineage<'a>;
    /// What the visit of a closure hands to those of what it points to.
    type Data: Copy;
    /// What is added up on the way back.
    type Sum: Default;

    /// A closure was reached, for the first time if `first`, with the data of the closure it was reached from.
    fn visit(
        &mut self,
        closure: ClosureView<'a>,
        parent: Self::Parent,
        data: Self::Data,
        first: bool,
    ) -> Visit<Self::Data>;

    /// A closure was found and will be visited soon: the time to fetch what its visit looks at beside the heap. Only in [`Order::Any`].
    #[inline(always)]
    fn found(&self, closure: ClosureView<'a>) {
        let _ = closure;
    }

    /// All below a closure, into which `visit` descended, has been visited. `sum` is what was added to it by the closures that were descended into from
    /// here; `parent` is the closure it was reached from, if it is no root, and that one's sum so far.
    #[inline]
    fn leave(&mut self, closure: ClosureView<'a>, sum: Self::Sum, parent: Option<(ClosureView<'a>, &mut Self::Sum)>) {
        let _ = (closure, sum, parent);
    }
}

/// The client that calls a function once for each closure.
#[derive(Debug)]
pub struct Each<F>(pub F);

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
