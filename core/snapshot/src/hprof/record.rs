//! The records of a dump, one by one, each passed to a method of a pass.

use crate::error::{Error, Problem};
use crate::hprof::class::Class;
use crate::hprof::cursor::{Basic, Cursor, MAGIC};
use crate::memory::push;

/// Kinds of GC roots: the number in the file, the name of the node, and the size of the data after
/// the id (in bytes, and in ids). Four bytes of data are the number of a thread; eight are that and
/// a place ([`Root`]).
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

/// The places in [`ROOTS`] of objects in threads' frames, of classes, and of threads.
pub(super) const LOCALS: [usize; 2] = [2, 3];
pub(super) const CLASSES: usize = 5;
pub(super) const THREADS: usize = 8;

/// Android's kinds of GC roots, which count as unknown: interned strings, objects in finalisation,
/// of the debugger, in reference cleanup, of the VM, and JNI monitors. The number in the file, and
/// the bytes after the id.
const ANDROID_ROOTS: [(u8, u64); 6] = [(0x89, 0), (0x8a, 0), (0x8b, 0), (0x8c, 0), (0x8d, 0), (0x8e, 8)];

const UTF8: u8 = 0x01;
const LOAD_CLASS: u8 = 0x02;
const STACK_FRAME: u8 = 0x04;
const STACK_TRACE: u8 = 0x05;
const HEAP_DUMP: u8 = 0x0c;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;
const HEAP_DUMP_END: u8 = 0x2c;
const CLASS_DUMP: u8 = 0x20;
const INSTANCE_DUMP: u8 = 0x21;
const OBJECT_ARRAY_DUMP: u8 = 0x22;
const PRIMITIVE_ARRAY_DUMP: u8 = 0x23;

/// Records without which there is a heap dump, too: of classes, sites, threads and samples.
const OTHERS: [u8; 9] = [STACK_FRAME, STACK_TRACE, 0x03, 0x06, 0x07, 0x0a, 0x0b, 0x0d, 0x0e];

/// The longest name of a file, in bytes. Those of a JVM are shorter.
const LONGEST_NAME: u64 = 1 << 20;

/// The records of objects, but for classes.
const OBJECTS: [u8; 4] = [
    INSTANCE_DUMP,
    OBJECT_ARRAY_DUMP,
    PRIMITIVE_ARRAY_DUMP,
    PRIMITIVE_ARRAY_NO_DATA,
];

/// Android's: an unreachable object, the name of a part of the heap, and an array without its
/// elements.
const UNREACHABLE: u8 = 0x90;
const HEAP_DUMP_INFO: u8 = 0xfe;
const PRIMITIVE_ARRAY_NO_DATA: u8 = 0xc3;

/// An object that is not a class. Its contents come next in the file, and the pass must take them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    /// An instance of this class, with this many bytes of fields.
    Instance { class: u64, bytes: u32 },
    /// An array of this class, with this many ids.
    Objects { class: u64, count: u32 },
    /// An array of this many values, which the dump has if `there`.
    Values { of: Basic, count: u32, there: bool },
}

impl Body {
    /// Bytes of the contents in the dump.
    pub(super) fn bytes(self, id_bytes: u32) -> u64 {
        match self {
            Body::Instance { bytes, .. } => u64::from(bytes),
            Body::Objects { count, .. } => u64::from(count) * u64::from(id_bytes),
            Body::Values { there: false, .. } => 0,
            Body::Values { of, count, .. } => u64::from(count) * u64::from(of.bytes(id_bytes)),
        }
    }
}

/// A root: the object, and for some kinds the number of the thread that has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) id: u64,
    pub(super) thread: u32,
    /// The number of the thread's stack, or of the frame in it, the innermost first.
    pub(super) place: u32,
}

/// A frame of a stack: the ids of names, the number of the class, and the line, if above 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) method: u64,
    pub(super) file: u64,
    pub(super) class: u32,
    pub(super) line: i32,
}

/// The complete records of a file.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// The number of heap dumps.
    pub(super) dumps: u32,
    /// What can be read of them.
    pub(super) bounds: Bounds,
    /// Anything wrong with the file.
    pub(super) faults: Vec<String>,
}

/// The damage of a file, which each pass goes around.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// The first byte after the last complete record, if the file is cut off there.
    cut: Option<u64>,
    /// From where to where records are damaged, in order.
    gaps: Vec<(u64, u64)>,
}

impl Bounds {
    /// The end of the damage that begins at a byte.
    fn after_gap(&self, at: u64) -> Option<u64> {
        let gap = self.gaps.binary_search_by_key(&at, |(from, _)| *from).ok()?;
        Some(self.gaps[gap].1)
    }

