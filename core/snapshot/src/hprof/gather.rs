//! The first pass: collects names, classes, roots, and the ids and types of all nodes. It skips the
//! contents of objects.

use hashbrown::HashMap;

use crate::error::{Error, Problem};
use crate::hprof::class::Class;
use crate::hprof::cursor::Cursor;
use crate::hprof::kinds::{
    CLASS, EDGE_TYPES, ELEMENT, NODE_TYPES, OBJECT, OBJECT_ARRAY, PRIMITIVE_ARRAY, SYNTHETIC, WEAK,
};
use crate::hprof::record::{Body, Bounds, CLASSES, Extent, Frame, Pass, ROOTS, Root, records};
use crate::memory::{extend, insert, push};
use crate::snapshot::Snapshot;

/// Limit on nodes: `u32::MAX` is not an ordinal.
const MOST: usize = u32::MAX as usize - 1;

/// The longest name of a class or a field in a JVM, in bytes. A longer one is cut.
const LONGEST_NAME: usize = u16::MAX as usize;

/// How many objects' distances are used to infer the layout: more would not change it.
const SAMPLE: usize = 1 << 18;

/// The results of the first pass.
pub(crate) struct Gathered {
    /// The number of the heap dump to read, from 1; `None` for the last one.
    asked: Option<u32>,
    /// The number of the heap dump that everything else comes from.
    pub(super) dump: u32,
    /// The extent of the file's records.
    pub(super) extent: Extent,
    /// The first objects, with their ids; those without a body are classes.
    pub(super) sample: Vec<(u64, Option<Body>)>,
    /// Nodes with their types and ids, and the strings of the dump.
    pub(super) snapshot: Snapshot,
    /// By the dump's id of a name: the index of its string.
    pub(super) names: HashMap<u64, u32>,
    /// By the id of a class: the dump's id of its name.
    pub(super) loaded: HashMap<u64, u64>,
    /// By the number of a class: the same.
    pub(super) numbered: HashMap<u32, u64>,
    pub(super) frames: HashMap<u64, Frame>,
    /// By the number of a stack: the ids of its frames, the innermost first.
    pub(super) stacks: HashMap<u32, Vec<u64>>,
    pub(super) classes: Vec<Class>,
    /// By class: its offset in the file, and its ordinal.
    pub(super) places: Vec<(u64, u32)>,
    /// By the id of a class: its index in `classes`.
    pub(super) index: HashMap<u64, usize>,
    pub(super) roots: [Vec<Root>; ROOTS.len()],
}

pub(super) fn gather(mut cursor: Cursor<'_>, asked: Option<u32>) -> Result<Gathered, Error> {
    let mut gathered = Gathered {
        asked,
        dump: 0,
        extent: Extent::default(),
        sample: Vec::new(),
        snapshot: empty(),
        names: HashMap::new(),
        loaded: HashMap::new(),
        numbered: HashMap::new(),
        frames: HashMap::new(),
        stacks: HashMap::new(),
        classes: Vec::new(),
        places: Vec::new(),
        index: HashMap::new(),
        roots: Default::default(),
    };
    gathered.extent = records(&mut cursor, &mut gathered, None)?;
    let dumps = gathered.extent.dumps;
    if gathered.dump == 0 {
        let asked = asked.unwrap_or_default();
        return Err(cursor.error_at(
            0,
            format!("no heap dump {asked} in this file: expected a number from 1 to {dumps}"),
        ));
    }
    if asked.is_none() && dumps > 1 {
        gathered.extent.faults.push(format!(
            "{dumps} heap dumps, of which this is the last: --dump N shows another"
        ));
    }
    if gathered.roots.iter().all(Vec::is_empty) {
        let classes = gathered.classes.iter().map(|class| Root {
            id: class.id,
            thread: 0,
            place: 0,
        });
        gathered.roots[CLASSES] = classes.collect();
        let fault = "no roots: classes count as such, what only threads hold is unreachable";
        gathered.extent.faults.push(fault.to_owned());
    }
    Ok(gathered)
}

/// Makes a snapshot with the nodes of every dump: the root, and one node for each kind of roots.
fn empty() -> Snapshot {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let synthetic = 0..=ROOTS.len() as u64;
    Snapshot {
        node_type_names: owned(&NODE_TYPES),
        edge_type_names: owned(&EDGE_TYPES),
        weak_type: Some(WEAK),
        indexed_types: (0..EDGE_TYPES.len()).map(|kind| kind == usize::from(ELEMENT)).collect(),
        node_types: synthetic.clone().map(|_| SYNTHETIC).collect(),
        // Ids are odd, like V8's: no object has such an address.
        node_ids: synthetic.map(|node| 2 * node + 1).collect(),
        ..Snapshot::default()
    }
}

