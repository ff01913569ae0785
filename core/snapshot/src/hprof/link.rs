//! The second pass: sets names, sizes and edges of the nodes, in the order in which the first pass
//! met them.

use crate::both::both;
use crate::error::{Error, Problem};
use crate::hprof::class::{Class, source_name};
use crate::hprof::cursor::{Basic, Cursor};
use crate::hprof::gather::Gathered;
use crate::hprof::ids::Ids;
use crate::hprof::kinds::{ELEMENT, FIELD, FINAL, INTERNAL, MOST_EDGES, SOFT, STATIC, WEAK};
use crate::hprof::layout::{Layout, Sizes, infer};
use crate::hprof::record::{Body, Bounds, Frame, LOCALS, Pass, ROOTS, Root, THREADS, records};
use crate::memory::{insert, push};
use crate::snapshot::Snapshot;
use crate::strings::Strings;
use hashbrown::HashMap;
use std::borrow::Cow;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

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

/// The class of buffers whose bytes are outside of the heap, and the one that declares how many.
const DIRECT: &str = "java.nio.DirectByteBuffer";
const BUFFER: &str = "java.nio.Buffer";

/// What a field is read for.
#[derive(Clone, Copy)]
enum Field {
    /// A reference: its string, and the type of its edge.
    Reference(u32, u8),
    /// Of a `java.lang.String`: the byte that says how many bytes its letters have.
    Coder,
    /// Of a direct buffer: what frees its bytes, the file that they are a part of, and how many.
    Cleaner(u32),
    File(u32),
    Capacity,
}

pub(super) fn link(mut cursor: Cursor<'_>, mut gathered: Gathered) -> Result<Snapshot, Error> {
    let bounds = gathered.extent.bounds.clone();
    let stacks = Stacks {
        frames: std::mem::take(&mut gathered.frames),
        stacks: std::mem::take(&mut gathered.stacks),
        classes: std::mem::take(&mut gathered.numbered),
    };
    let node_ids = std::mem::take(&mut gathered.snapshot.node_ids);
    let ids = Ids::of(&node_ids, ROOTS.len() + 1).map_err(|problem| cursor.problem(problem))?;
    let (sender, batches) = sync_channel(BATCHES);
    let (nodes, edges) = both(
        || Linker::new(&cursor, gathered, &ids, sender)?.nodes(&mut cursor, &bounds, stacks),
        || Edges::of(&ids, batches),
    )
    .map_err(|_| cursor.problem(Problem::OutOfMemory))?;
    // If memory for the edges ran out, the nodes are incomplete too, so this error comes first.
    let edges = edges.map_err(|problem| cursor.problem(problem))?;
    drop(ids);
    Ok(Snapshot {
        node_ids,
        first_edge: edges.first,
        edge_types: edges.types,
        edge_names: edges.names,
        targets: edges.targets,
        ..nodes?
    })
}

/// Edges of some nodes, in order.
#[derive(Default)]
struct Batch {
    /// By edge: the id of its target.
    ids: Vec<u64>,
    /// By edge: its target, unless the receiver is to find it.
    targets: Option<Vec<Option<u32>>>,
    /// By edge: its name and its type.
    edges: Vec<(u32, u8)>,
    /// By node whose last edge is known: the number of these edges that come before its end.
    ends: Vec<usize>,
}

/// The edges of a batch, or its nodes, and the batches that wait for their targets.
const BATCH: usize = 1 << 13;
const BATCHES: usize = 4;

/// The columns of the edges.
struct Edges {
    first: Vec<u32>,
    types: Vec<u8>,
    names: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// Finds the targets of all edges that come, and leaves out those that are not in the dump.
    fn of(ids: &Ids<'_>, batches: Receiver<Batch>) -> Result<Self, Problem> {
        // The edges of the root lead to the kinds of roots, which have no ids of the dump.
        let kinds = 1..=ROOTS.len() as u32;
        let mut all = Edges {
            first: vec![0],
            types: vec![ELEMENT; ROOTS.len()],
            names: kinds.clone().collect(),
            targets: kinds.collect(),
        };
        for batch in batches {
            let Batch { edges, ends, .. } = batch;
            let targets = batch.targets.unwrap_or_else(|| ids.find_all(&batch.ids));
            let (mut some, mut at) = (targets.into_iter().zip(edges), 0);
            for end in ends {
                all.add(some.by_ref().take(end - at))?;
                push(&mut all.first, all.targets.len() as u32)?;
                at = end;
            }
            // The rest are of the next node.
            all.add(some)?;
        }
        Ok(all)
    }