    /// Whether some records are damaged.
    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }
}

/// A pass over the records of a dump.
pub(super) trait Pass {
    /// Whether this is the id of a class.
    fn knows(&self, class: u64) -> bool {
        let _ = class;
        false
    }
    /// The heap dump with this number, from 1, begins. Returns whether its records are wanted.
    fn begins(&mut self, dump: u32) -> bool;
    /// A name. `cursor` is at its `bytes` bytes, and the pass must take them.
    fn name(&mut self, cursor: &mut Cursor<'_>, id: u64, bytes: u64) -> Result<(), Error> {
        let _ = id;
        cursor.skip(bytes, "the rest of a name")
    }
    /// A class was loaded under a name, and has a number.
    fn loaded(&mut self, number: u32, class: u64, name: u64) -> Result<(), Problem> {
        let _ = (number, class, name);
        Ok(())
    }
    /// A frame of a stack.
    fn frame(&mut self, id: u64, frame: Frame) -> Result<(), Problem> {
        let _ = (id, frame);
        Ok(())
    }
    /// A stack with the ids of its frames, the innermost first.
    fn stack(&mut self, number: u32, frames: Vec<u64>) -> Result<(), Problem> {
        let _ = (number, frames);
        Ok(())
    }
    /// A root of one of [`ROOTS`].
    fn root(&mut self, kind: usize, root: Root) -> Result<(), Problem> {
        let _ = (kind, root);
        Ok(())
    }
    /// A class, whose record begins at offset `at`.
    fn class(&mut self, cursor: &Cursor<'_>, at: u64, class: Class) -> Result<(), Error>;
    /// Any other object. `cursor` is at its contents, and the pass must take them.
    fn object(&mut self, cursor: &mut Cursor<'_>, at: u64, id: u64, body: Body) -> Result<(), Error>;
}

/// Reads all records, from the header to the end of the file. If that is cut off within a heap dump,
/// or before its end mark, the records before that are read; damaged records of a heap dump are
/// skipped. A later pass is given the `bounds` of the first.
pub(super) fn records(cursor: &mut Cursor<'_>, pass: &mut dyn Pass, bounds: Option<&Bounds>) -> Result<Extent, Error> {
    let mut reader = Records {
        mends: bounds.is_none(),
        extent: Extent {
            bounds: bounds.cloned().unwrap_or_default(),
            ..Extent::default()
        },
        damage: None,
        sound_before: 0,
        open: false,
        wanted: true,
        whole: cursor.offset(),
    };
    match reader.all(cursor, pass) {
        Ok(()) => {}
        Err(error) if reader.extent.dumps > 0 && is_cut_off(&error) => reader.extent.bounds.cut = Some(reader.whole),
        Err(error) => return Err(error),
    }
    if let Some(damage) = &reader.damage {
        let gaps = &reader.extent.bounds.gaps[reader.sound_before..];
        let bytes: u64 = gaps.iter().map(|(from, to)| to - from).sum();
        let places = match gaps.len() {
            1 => String::new(),
            places => format!(" in {places} places"),
        };
        reader.extent.faults.push(format!(
            "byte {}: {}; {bytes} bytes were skipped{places}, up to the next sound record",
            damage.offset(),
            damage.problem()
        ));
    }
    let Records {
        mut extent,
        open,
        wanted,
        ..
    } = reader;
    if extent.dumps == 0 {
        let at = cursor.offset();
        return Err(cursor.error_at(at, "no heap dump in this file, only other records".to_owned()));
    }
    match extent.bounds.cut {
        // The faults of another heap dump do not matter.
        _ if !wanted => {}
        Some(whole) => extent
            .faults
            .push(format!("cut off after byte {whole}: later objects are missing")),
        None if open => extent
            .faults
            .push("the end mark of the heap dump is missing".to_owned()),
        None => {}
    }
    Ok(extent)
}

/// Whether a file ends too early.
fn is_cut_off(error: &Error) -> bool {
    match error.problem() {
        Problem::Truncated(_) => true,
        Problem::Gzip(error) => error.kind() == std::io::ErrorKind::UnexpectedEof,
        _ => false,
    }
}

struct Records {
    /// Whether damage is to be found: this is the first pass.
    mends: bool,
    extent: Extent,
    /// The first damage found in the wanted heap dump, and the number of gaps before it.
    damage: Option<Error>,
    sound_before: usize,
    /// Whether a heap dump has begun without an end mark yet.
    open: bool,
    /// Whether the pass wants the records of this heap dump.
    wanted: bool,
    /// The first byte after the last complete record.
    whole: u64,
}

impl Records {
    /// Reading ends at a record that begins here.
    fn until(&self) -> u64 {
        self.extent.bounds.cut.unwrap_or(u64::MAX)
    }

    fn all(&mut self, cursor: &mut Cursor<'_>, pass: &mut dyn Pass) -> Result<(), Error> {
        while cursor.offset() < self.until()
            && let Some(next) = cursor.peek()?
        {
            self.whole = cursor.offset();
            if let Some(to) = self.extent.bounds.after_gap(self.whole) {
                cursor.skip(to - self.whole, "damaged records")?;
                continue;
            }
            if self.extent.dumps > 0 && (next == MAGIC[0] || next == 0 && !self.open) {
                let whole = self.whole;
                self.extent.faults.push(match next {
                    0 => format!("the bytes from {whole} on are not records"),
                    _ => format!("a second file begins at byte {whole}: only the first is shown"),
                });
                return Ok(());
            }
            let tag = cursor.u1("a record")?;
            cursor.skip(4, "the time of a record")?;
            let length = u64::from(cursor.u4("the length of a record")?);
            if let Err(error) = self.record(cursor, pass, tag, length) {
                self.mend(cursor, pass, error)?;
            }
        }
        self.whole = cursor.offset();
        Ok(())
    }

    fn record(&mut self, cursor: &mut Cursor<'_>, pass: &mut dyn Pass, tag: u8, length: u64) -> Result<(), Error> {
        let end = cursor.offset() + length;
        match tag {
            UTF8 => {
                let at = cursor.offset();
                let id = cursor.id("the id of a name")?;
                let bytes = length.checked_sub(u64::from(cursor.id_bytes));
                let bytes = bytes.filter(|bytes| *bytes <= LONGEST_NAME).ok_or_else(|| {
                    cursor.error_at(at, format!("a name in a record of {length} bytes, too few or too many"))
                })?;
                pass.name(cursor, id, bytes)?;
            }
            LOAD_CLASS => {
                let number = cursor.u4("the number of a class")?;
                let class = cursor.id("the id of a class")?;
                cursor.skip(4, "the stack of a class")?;
                let name = cursor.id("the name of a class")?;
                let kept = pass.loaded(number, class, name);
                kept.map_err(|problem| cursor.problem(problem))?;
            }
            // No figure depends on frames and stacks, so a file is not refused if some are too
            // short.
            STACK_FRAME if length >= 4 * u64::from(cursor.id_bytes) + 8 => {
                let id = cursor.id("the id of a frame")?;
                let method = cursor.id("the method of a frame")?;
                cursor.id("the signature of a frame's method")?;
                let frame = Frame {
                    method,
                    file: cursor.id("the file of a frame")?,
                    class: cursor.u4("the class of a frame")?,
                    line: cursor.u4("the line of a frame")?.cast_signed(),
                };
                pass.frame(id, frame).map_err(|problem| cursor.problem(problem))?;
                cursor.skip(end - cursor.offset(), "the rest of a frame")?;
            }
            STACK_TRACE if length >= 12 => {
                let number = cursor.u4("the number of a stack")?;
                cursor.skip(4, "the thread of a stack")?;
                let mut frames = Vec::new();
                let count = u64::from(cursor.u4("the number of a stack's frames")?);
                for _ in 0..count.min((length - 12) / u64::from(cursor.id_bytes)) {
                    let frame = cursor.id("a frame of a stack")?;
                    push(&mut frames, frame).map_err(|problem| cursor.problem(problem))?;
                }
                let kept = pass.stack(number, frames);
                kept.map_err(|problem| cursor.problem(problem))?;
                cursor.skip(end - cursor.offset(), "the rest of a stack")?;
            }
            HEAP_DUMP | HEAP_DUMP_SEGMENT => {
                // Segments up to an end mark are one heap dump.
                if tag == HEAP_DUMP || !self.open {
                    self.extent.dumps += 1;
                    self.wanted = pass.begins(self.extent.dumps);
                    if self.wanted && self.extent.dumps > 1 {
                        self.damage = None;
                        self.sound_before = self.extent.bounds.gaps.len();
                    }
                }
                self.open = tag == HEAP_DUMP_SEGMENT;
                return self.part(cursor, pass, tag, length);
            }
            HEAP_DUMP_END => {
                self.open = false;
                return Ok(());
            }
            _ if self.extent.dumps == 0 && !OTHERS.contains(&tag) => {
                return Err(cursor.error_at(self.whole, format!("record 0x{tag:02x}, which heap dumps do not have")));
            }
            _ => cursor.skip(length, "the rest of a record")?,
        }
        ends_at(cursor, tag, end)
    }

    /// A part of a heap dump. If its length is given as 0, or its records are damaged, they run up to
    /// the next part, or to the end mark.
    fn part(&mut self, cursor: &mut Cursor<'_>, pass: &mut dyn Pass, tag: u8, length: u64) -> Result<(), Error> {
        let start = cursor.offset();
        let mut end = (length > 0).then(|| start + length);
        let is_whole = |end: &u64| {
            let mut gaps = self.extent.bounds.gaps.iter();
            !gaps.any(|(from, _)| (start..*end).contains(from))
        };
        if !self.wanted && end.as_ref().is_some_and(is_whole) {
            return cursor.skip(length, "the rest of a heap dump");
        }
        while cursor.offset() < self.until() {
            let at = cursor.offset();
            if let Some(to) = self.extent.bounds.after_gap(at) {
                cursor.skip(to - at, "damaged records")?;
                end = None;
                continue;
            }
            match (end, cursor.peek()?) {
                (Some(end), _) if at >= end => return ends_at(cursor, tag, end),
                (None, None | Some(HEAP_DUMP | HEAP_DUMP_SEGMENT | HEAP_DUMP_END)) => break,
                _ => {}
            }
            self.whole = at;
            // Even an unwanted part without a length can only be skipped record by record.
            let read = entry(cursor, if self.wanted { Some(&mut *pass) } else { None }, end);
            if let Err(error) = read {
                self.mend(cursor, pass, error)?;
                end = None;
            }
        }
        if length == 0 && cursor.offset() > start {
            self.extent.faults.push(format!(
                "the part of the heap dump at byte {start} claims to be empty; its records were read anyway"
            ));
        }
        Ok(())
    }

    /// Goes on at the next sound record after a damaged one.
    ///
    /// # Errors
    /// The damage, if there is no sound record after it.
    #[cold]
    fn mend(&mut self, cursor: &mut Cursor<'_>, pass: &dyn Pass, error: Error) -> Result<(), Error> {
        if !self.mends || !matches!(error.problem(), Problem::Dump(_)) || self.extent.bounds.gaps.len() == MOST_GAPS {
            return Err(error);
        }
        let id_bytes = cursor.id_bytes as usize;
        loop {
            let bytes = cursor.head(LOOKED_AT)?;
            if bytes.is_empty() {
                return Err(error);
            }
            if are_sound(bytes, id_bytes) || is_sound(bytes, id_bytes, |class| pass.knows(class)) {
                self.extent.bounds.gaps.push((self.whole, cursor.offset()));
                if self.wanted {
                    self.damage.get_or_insert(error);
                }
                return Ok(());
            }
            cursor.skip(1, "damaged records")?;
        }
    }
}

/// The most places with damage that are skipped.
const MOST_GAPS: usize = 1000;

/// The bytes, and the records, that are looked at to tell whether records are sound.
const LOOKED_AT: usize = 32 << 10;
const LONGEST_LOOK: usize = 16;

/// The number of some bytes at a place.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + width)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Whether some bytes begin with three records outside of a heap dump, of the lengths that they can
/// have.
fn are_sound(bytes: &[u8], id_bytes: usize) -> bool {
    let id = id_bytes as u64;
    let mut at = 0;
    for _ in 0..3 {
        let (Some(tag), Some(length)) = (bytes.get(at), number(bytes, at + 5, 4)) else {
            return false;
        };
        let is_right = match *tag {
            UTF8 => (id..id + LONGEST_NAME).contains(&length),
            LOAD_CLASS => length == 8 + 2 * id,
            STACK_FRAME => length == 8 + 4 * id,
            STACK_TRACE => length >= 12 && (length - 12) % id == 0,
            HEAP_DUMP | HEAP_DUMP_SEGMENT => return at > 0,
            _ => false,
        };
        if !is_right {
            return false;
        }
        at = at.saturating_add(9).saturating_add(length as usize);
    }
    true
}

/// Whether some bytes, [`LOOKED_AT`] of them or all that are left, begin with records of a heap dump:
/// they fit each other, and the classes they name are known. The records before damage never lead
/// to such a place by chance.
fn is_sound(bytes: &[u8], id_bytes: usize, knows: impl Fn(u64) -> bool) -> bool {
    let number = |at, width| number(bytes, at, width);
    // A record with a class that is known weighs two, an array of a known type one.
    let (mut at, mut weight) = (0, 0);
    for _ in 0..LONGEST_LOOK {
        let Some(tag) = bytes.get(at) else { return weight > 2 };
        let root = ROOTS.iter().find(|root| root.0 == *tag);
        let id = at + 1;
        let stack = id + id_bytes;
        let known = |at| number(at, id_bytes).is_some_and(&knows);
        let length = match *tag {
            _ if root.is_some() => root.map(|root| 1 + id_bytes + root.2 as usize + root.3 as usize * id_bytes),
            HEAP_DUMP | HEAP_DUMP_SEGMENT => Some(9),
            HEAP_DUMP_END => return number(at + 5, 4) == Some(0) && (weight > 2 || at + 9 == bytes.len()),
            CLASS_DUMP if known(id) && known(stack + 4) => return true,
            INSTANCE_DUMP if known(stack + 4) => {
                weight += 2;
                number(stack + 4 + id_bytes, 4).map(|bytes| 9 + 2 * id_bytes + bytes as usize)
            }
            OBJECT_ARRAY_DUMP if known(stack + 8) => {
                weight += 2;
                number(stack + 4, 4).map(|count| 9 + 2 * id_bytes + count as usize * id_bytes)
            }
            PRIMITIVE_ARRAY_DUMP => number(stack + 8, 1).and_then(|of| Basic::of(of as u8)).and_then(|of| {
                weight += 1;
                let bytes = number(stack + 4, 4)? as usize * of.bytes(id_bytes as u32) as usize;
                Some(10 + id_bytes + bytes)
            }),
            _ => None,
        };
        let Some(length) = length else { return false };
        at = at.saturating_add(length);
    }
    weight > 2
}

/// Checks that a record ends at byte `end`.
fn ends_at(cursor: &Cursor<'_>, tag: u8, end: u64) -> Result<(), Error> {
    let at = cursor.offset();
    if at == end {
        return Ok(());
    }
    let problem = format!("record 0x{tag:02x} should end at byte {end}, but its contents end here");
    Err(cursor.error_at(at, problem))
}

/// Reads one record within a part of a heap dump, which ends at byte `end`, if that is known, and
/// skips it without a pass.
fn entry(cursor: &mut Cursor<'_>, pass: Option<&mut dyn Pass>, end: Option<u64>) -> Result<(), Error> {
    let at = cursor.offset();
    let tag = cursor.u1("a record of the heap dump")?;
    if !OBJECTS.contains(&tag) {
        return no_object(cursor, pass, at, tag);
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
            let there = tag != PRIMITIVE_ARRAY_NO_DATA;
            Body::Values { of, count, there }
        }
    };
    let last = cursor.offset() + body.bytes(cursor.id_bytes);
    if let Some(end) = end.filter(|end| last > *end) {
        let problem = format!("the object here ends at byte {last}, after its part of the heap dump, at byte {end}");
        return Err(cursor.error_at(at, problem));
    }
    match pass {
        Some(pass) => pass.object(cursor, at, id, body),
        None => cursor.skip(body.bytes(cursor.id_bytes), "the rest of an object"),
    }
}

/// Reads the rest of a record that is not of an object.
fn no_object(cursor: &mut Cursor<'_>, pass: Option<&mut dyn Pass>, at: u64, tag: u8) -> Result<(), Error> {
    let root = ROOTS.iter().position(|root| root.0 == tag);
    let root = root.map(|kind| (kind, ROOTS[kind].2, ROOTS[kind].3));
    let android = ANDROID_ROOTS.iter().find(|root| root.0 == tag);
    if let Some((kind, bytes, ids)) = root.or(android.map(|(_, bytes)| (0, *bytes, 0))) {
        const REST: &str = "the rest of a root";
        let id = cursor.id("the id of a root")?;
        let thread = if bytes > 0 { cursor.u4(REST)? } else { 0 };
        let place = if bytes > 4 { cursor.u4(REST)? } else { 0 };
        cursor.skip(ids * u64::from(cursor.id_bytes), REST)?;
        let kept = pass.map_or(Ok(()), |pass| pass.root(kind, Root { id, thread, place }));
        return kept.map_err(|problem| cursor.problem(problem));
    }
    if tag == CLASS_DUMP {
        let class = Class::read(cursor)?;
        return pass.map_or(Ok(()), |pass| pass.class(cursor, at, class));
    }
    match tag {
        UNREACHABLE => cursor.id("the id of an object").map(|_| ()),
        HEAP_DUMP_INFO => {
            cursor.skip(4, "the number of a part of the heap")?;
            cursor.id("the name of a part of the heap").map(|_| ())
        }
        _ => {
            let known = "expected a root, a class (0x20), an object (0x21) or an array (0x22, 0x23)";
            Err(cursor.error_at(at, format!("record 0x{tag:02x} in the heap dump, {known}")))
        }
    }
}
