//! The second pass: sets names, sizes and edges of the nodes, in the order in which the first pass
//! met them.

use crate::error::Error;
use crate::hprof::class::{Class, source_name};
use crate::hprof::cursor::{Basic, Cursor};
use crate::hprof::gather::Gathered;
use crate::hprof::ids::Ids;
use crate::hprof::kinds::{ELEMENT, FIELD, INTERNAL, STATIC, WEAK};
use crate::hprof::layout::{Layout, Sizes};
use crate::hprof::record::{Body, Pass, ROOTS, records};
use crate::snapshot::Snapshot;
use crate::strings::Strings;
use std::collections::HashMap;

/// References of a class, other than fields, that the JVM follows, in the order in which [`Class`]
/// has them.
const INTERNALS: [&str; 5] = [
    "<class>",
    "<superclass>",
    "<loader>",
    "<signers>",
    "<protection domain>",
];
const ALL_PRIMITIVES: [Basic; 8] = [
    Basic::Boolean,
    Basic::Char,
    Basic::Float,
    Basic::Double,
    Basic::Byte,
    Basic::Short,
    Basic::Int,
    Basic::Long,
];

/// The most edges: V8's snapshots number them in 32 bits too.
const MOST: usize = u32::MAX as usize - 1;

pub(super) fn link(mut cursor: Cursor<'_>, gathered: Gathered) -> Result<Snapshot, Error> {
    let mut linker = Linker::new(&cursor, gathered)?;
    linker.roots(&cursor)?;
    records(&mut cursor, &mut linker)?;
    if linker.next != linker.snapshot.node_types.len() {
        return Err(changed(&cursor, cursor.offset()));
    }
    let mut snapshot = linker.snapshot;
    snapshot.strings.shrink();
    snapshot.bytes = cursor.offset();
    Ok(snapshot)
}

fn changed(cursor: &Cursor<'_>, at: u64) -> Error {
    cursor.error_at(at, "the file changed while it was read".to_owned())
}

struct Linker {
    snapshot: Snapshot,
    /// By the dump's id of a name: the index of its string.
    names: HashMap<u64, u32>,
    roots: Vec<(usize, u64)>,
    /// By the id of a class: its index in `layouts` and `class_names`.
    index: HashMap<u64, usize>,
    layouts: Vec<Layout>,
    class_names: Vec<u32>,
    /// The bytes of the fields that every class has as an object.
    class_fields: u64,
    ids: Ids,
    /// The second node with the same id as another, if there is one.
    twice: Option<u32>,
    sizes: Sizes,
    /// The strings of [`INTERNALS`], of the empty name, and of arrays of primitives by the numbers
    /// of their types.
    internals: [u32; INTERNALS.len()],
    empty: u32,
    arrays: [u32; 12],
    /// The ordinal of the next node.
    next: usize,
}

impl Linker {
    fn new(cursor: &Cursor<'_>, mut gathered: Gathered) -> Result<Self, Error> {
        let snapshot = &mut gathered.snapshot;
        let first = ROOTS.len() + 1;
        let highest = snapshot.node_ids[first..].iter().copied().max().unwrap_or(0);
        let (ids, twice) = match Ids::of(&snapshot.node_ids, first as u32) {
            Ok(ids) => (ids, None),
            Err(ordinal) => (
                Ids::of(&[], 0).unwrap_or_else(|_| unreachable!("an empty table has no two equal ids")),
                Some(ordinal),
            ),
        };
        let strings = &mut snapshot.strings;
        let internals = INTERNALS.map(|name| strings.push(name));
        let empty = strings.push("");
        let mut arrays = [empty; 12];
        for basic in ALL_PRIMITIVES {
            arrays[basic as usize] = strings.push(&format!("{}[]", basic.name()));
        }
        let class_names: Vec<u32> = gathered
            .classes
            .iter()
            .map(|class| class_name(class, &gathered.loaded, &gathered.names, strings))
            .collect();
        let sizes = Sizes::new(cursor.id_bytes, highest);
        let layouts = layouts(cursor, &gathered, &class_names, sizes)?;
        let class = class_names
            .iter()
            .position(|&name| gathered.snapshot.strings.get(name) == "java.lang.Class");
        let mut linker = Linker {
            snapshot: gathered.snapshot,
            names: gathered.names,
            roots: gathered.roots,
            index: gathered.index,
            class_fields: class.map_or(0, |class| layouts[class].fields),
            layouts,
            class_names,
            ids,
            twice,
            sizes,
            internals,
            empty,
            arrays,
            next: 0,
        };
        linker.snapshot.first_edge.push(0);
        Ok(linker)
    }