    fn add(&mut self, edges: impl Iterator<Item = (Option<u32>, (u32, u8))>) -> Result<(), Problem> {
        for (target, (name, kind)) in edges {
            let Some(target) = target else { continue };
            if self.targets.len() >= MOST_EDGES {
                return Err(Problem::Dump(format!("more than {MOST_EDGES} references")));
            }
            push(&mut self.types, kind)?;
            push(&mut self.names, name)?;
            push(&mut self.targets, target)?;
        }
        Ok(())
    }
}

fn changed(cursor: &Cursor<'_>, at: u64) -> Error {
    cursor.error_at(at, "the file changed while it was read".to_owned())
}

/// The stacks of threads.
struct Stacks {
    frames: HashMap<u64, Frame>,
    stacks: HashMap<u32, Vec<u64>>,
    /// By the number of a class: the dump's id of its name.
    classes: HashMap<u32, u64>,
}

impl Stacks {
    /// The name of a reference from a frame: `<local of Cache.put (Cache.java:12)>`.
    fn frame(&self, stack: u32, place: u32, names: &HashMap<u64, u32>, strings: &Strings) -> String {
        let text = |name: &u64| names.get(name).map(|&name| strings.get(name));
        let frames = self.stacks.get(&stack);
        let frame = frames.and_then(|frames| self.frames.get(frames.get(place as usize)?));
        let (Some(frame), Some(method)) = (frame, frame.and_then(|frame| text(&frame.method))) else {
            return "<local>".to_owned();
        };
        let class = self.classes.get(&frame.class).and_then(text).unwrap_or_default();
        let class = class.rsplit('/').next().unwrap_or_default();
        let place = match text(&frame.file) {
            Some(file) if frame.line > 0 => format!(" ({file}:{})", frame.line),
            Some(file) => format!(" ({file})"),
            None => String::new(),
        };
        format!("<local of {class}.{method}{place}>")
    }
}

struct Linker<'i> {
    snapshot: Snapshot,
    /// The number of the heap dump.
    dump: u32,
    /// Whether some records are damaged.
    damaged: bool,
    /// The number of objects whose class is not in the dump, and the string of each such class.
    strangers: u64,
    strange_names: HashMap<u64, u32>,
    /// By the dump's id of a name: the index of its string.
    names: HashMap<u64, u32>,
    roots: [Vec<Root>; ROOTS.len()],
    /// What threads have in their frames, the last node first: the thread's ordinal, the string of
    /// the frame, and the id of the object.
    locals: Vec<(u32, u32, u64)>,
    /// By the id of a class: its index in `classes`, `layouts`, `fields` and `class_names`.
    index: HashMap<u64, usize>,
    classes: Vec<Class>,
    layouts: Vec<Layout>,
    /// Those of the classes of which an object has come: the fields to be read, in order, each with
    /// its offset.
    fields: Vec<Option<Vec<(u32, Field)>>>,
    class_names: Vec<u32>,
    /// The layout of a class as an object, without its static fields.
    class_layout: Layout,
    ids: &'i Ids<'i>,
    sizes: Sizes,
    /// The strings of [`INTERNALS`], of the empty name, and of arrays of primitives by the numbers
    /// of their types.
    internals: [u32; INTERNALS.len()],
    empty: u32,
    arrays: [u32; 12],
    /// The ordinal of the next node.
    next: usize,
    batch: Batch,
    batches: SyncSender<Batch>,
}

