//! Compares all reachable closures of a heap with its reference: structure, data, and identity
//! (each object has one closure, and sharing is the same).

use super::heap::{GLOBALS, Heap, LOCALS, Locals};
use super::model::{Id, Model};
use super::real::Real;
use gclab_core::mutator::{Any, Gc, MutatorKind, NoGc};
use std::collections::HashMap;

/// Pairs of a closure and its object.
struct Pairs<'a, 'm, 'h> {
    model: &'a Model,
    object_at: HashMap<u64, Id>,
    /// By the object's number; 0 for objects not met yet.
    closure_of: Vec<u64>,
    open: Vec<(Real<'m, 'h>, Id)>,
}

impl<'m, 'h> Pairs<'_, 'm, 'h> {
    fn same(&mut self, place: impl Fn() -> String, real: Option<Real<'m, 'h>>, id: Option<Id>) -> Result<(), String> {
        let (real, id) = match (real, id) {
            (Some(real), Some(id)) => (real, id),
            (None, None) => return Ok(()),
            (Some(_), None) => return Err(format!("{} is not null, but should be", place())),
            (None, Some(id)) => return Err(format!("{} is null, but should be {id:?}", place())),
        };
        let closure = std::mem::replace(&mut self.closure_of[id.0], real.word());
        match (self.object_at.insert(real.word(), id), closure) {
            (None, 0) => self.open.push((real, id)),
            (Some(object), closure) if object == id && closure == real.word() => {}
            (object, closure) => {
                return Err(format!(
                    "{} is {:#x} and should be {id:?}; the closure was {object:?} before, the object at {closure:#x}",
                    place(),
                    real.word()
                ));
            }
        }
        Ok(())
    }

    /// Compares everything reachable from the known pairs.
    fn close<M: MutatorKind>(&mut self, m: &NoGc<'h, M>) -> Result<(), String> {
        while let Some((real, id)) = self.open.pop() {
            let object = self.model.get(id);
            let of = |fault: String| format!("{id:?}, a {:?}: {fault}", object.shape);
            real.check_data(m, object.shape, object.seed, &object.bytes)
                .map_err(of)?;
            if object.shape.inner().is_some() {
                let inner = real.unboxed(m, object.shape).map_err(of)?;
                self.same(|| of("its content".to_owned()), Some(inner), object.slots[0])?;
                continue;
            }
            for (index, (real, object)) in real
                .slots(m, object.shape)
                .map_err(of)?
                .into_iter()
                .zip(&object.slots)
                .enumerate()
            {
                self.same(|| of(format!("slot {index}")), real.map(Real::Any), *object)?;
            }
        }
        Ok(())
    }
}

fn any<'m, 'h>(gc: Option<Gc<'m, 'h, Any>>) -> Option<Real<'m, 'h>> {
    gc.map(Real::Any)
}

/// Compares a heap with its reference. `locals` are the variables of open frames, if there are any.
/// With `major` the whole heap has just been collected, so weak handles to unreachable closures
/// must be empty.
pub(super) fn heaps<'h, M: MutatorKind>(
    m: &NoGc<'h, M>,
    locals: Option<&Locals<'_, '_, 'h>>,
    heap: &Heap,
    major: bool,
) -> Result<(), String> {
    let mut pairs = Pairs {
        model: &heap.model,
        object_at: HashMap::new(),
        closure_of: vec![0; heap.model.len()],
        open: Vec::new(),
    };
    if let Some(locals) = locals {
        for index in 0..(locals.depth + 1) * LOCALS {
            let object = heap.locals[index / LOCALS][index % LOCALS];
            pairs.same(|| format!("l{index}"), any(locals.root(index).get(m)), object)?;
        }
    }
    if let Some((globals, id)) = &heap.globals {
        debug_assert_eq!(globals.open(m).len(), GLOBALS);
        pairs.same(
            || "the globals".to_owned(),
            Some(Real::Array(globals.open(m))),
            Some(*id),
        )?;
    }
    for (index, (handle, id)) in heap.handles.iter().flatten().enumerate() {
        pairs.same(|| format!("handle {index}"), any(Some(handle.open(m))), Some(*id))?;
    }
    for (index, (closure, id)) in heap.finalisers.kept().enumerate() {
        let place = || format!("the closure of a finaliser, {index}");
        pairs.same(place, any(Some(closure.open(m))), Some(*id))?;
    }
    pairs.close(m)?;
    if heap.weak_handles().next().is_none() && heap.ephemerons.is_empty() {
        return Ok(());
    }
    let reachable = heap.model.reachable(heap.roots(locals.is_some()));
    for (index, (handle, id)) in heap.weak_handles().enumerate() {
        let opened = handle.open(m);
        if opened.is_some() && major && !reachable[id.0] {
            return Err(format!("weak handle {index} is open, but {id:?} was unreachable"));
        }
        if opened.is_some() || reachable[id.0] {
            pairs.same(|| format!("weak handle {index}"), any(opened), Some(*id))?;
        }
    }
    for (index, (ephemeron, (key, value))) in heap.ephemerons.iter().zip(&heap.model.ephemerons).enumerate() {
        let opened = ephemeron.open(m);
        if opened.is_some() && major && !reachable[key.0] {
            return Err(format!(
                "ephemeron {index} is open, but its key {key:?} was unreachable"
            ));
        }
        if opened.is_some() || reachable[key.0] {
            let (real_key, real_value) = opened.unzip();
            pairs.same(|| format!("the key of ephemeron {index}"), any(real_key), Some(*key))?;
            pairs.same(
                || format!("the value of ephemeron {index}"),
                any(real_value),
                Some(*value),
            )?;
        }
    }
    pairs.close(m)
}