    /// Adds the rows of the root and of the kinds of roots.
    fn roots(&mut self, cursor: &Cursor<'_>) -> Result<(), Error> {
        let kinds = 1..=ROOTS.len() as u32;
        for kind in kinds {
            self.edge_to(cursor, ELEMENT, kind, kind)?;
        }
        self.finish(self.empty, 0);
        let roots = std::mem::take(&mut self.roots);
        for (kind, (_, name, _, _)) in ROOTS.iter().enumerate() {
            let held = roots.iter().filter(|root| root.0 == kind);
            for (index, &(_, id)) in (1_u32..).zip(held) {
                self.edge(cursor, ELEMENT, index, id)?;
            }
            let name = self.snapshot.strings.push(name);
            self.finish(name, 0);
        }
        Ok(())
    }

    /// Checks that the next node is the object at offset `at`, as in the first pass.
    fn expect(&self, cursor: &Cursor<'_>, at: u64, id: u64) -> Result<(), Error> {
        if self.snapshot.node_ids.get(self.next) != Some(&id) {
            return Err(changed(cursor, at));
        }
        if self.twice == Some(self.next as u32) {
            return Err(cursor.error_at(at, format!("a second object with the id 0x{id:x}")));
        }
        Ok(())
    }

    /// Adds an edge of the next node, if its target is in the dump.
    #[inline]
    fn edge(&mut self, cursor: &Cursor<'_>, kind: u8, name: u32, id: u64) -> Result<(), Error> {
        match self.ids.get(&self.snapshot.node_ids, id) {
            Some(target) if id != 0 => self.edge_to(cursor, kind, name, target),
            _ => Ok(()),
        }
    }

    fn edge_to(&mut self, cursor: &Cursor<'_>, kind: u8, name: u32, target: u32) -> Result<(), Error> {
        if self.snapshot.targets.len() >= MOST {
            return Err(cursor.error_at(cursor.offset(), format!("more than {MOST} references")));
        }
        self.snapshot.edge_types.push(kind);
        self.snapshot.edge_names.push(name);
        self.snapshot.targets.push(target);
        Ok(())
    }

    /// Completes the next node.
    fn finish(&mut self, name: u32, size: u64) {
        self.snapshot.node_names.push(name);
        self.snapshot.self_sizes.push(size);
        self.snapshot.first_edge.push(self.snapshot.targets.len() as u32);
        self.next += 1;
    }

    /// Adds the edges of an instance's fields that are references.
    fn fields(&mut self, cursor: &mut Cursor<'_>, class: usize, bytes: u32) -> Result<(), Error> {
        const WHAT: &str = "the rest of an object's fields";
        let layout = std::mem::take(&mut self.layouts[class]);
        let mut at = 0;
        for &(offset, name, weak) in &layout.references {
            cursor.skip(offset - at, WHAT)?;
            let id = cursor.id(WHAT)?;
            self.edge(cursor, if weak { WEAK } else { FIELD }, name, id)?;
            at = offset + u64::from(cursor.id_bytes);
        }
        self.layouts[class] = layout;
        cursor.skip(u64::from(bytes) - at, WHAT)
    }
}

impl Pass for Linker {
    fn name(&mut self, cursor: &mut Cursor<'_>, _: u64, bytes: u64) -> Result<(), Error> {
        cursor.skip(bytes, "the rest of a name")
    }

    fn loaded(&mut self, _: u64, _: u64) {}

    fn root(&mut self, _: usize, _: u64) {}