/// The heap dump of a file that is read.
pub(crate) struct At {
    /// Its number, from 1.
    pub(super) dump: u32,
    /// The damage of the file.
    pub(super) bounds: Bounds,
}

impl Gathered {
    /// Where the heap dump is.
    pub(crate) fn at(&self) -> At {
        At {
            dump: self.dump,
            bounds: self.extent.bounds.clone(),
        }
    }

    /// Keeps an object for the layout.
    fn measure(&mut self, id: u64, body: Option<Body>) {
        if self.sample.len() < SAMPLE {
            self.sample.push((id, body));
        }
    }

    fn node(&mut self, cursor: &Cursor<'_>, at: u64, id: u64, kind: u8) -> Result<u32, Error> {
        let ordinal = self.snapshot.node_types.len();
        if ordinal >= MOST {
            return Err(cursor.error_at(at, format!("more than {MOST} objects")));
        }
        push(&mut self.snapshot.node_types, kind)
            .and_then(|()| push(&mut self.snapshot.node_ids, id))
            .map_err(|problem| cursor.problem(problem))?;
        Ok(ordinal as u32)
    }
}

impl Pass for Gathered {
    fn knows(&self, class: u64) -> bool {
        self.index.contains_key(&class) || self.loaded.contains_key(&class)
    }

    fn begins(&mut self, dump: u32) -> bool {
        let is_wanted = self.asked.is_none_or(|asked| asked == dump);
        if is_wanted {
            // Names and loaded classes belong to the file; everything else belongs to a heap dump.
            let strings = std::mem::take(&mut self.snapshot.strings);
            self.snapshot = Snapshot { strings, ..empty() };
            (self.classes, self.places, self.sample) = (Vec::new(), Vec::new(), Vec::new());
            (self.index, self.roots) = (HashMap::new(), Default::default());
            self.dump = dump;
        }
        is_wanted
    }

    fn name(&mut self, cursor: &mut Cursor<'_>, id: u64, bytes: u64) -> Result<(), Error> {
        let mut text = Vec::new();
        let mut kept = Ok(());
        cursor.bytes(bytes, "the rest of a name", |piece| {
            let room = piece.len().min(LONGEST_NAME - text.len());
            if kept.is_ok() {
                kept = extend(&mut text, &piece[..room]);
            }
        })?;
        kept.and_then(|()| self.snapshot.strings.push(&String::from_utf8_lossy(&text)))
            .and_then(|string| insert(&mut self.names, id, string))
            .map_err(|problem| cursor.problem(problem))
    }

    fn loaded(&mut self, number: u32, class: u64, name: u64) -> Result<(), Problem> {
        insert(&mut self.numbered, number, name)?;
        insert(&mut self.loaded, class, name)
    }

    fn frame(&mut self, id: u64, frame: Frame) -> Result<(), Problem> {
        insert(&mut self.frames, id, frame)
    }

    fn stack(&mut self, number: u32, frames: Vec<u64>) -> Result<(), Problem> {
        insert(&mut self.stacks, number, frames)
    }

    fn root(&mut self, kind: usize, root: Root) -> Result<(), Problem> {
        push(&mut self.roots[kind], root)
    }

    fn class(&mut self, cursor: &Cursor<'_>, at: u64, class: Class) -> Result<(), Error> {
        let ordinal = self.node(cursor, at, class.id, CLASS)?;
        self.measure(class.id, None);
        insert(&mut self.index, class.id, self.classes.len())
            .and_then(|()| push(&mut self.places, (at, ordinal)))
            .and_then(|()| push(&mut self.classes, class))
            .map_err(|problem| cursor.problem(problem))
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, at: u64, id: u64, body: Body) -> Result<(), Error> {
        let kind = match body {
            Body::Instance { .. } => OBJECT,
            Body::Objects { .. } => OBJECT_ARRAY,
            Body::Values { .. } => PRIMITIVE_ARRAY,
        };
        // An object that is cut off does not count.
        cursor.skip(body.bytes(cursor.id_bytes), "the rest of an object")?;
        self.node(cursor, at, id, kind)?;
        self.measure(id, Some(body));
        Ok(())
    }
}