impl<'i> Linker<'i> {
    fn new(
        cursor: &Cursor<'_>,
        mut gathered: Gathered,
        ids: &'i Ids<'i>,
        batches: SyncSender<Batch>,
    ) -> Result<Self, Error> {
        let placed = |problem| cursor.problem(problem);
        let strings = &mut gathered.snapshot.strings;
        let mut internals = [0; INTERNALS.len()];
        for (string, name) in internals.iter_mut().zip(INTERNALS) {
            *string = strings.push(name).map_err(placed)?;
        }
        let empty = strings.push("").map_err(placed)?;
        let mut arrays = [empty; 12];
        for basic in ALL_PRIMITIVES {
            arrays[basic as usize] = strings.push(&format!("{}[]", basic.name())).map_err(placed)?;
        }
        let mut class_names = Vec::new();
        for class in &gathered.classes {
            class_name(class, &gathered.loaded, &gathered.names, strings)
                .and_then(|name| push(&mut class_names, name))
                .map_err(placed)?;
        }
        let layouts = layouts(cursor, &gathered, &class_names)?;
        let (sizes, is_known) = infer(
            cursor.id_bytes,
            ids.highest(),
            &gathered.sample,
            &gathered.index,
            &layouts,
        );
        let how = if is_known {
            "by the distances between objects"
        } else {
            "assumed"
        };
        gathered.snapshot.array = Some(sizes.slots());
        gathered.snapshot.layout = Some(format!("{}, {how}", sizes.words()));
        gathered.snapshot.warnings = std::mem::take(&mut gathered.extent.faults);
        let class = class_names
            .iter()
            .position(|&name| gathered.snapshot.strings.get(name) == "java.lang.Class");
        Ok(Linker {
            snapshot: gathered.snapshot,
            dump: gathered.dump,
            damaged: gathered.extent.bounds.has_gaps(),
            strangers: 0,
            strange_names: HashMap::new(),
            names: gathered.names,
            roots: gathered.roots,
            locals: Vec::new(),
            index: gathered.index,
            class_layout: class.map(|class| layouts[class]).unwrap_or_default(),
            fields: gathered.classes.iter().map(|_| None).collect(),
            classes: gathered.classes,
            layouts,
            class_names,
            ids,
            sizes,
            internals,
            empty,
            arrays,
            next: 0,
            batch: Batch::default(),
            batches,
        })
    }

    /// Sets all columns of nodes, and passes on the edges.
    fn nodes(mut self, cursor: &mut Cursor<'_>, bounds: &Bounds, stacks: Stacks) -> Result<Snapshot, Error> {
        self.find_locals(&stacks).map_err(|problem| cursor.problem(problem))?;
        drop(stacks);
        self.roots(cursor)?;
        records(cursor, &mut self, Some(bounds))?;
        if self.next != self.snapshot.node_types.len() {
            return Err(changed(cursor, cursor.offset()));
        }
        self.send(cursor)?;
        let mut snapshot = self.snapshot;
        if self.strangers > 0 {
            let objects = if self.strangers == 1 { "object" } else { "objects" };
            snapshot.warnings.push(format!(
                "the fields of {} {objects} are not known, since the dump lacks the class",
                self.strangers
            ));
        }
        snapshot.strings.shrink();
        snapshot.bytes = cursor.offset();
        Ok(snapshot)
    }

    /// Finds the objects in frames of threads that are in the dump. The threads hold them; others
    /// stay with the kinds of roots.
    fn find_locals(&mut self, stacks: &Stacks) -> Result<(), Problem> {
        let mut threads = HashMap::new();
        for root in &self.roots[THREADS] {
            if let Some(thread) = self.ids.find(root.id) {
                insert(&mut threads, root.thread, (thread, root.place))?;
            }
        }
        let mut strings = HashMap::new();
        for kind in LOCALS {
            for root in std::mem::take(&mut self.roots[kind]) {
                let Some(&(thread, stack)) = threads.get(&root.thread) else {
                    push(&mut self.roots[kind], root)?;
                    continue;
                };
                let string = match strings.get(&(stack, root.place)) {
                    Some(&string) => string,
                    None => {
                        let text = stacks.frame(stack, root.place, &self.names, &self.snapshot.strings);
                        let string = self.snapshot.strings.push(&text)?;
                        insert(&mut strings, (stack, root.place), string)?;
                        string
                    }
                };
                push(&mut self.locals, (thread, string, root.id))?;
            }
        }
        self.locals.reverse();
        self.locals.sort_by_key(|local| std::cmp::Reverse(local.0));
        Ok(())
    }

