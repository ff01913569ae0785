//! The records of a dump, one by one, each passed to a method of a pass.

use crate::error::{Error, Problem};
use crate::hprof::class::Class;
use crate::hprof::cursor::{Basic, Cursor};

/// Kinds of GC roots: the number in the file, the name of the node, and the size of the data after
/// the id (in bytes, and in ids).
pub(super) const ROOTS: [(u8, &str, u64, u64); 9] = [
    (0xff, "(Unknown roots)", 0, 0),
    (0x01, "(JNI globals)", 0, 1),
    (0x02, "(JNI locals)", 8, 0),
    (0x03, "(Java frames)", 8, 0),
    (0x04, "(Native stacks)", 4, 0),
    (0x05, "(System classes)", 0, 0),
    (0x06, "(Thread blocks)", 4, 0),
    (0x07, "(Monitors in use)", 0, 0),
    (0x08, "(Threads)", 8, 0),
];

const UTF8: u8 = 0x01;
const LOAD_CLASS: u8 = 0x02;
const HEAP_DUMP: u8 = 0x0c;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;
const HEAP_DUMP_END: u8 = 0x2c;
const CLASS_DUMP: u8 = 0x20;
const INSTANCE_DUMP: u8 = 0x21;
const OBJECT_ARRAY_DUMP: u8 = 0x22;
const PRIMITIVE_ARRAY_DUMP: u8 = 0x23;

/// An object that is not a class. Its contents come next in the file, and the pass must take them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    /// An instance of this class, with this many bytes of fields.
    Instance { class: u64, bytes: u32 },
    /// An array of this class, with this many ids.
    Objects { class: u64, count: u32 },
    /// An array of this many values.
    Values { of: Basic, count: u32 },
}

impl Body {
    /// Bytes of the contents in the dump.
    pub(super) fn bytes(self, id_bytes: u32) -> u64 {
        match self {
            Body::Instance { bytes, .. } => u64::from(bytes),
            Body::Objects { count, .. } => u64::from(count) * u64::from(id_bytes),
            Body::Values { of, count } => u64::from(count) * u64::from(of.bytes(id_bytes)),
        }
    }
}

/// A pass over the records of a dump.
pub(super) trait Pass {
    /// A name. `cursor` is at its `bytes` bytes, and the pass must take them.
    fn name(&mut self, cursor: &mut Cursor<'_>, id: u64, bytes: u64) -> Result<(), Error>;
    /// A class was loaded under a name.
    fn loaded(&mut self, class: u64, name: u64) -> Result<(), Problem>;
    /// A root of one of [`ROOTS`].
    fn root(&mut self, kind: usize, id: u64) -> Result<(), Problem>;
    /// A class, whose record begins at offset `at`.
    fn class(&mut self, cursor: &Cursor<'_>, at: u64, class: Class) -> Result<(), Error>;
    /// Any other object. `cursor` is at its contents, and the pass must take them.
    fn object(&mut self, cursor: &mut Cursor<'_>, at: u64, id: u64, body: Body) -> Result<(), Error>;
}

/// Reads all records, from the header to the end of the file.
pub(super) fn records(cursor: &mut Cursor<'_>, pass: &mut dyn Pass) -> Result<(), Error> {
    let (mut dumped, mut open) = (false, false);
    while !cursor.is_at_end()? {
        let tag = cursor.u1("a record")?;
        cursor.skip(4, "the time of a record")?;
        let length = u64::from(cursor.u4("the length of a record")?);
        let end = cursor.offset() + length;
        match tag {
            UTF8 => {
                let at = cursor.offset();
                let id = cursor.id("the id of a name")?;
                let bytes = length.checked_sub(u64::from(cursor.id_bytes));
                let bytes = bytes.ok_or_else(|| {
                    cursor.error_at(at, format!("a name in a record of {length} bytes, too few for its id"))
                })?;
                pass.name(cursor, id, bytes)?;
            }
            LOAD_CLASS => {
                cursor.skip(4, "the number of a class")?;
                let class = cursor.id("the id of a class")?;
                cursor.skip(4, "the stack of a class")?;
                let name = cursor.id("the name of a class")?;
                pass.loaded(class, name).map_err(|problem| cursor.problem(problem))?;
            }
            HEAP_DUMP | HEAP_DUMP_SEGMENT => {
                (dumped, open) = (true, tag == HEAP_DUMP_SEGMENT);
                while cursor.offset() < end {
                    entry(cursor, pass)?;
                }
            }
            HEAP_DUMP_END => open = false,
            _ => cursor.skip(length, "the rest of a record")?,
        }
        if tag != HEAP_DUMP_END && cursor.offset() != end {
            let at = cursor.offset();
            return Err(cursor.error_at(
                at,
                format!("record 0x{tag:02x} should end at byte {end}, but its contents end here"),
            ));
        }
    }
    if open {
        return Err(cursor.cut_off("the end of the heap dump"));
    }
    if !dumped {
        let at = cursor.offset();
        return Err(cursor.error_at(at, "no heap dump in this file, only other records".to_owned()));
    }
    Ok(())
}

/// Reads one record within a heap dump.
fn entry(cursor: &mut Cursor<'_>, pass: &mut dyn Pass) -> Result<(), Error> {
    let at = cursor.offset();
    let tag = cursor.u1("a record of the heap dump")?;
    let root = ROOTS.iter().position(|root| root.0 == tag);
    if let Some(kind) = root {
        let id = cursor.id("the id of a root")?;
        let (_, _, bytes, ids) = ROOTS[kind];
        cursor.skip(bytes + ids * u64::from(cursor.id_bytes), "the rest of a root")?;
        return pass.root(kind, id).map_err(|problem| cursor.problem(problem));
    }
    if tag == CLASS_DUMP {
        let class = Class::read(cursor)?;
        return pass.class(cursor, at, class);
    }
    if !matches!(tag, INSTANCE_DUMP | OBJECT_ARRAY_DUMP | PRIMITIVE_ARRAY_DUMP) {
        let known = "expected a root, a class (0x20), an object (0x21) or an array (0x22, 0x23)";
        return Err(cursor.error_at(at, format!("record 0x{tag:02x} in the heap dump, {known}")));
    }
    let id = cursor.id("the id of an object")?;
    cursor.skip(4, "the stack of an object")?;
    let body = match tag {
        INSTANCE_DUMP => Body::Instance {
            class: cursor.id("the class of an object")?,
            bytes: cursor.u4("the size of an object")?,
        },
        OBJECT_ARRAY_DUMP => {
            let count = cursor.u4("the length of an array")?;
            let class = cursor.id("the class of an array")?;
            Body::Objects { class, count }
        }
        _ => {
            let count = cursor.u4("the length of an array")?;
            let of = cursor.basic("the type of an array's elements")?;
            Body::Values { of, count }
        }
    };
    pass.object(cursor, at, id, body)
}