    fn class(&mut self, cursor: &Cursor<'_>, at: u64, class: Class) -> Result<(), Error> {
        self.expect(cursor, at, class.id)?;
        let others = [class.superclass].into_iter().chain(class.others);
        let internals = self.internals;
        for (id, name) in others.zip(&internals[1..]) {
            self.edge(cursor, INTERNAL, *name, id)?;
        }
        for (name, id) in &class.statics {
            let name = self.names.get(name).copied().unwrap_or(self.empty);
            self.edge(cursor, STATIC, name, *id)?;
        }
        let statics: u64 = class.static_types.iter().map(|basic| self.sizes.of(*basic)).sum();
        let Some(&known) = self.index.get(&class.id) else {
            return Err(changed(cursor, at));
        };
        self.finish(self.class_names[known], self.sizes.object(self.class_fields + statics));
        Ok(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, at: u64, id: u64, body: Body) -> Result<(), Error> {
        self.expect(cursor, at, id)?;
        if let Body::Values { of, count } = body {
            cursor.skip(body.bytes(cursor.id_bytes), "the rest of an array")?;
            self.finish(self.arrays[of as usize], self.sizes.array(of, count));
            return Ok(());
        }
        let (Body::Instance { class, .. } | Body::Objects { class, .. }) = body else {
            unreachable!("values are done")
        };
        let Some(&known) = self.index.get(&class) else {
            return Err(cursor.error_at(
                at,
                format!("object 0x{id:x} has the class 0x{class:x}, which is not in the dump"),
            ));
        };
        self.edge(cursor, INTERNAL, self.internals[0], class)?;
        let size = match body {
            Body::Objects { count, .. } => {
                for index in 0..count {
                    let element = cursor.id("the rest of an array")?;
                    self.edge(cursor, ELEMENT, index, element)?;
                }
                self.sizes.array(Basic::Object, count)
            }
            Body::Instance { bytes, .. } => {
                let layout = &self.layouts[known];
                let (declared, fields) = (layout.dumped, layout.fields);
                if u64::from(bytes) != declared {
                    let name = self.snapshot.strings.get(self.class_names[known]);
                    let problem =
                        format!("object 0x{id:x} has {bytes} bytes of fields, its class {name} declares {declared}");
                    return Err(cursor.error_at(at, problem));
                }
                self.fields(cursor, known, bytes)?;
                self.sizes.object(fields)
            }
            Body::Values { .. } => unreachable!("values are done"),
        };
        self.finish(self.class_names[known], size);
        Ok(())
    }
}

fn class_name(class: &Class, loaded: &HashMap<u64, u64>, names: &HashMap<u64, u32>, strings: &mut Strings) -> u32 {
    let name = loaded.get(&class.id).and_then(|name| names.get(name));
    let name = match name {
        Some(&name) => source_name(&strings.get(name)),
        None => format!("class 0x{:x}", class.id),
    };
    strings.push(&name)
}

/// Makes the layouts of all classes, each from that of its superclass.
fn layouts(cursor: &Cursor<'_>, gathered: &Gathered, class_names: &[u32], sizes: Sizes) -> Result<Vec<Layout>, Error> {
    let strings = &gathered.snapshot.strings;
    let mut layouts: Vec<Option<Layout>> = vec![None; gathered.classes.len()];
    let mut chain = Vec::new();
    for class in 0..gathered.classes.len() {
        // Go up to a class whose layout is known, or that has no superclass.
        let mut at = Some(class);
        while let Some(class) = at.filter(|&class| layouts[class].is_none()) {
            let place = gathered.places[class].0;
            chain.push(class);
            if chain.len() > gathered.classes.len() {
                return Err(cursor.error_at(place, "a class is its own superclass".to_owned()));
            }
            let superclass = gathered.classes[class].superclass;
            at = match gathered.index.get(&superclass) {
                Some(&superclass) => Some(superclass),
                None if superclass == 0 => None,
                None => {
                    let name = strings.get(class_names[class]);
                    return Err(cursor.error_at(
                        place,
                        format!("the superclass 0x{superclass:x} of {name} is not in the dump"),
                    ));
                }
            };
        }
        // Go down again.
        let mut above = at.map_or_else(Layout::default, |class| layouts[class].clone().unwrap_or_default());
        while let Some(class) = chain.pop() {
            above = extended(
                &above,
                gathered,
                class,
                &strings.get(class_names[class]),
                sizes,
                cursor.id_bytes,
            );
            layouts[class] = Some(above.clone());
        }
    }
    Ok(layouts.into_iter().map(Option::unwrap_or_default).collect())
}

/// Makes the layout of a class. Its own fields come first in the dump, then those of its
/// superclass.
fn extended(above: &Layout, gathered: &Gathered, class: usize, name: &str, sizes: Sizes, id_bytes: u32) -> Layout {
    let mut layout = Layout {
        weak: above.weak || matches!(name, "java.lang.ref.WeakReference" | "java.lang.ref.PhantomReference"),
        ..Layout::default()
    };
    for &(field, basic) in &gathered.classes[class].fields {
        if basic == Basic::Object {
            let string = gathered.names.get(&field).copied();
            let is_referent = name == "java.lang.ref.Reference"
                && string.is_some_and(|string| gathered.snapshot.strings.get(string) == "referent");
            if is_referent {
                layout.referent = Some(layout.references.len());
            }
            // A field without a name gets the first string. Any string would do.
            layout.references.push((layout.dumped, string.unwrap_or(0), false));
        }
        layout.dumped += u64::from(basic.bytes(id_bytes));
        layout.fields += sizes.of(basic);
    }
    let own = (layout.dumped, layout.references.len());
    layout.dumped += above.dumped;
    layout.fields += above.fields;
    let moved = above
        .references
        .iter()
        .map(|&(offset, name, _)| (offset + own.0, name, false));
    layout.references.extend(moved);
    layout.referent = layout.referent.or(above.referent.map(|referent| referent + own.1));
    if let (true, Some(referent)) = (layout.weak, layout.referent) {
        layout.references[referent].2 = true;
    }
    layout
}