    /// Adds the rows of the root and of the kinds of roots.
    fn roots(&mut self, cursor: &Cursor<'_>) -> Result<(), Error> {
        // The edges of the root are known.
        self.finish(cursor, self.empty, 0)?;
        let roots = std::mem::take(&mut self.roots);
        for (held, (_, name, _, _)) in roots.iter().zip(&ROOTS) {
            for (index, root) in (1_u32..).zip(held) {
                self.edge(cursor, ELEMENT, index, root.id)?;
            }
            let name = self.snapshot.strings.push(name);
            self.finish(cursor, name.map_err(|problem| cursor.problem(problem))?, 0)?;
        }
        Ok(())
    }

    /// Checks that the next node is the object at offset `at`, as in the first pass.
    fn expect(&self, cursor: &Cursor<'_>, at: u64, id: u64) -> Result<(), Error> {
        if self.ids.id(self.next) != Some(id) {
            return Err(changed(cursor, at));
        }
        if self.ids.twice == Some(self.next as u32) && !self.damaged {
            return Err(cursor.error_at(at, format!("a second object with the id 0x{id:x}")));
        }
        Ok(())
    }

    /// Adds an edge of the next node, if its target is in the dump.
    #[inline]
    fn edge(&mut self, cursor: &Cursor<'_>, kind: u8, name: u32, id: u64) -> Result<(), Error> {
        if id != 0 {
            self.batch.ids.push(id);
            self.batch.edges.push((name, kind));
        }
        match self.batch.edges.len() {
            BATCH.. => self.send(cursor),
            _ => Ok(()),
        }
    }

    /// Passes on the batch. If others wait, finds its targets, so that both cores are busy.
    fn send(&mut self, cursor: &Cursor<'_>) -> Result<(), Error> {
        let sent = match self.batches.try_send(std::mem::take(&mut self.batch)) {
            Err(TrySendError::Full(mut batch)) => {
                batch.targets = Some(self.ids.find_all(&batch.ids));
                self.batches.send(batch).is_ok()
            }
            sent => sent.is_ok(),
        };
        // The receiver says what is wrong.
        if sent {
            Ok(())
        } else {
            Err(cursor.problem(Problem::OutOfMemory))
        }
    }

    /// Completes the next node.
    fn finish(&mut self, cursor: &Cursor<'_>, name: u32, size: u64) -> Result<(), Error> {
        while let Some((_, frame, id)) = self.locals.pop_if(|local| local.0 as usize == self.next) {
            self.edge(cursor, INTERNAL, frame, id)?;
        }
        self.next += 1;
        push(&mut self.snapshot.node_names, name)
            .and_then(|()| push(&mut self.snapshot.self_sizes, size))
            .map_err(|problem| cursor.problem(problem))?;
        self.batch.ends.push(self.batch.edges.len());
        match self.batch.ends.len() {
            BATCH.. => self.send(cursor),
            _ => Ok(()),
        }
    }

    /// Adds the edges of an instance's fields that are references. Returns the bytes outside of the
    /// heap that it owns.
    fn fields(&mut self, cursor: &mut Cursor<'_>, class: usize, bytes: u32) -> Result<u64, Error> {
        const WHAT: &str = "the rest of an object's fields";
        let fields = match self.fields[class].take() {
            Some(fields) => fields,
            None => self
                .find_fields(class, cursor.id_bytes)
                .map_err(|problem| cursor.problem(problem))?,
        };
        let (mut at, mut is_owner, mut outside) = (0, false, 0);
        for &(offset, field) in &fields {
            cursor.skip(u64::from(offset) - at, WHAT)?;
            let width = match field {
                Field::Reference(name, kind) => {
                    let id = cursor.id(WHAT)?;
                    self.edge(cursor, kind, name, id)?;
                    cursor.id_bytes
                }
                Field::Coder => {
                    if cursor.u1(WHAT)? != 0 {
                        push(&mut self.snapshot.wide, self.next as u32).map_err(|problem| cursor.problem(problem))?;
                    }
                    1
                }
                Field::Cleaner(name) | Field::File(name) => {
                    let id = cursor.id(WHAT)?;
                    self.edge(cursor, FIELD, name, id)?;
                    // Others show the bytes of one that owns them, or of a file.
                    is_owner = match field {
                        Field::Cleaner(_) => id != 0,
                        _ => is_owner && id == 0,
                    };
                    cursor.id_bytes
                }
                Field::Capacity => {
                    outside = u64::from(cursor.u4(WHAT)?);
                    4
                }
            };
            at = u64::from(offset) + u64::from(width);
        }
        self.fields[class] = Some(fields);
        cursor.skip(u64::from(bytes) - at, WHAT)?;
        Ok(if is_owner { outside } else { 0 })
    }

