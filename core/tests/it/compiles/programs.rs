//! The idioms that programs are made of compile.

#![allow(dead_code)]

use gclab_core::closure::{Closure, Mut, Ptr};
use gclab_core::collector::{Collector, KindOf};
use gclab_core::mutator::{Any, ByteArray, Gc, Handle, MutArray, MutVar, Mutator, MutatorKind, NoGc, Root};
use gclab_core::world::{EnterError, World};

#[derive(Closure)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

#[derive(Closure)]
struct Boxed {
    value: u64,
    next: Mut<Boxed>,
    any: Ptr<Any>,
}

/// Recursion with roots. A frame returns a pointer.
fn make<'m, 'h, M: MutatorKind>(m: &'m mut Mutator<'h, M>, depth: u32) -> Gc<'m, 'h, Tree> {
    if depth == 0 {
        return m.alloc(|_| Tree::new(None, None));
    }
    m.frame(|m, [l, r]| {
        let (left, right) = (l.put(make(m, depth - 1)), r.put(make(m, depth - 1)));
        m.alloc(|m| Tree::new(Some(left.get(m)), Some(right.get(m))))
    })
}

/// Reading takes a view, which cannot collect.
fn check<'h, M: MutatorKind>(m: &NoGc<'h, M>, tree: Gc<'_, 'h, Tree>) -> u64 {
    let below = |child: Option<_>| child.map_or(0, |child| check(m, child));
    1 + below(tree.left(m)) + below(tree.right(m))
}

/// A new closure is stored at once, through the view that comes with it.
fn fill<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, array: &Root<'_, 'h, MutArray<Boxed>>) {
    for i in 0..9 {
        let (m, boxed) = m.alloc_with(|m| Boxed::new(7, None, array.get(m).erase()));
        boxed.set_next(m, array.get(m).get(m, i));
        array.get(m).set(m, i, Some(boxed));
    }
}

/// The same for other allocations, made by the mutator or by a function.
fn hang_up<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, array: &Root<'_, 'h, MutArray<Any>>) {
    let (view, bytes) = m.with_view(|m| m.alloc_bytes(b"bytes"));
    array.get(view).set(view, 0, Some(bytes.erase()));
    let (view, inner) = m.with_view(|m| m.alloc_array::<Tree>(2, |_| None));
    array.get(view).set(view, 1, Some(inner.erase()));
    let (view, tree) = m.with_view(|m| make(m, 3));
    array.get(view).set(view, 2, Some(tree.erase()));
}

/// Roots of different types in one frame.
fn two_types<M: MutatorKind>(m: &mut Mutator<'_, M>) -> u64 {
    m.frame(|m, [a, b]| {
        let a = a.put(make(m, 1));
        let b = b.put(m.alloc_bytes(b"bytes"));
        check(m, a.get(m)) + b.get(m).len() as u64
    })
}

/// A view is enough to read and store. A pointer may be used with a shorter lifetime.
fn push<'m, 'h, M: MutatorKind>(
    m: &'m NoGc<'h, M>,
    var: Gc<'m, 'h, MutVar<Tree>>,
    tree: Gc<'_, 'h, Tree>,
) -> Gc<'m, 'h, Tree> {
    let old = var.read(m);
    var.write(m, Some(tree));
    old.unwrap_or_else(|| var.read(m).expect("just written"))
}

/// A closure of unknown type can be asked for its type.
fn sum(any: Gc<'_, '_, Any>) -> usize {
    any.downcast::<ByteArray>()
        .map_or(0, |bytes| bytes.as_slice().iter().map(|&b| usize::from(b)).sum())
}

/// Handles can be used by later calls of `enter` and by other threads; so can worlds.
fn sessions<M: MutatorKind>(world: &World<M>) -> Result<u64, EnterError>
where
    World<M>: Sync,
{
    let handle: Handle<Tree> = world.enter(|m| {
        let (m, tree) = m.alloc_with(|_| Tree::new(None, None));
        m.handle(tree)
    })?;
    std::thread::scope(|s| {
        s.spawn(|| world.enter(|m| check(m, handle.open(m))))
            .join()
            .expect("no panic")
    })
}

fn all<M: MutatorKind>(m: &mut Mutator<'_, M>) -> u64 {
    m.frame(|m, [array, var, things]| {
        let things = things.put(m.alloc_array(3, |_| None));
        hang_up(m, &things);
        let array = array.put(m.alloc_array(9, |_| None));
        fill(m, &array);
        let var = var.put(m.alloc(|_| MutVar::new(None)));
        let (view, tree) = m.alloc_with(|_| Tree::new(None, None));
        let _ = push(view, var.get(view), tree);
        two_types(m) + sum(array.get(m).erase()) as u64
    })
}

fn run<M: MutatorKind>(world: &World<M>) -> Result<u64, EnterError>
where
    World<M>: Sync,
{
    let trees = |m: &mut Mutator<'_, M>| {
        let (m, tree) = m.with_view(|m| make(m, 3));
        check(m, tree)
    };
    Ok(world.enter(|m| all(m) + trees(m))? + sessions(world)?)
}

/// These programs are type-checked for any collector; the collectors' own tests run programs like
/// them.
struct ForAll;
impl gclab_core::collector::CollectorVisitor for ForAll {
    type Output = ();
    fn visit<C: Collector>(self) {
        let _ = |world: &World<KindOf<C>>| world.enter(all);
    }
}