    /// Finds the fields to be read of a class's objects, which have fewer than 2^32 bytes of fields.
    /// The fields of the class itself come first in the dump, then its superclass's.
    fn find_fields(&self, class: usize, id_bytes: u32) -> Result<Vec<(u32, Field)>, Problem> {
        let mut fields = Vec::new();
        let layout = self.layouts[class];
        let (mut next, mut is_direct) = (layout.nearest, false);
        while let Some(at) = next {
            let declaring = &self.classes[at];
            let class = self.string(self.class_names[at]);
            is_direct |= class == DIRECT;
            let mut offset = (layout.dumped - self.layouts[at].dumped) as u32;
            for (field, basic) in &declaring.fields {
                let string = self.names.get(field).copied();
                let text = string.map_or(Cow::Borrowed(""), |string| self.string(string));
                // A field without a name gets the first string. Any string would do.
                let name = string.unwrap_or(0);
                let field = match (basic, &*class, &*text) {
                    (Basic::Object, "java.lang.ref.Reference", "referent") => {
                        Some(Field::Reference(name, layout.referent.unwrap_or(FIELD)))
                    }
                    // The collector's list of references.
                    (Basic::Object, "java.lang.ref.Reference", "discovered") => Some(Field::Reference(name, WEAK)),
                    (Basic::Object, DIRECT, "cleaner") => Some(Field::Cleaner(name)),
                    (Basic::Object, "java.nio.MappedByteBuffer", "fd") if is_direct => Some(Field::File(name)),
                    (Basic::Object, ..) => Some(Field::Reference(name, FIELD)),
                    (Basic::Byte, "java.lang.String", "coder") => Some(Field::Coder),
                    (Basic::Int, BUFFER, "capacity") if is_direct => Some(Field::Capacity),
                    _ => None,
                };
                if let Some(field) = field {
                    push(&mut fields, (offset, field))?;
                }
                offset += basic.bytes(id_bytes);
            }
            let superclass = self.index.get(&declaring.superclass);
            next = superclass.and_then(|&superclass| self.layouts[superclass].nearest);
        }
        Ok(fields)
    }

    /// Adds the next node, whose class is not in the dump: it has the bytes of its record.
    fn stranger(&mut self, cursor: &mut Cursor<'_>, class: u64, body: Body) -> Result<(), Error> {
        self.strangers += 1;
        let known = self.strange_names.get(&class).copied();
        let name = match known {
            Some(name) => Ok(name),
            None => self.snapshot.strings.push(&format!("class 0x{class:x}")),
        };
        let name = name.and_then(|name| insert(&mut self.strange_names, class, name).map(|()| name));
        let name = name.map_err(|problem| cursor.problem(problem))?;
        let size = match body {
            Body::Instance { bytes, .. } => self.sizes.object(0, u64::from(bytes)),
            Body::Objects { count, .. } => self.sizes.array(Basic::Object, count),
            Body::Values { of, count, .. } => self.sizes.array(of, count),
        };
        if let Body::Objects { count, .. } = body {
            for index in 0..count {
                let element = cursor.id("the rest of an array")?;
                self.edge(cursor, ELEMENT, index, element)?;
            }
        } else {
            cursor.skip(body.bytes(cursor.id_bytes), "the rest of an object")?;
        }
        self.finish(cursor, name, size)
    }

    fn string(&self, index: u32) -> Cow<'_, str> {
        self.snapshot.strings.get(index)
    }
}

impl Pass for Linker<'_> {
    fn begins(&mut self, dump: u32) -> bool {
        dump == self.dump
    }

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
        let statics = class.static_types.iter();
        let statics: u64 = statics.map(|basic| self.sizes.of(*basic)).sum();
        let Layout { references, values, .. } = self.class_layout;
        let Some(&known) = self.index.get(&class.id) else {
            return Err(changed(cursor, at));
        };
        self.finish(
            cursor,
            self.class_names[known],
            self.sizes.object(references, values + statics),
        )
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, at: u64, id: u64, body: Body) -> Result<(), Error> {
        self.expect(cursor, at, id)?;
        if let Body::Values { of, count, .. } = body {
            cursor.skip(body.bytes(cursor.id_bytes), "the rest of an array")?;
            return self.finish(cursor, self.arrays[of as usize], self.sizes.array(of, count));
        }
        let (Body::Instance { class, .. } | Body::Objects { class, .. }) = body else {
            unreachable!("values are done")
        };
        let Some(&known) = self.index.get(&class) else {
            return self.stranger(cursor, class, body);
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
                let Layout {
                    dumped: declared,
                    references,
                    values,
                    partial,
                    ..
                } = self.layouts[known];
                let more = u64::from(bytes)
                    .checked_sub(declared)
                    .filter(|more| *more == 0 || partial);
                if more.is_none() && self.damaged {
                    self.strangers += 1;
                    cursor.skip(u64::from(bytes), "the rest of an object")?;
                    return self.finish(cursor, self.class_names[known], self.sizes.object(0, u64::from(bytes)));
                }
                let Some(more) = more else {
                    let name = self.snapshot.strings.get(self.class_names[known]);
                    // A damaged name may have any letters, and a message is one line.
                    let name = name.escape_debug();
                    let problem = format!(
                        "object 0x{id:x} has {bytes} bytes of fields, but its class {name} declares {declared}"
                    );
                    return Err(cursor.error_at(at, problem));
                };
                self.fields(cursor, known, bytes)? + self.sizes.object(references, values + more)
            }
            Body::Values { .. } => unreachable!("values are done"),
        };
        self.finish(cursor, self.class_names[known], size)
    }
}

fn class_name(
    class: &Class,
    loaded: &HashMap<u64, u64>,
    names: &HashMap<u64, u32>,
    strings: &mut Strings,
) -> Result<u32, Problem> {
    let name = loaded.get(&class.id).and_then(|name| names.get(name));
    let name = match name {
        Some(&name) => source_name(&strings.get(name)),
        None => format!("class 0x{:x}", class.id),
    };
    strings.push(&name)
}

/// Makes the layouts of all classes, each from its superclass's.
fn layouts(cursor: &Cursor<'_>, gathered: &Gathered, class_names: &[u32]) -> Result<Vec<Layout>, Error> {
    let strings = &gathered.snapshot.strings;
    let mut layouts: Vec<Option<Layout>> = vec![None; gathered.classes.len()];
    let mut chain = Vec::new();
    for class in 0..gathered.classes.len() {
        // Go up to a class whose layout is known, or that has no superclass.
        let (mut at, mut top) = (Some(class), 0);
        while let Some(class) = at.filter(|&class| layouts[class].is_none()) {
            let place = gathered.places[class].0;
            chain.push(class);
            if chain.len() > gathered.classes.len() {
                return Err(cursor.error_at(place, "a class is its own superclass".to_owned()));
            }
            let superclass = gathered.classes[class].superclass;
            at = gathered.index.get(&superclass).copied();
            top = superclass;
        }
        // Go down again.
        let mut layout = match at {
            Some(class) => layouts[class].unwrap_or_default(),
            None => Layout {
                partial: top != 0,
                ..Layout::default()
            },
        };
        while let Some(class) = chain.pop() {
            let name = strings.get(class_names[class]);
            layout.referent = match name.as_ref() {
                "java.lang.ref.WeakReference" | "java.lang.ref.PhantomReference" => Some(WEAK),
                "java.lang.ref.SoftReference" => Some(SOFT),
                "java.lang.ref.FinalReference" => Some(FINAL),
                _ => layout.referent,
            };
            for &(_, basic) in &gathered.classes[class].fields {
                layout.dumped += u64::from(basic.bytes(cursor.id_bytes));
                if basic == Basic::Object {
                    layout.references += 1;
                } else {
                    layout.values += u64::from(basic.bytes(cursor.id_bytes));
                }
                if basic == Basic::Object || name == BUFFER {
                    layout.nearest = Some(class);
                }
            }
            layouts[class] = Some(layout);
        }
    }
    Ok(layouts.into_iter().map(Option::unwrap_or_default).collect())
}
