//! JVM heap dumps (`.hprof`, as HotSpot's `jcmd PID GC.heap_dump` and OpenJ9 write them) as
//! snapshots.
//!
//! **Nodes and edges.** Objects and classes are nodes in the order of the file. Before them come
//! the root and a node for each kind of GC root in the dump (`(Java frames)`, `(Threads)` ...). A
//! node's id is the object's address, its name is the class's in Java source (`byte[]`), and its
//! type one of `NODE_TYPES`. Edges are fields, elements and static fields, and other references
//! that the JVM follows: an object's class, a class's superclass and loader, and the objects in the
//! frames of a thread. The field `referent` of a weak or phantom reference is `weak`, that of a soft
//! one `soft`, and `final` if it is for finalisation; what those keep, and who keeps the values of
//! a WeakHashMap, is decided with [`Options::interpret`] (`strength.rs`). References to objects
//! outside the dump are left out.
//!
//! **Sizes.** A dump has no sizes of objects in memory: they follow from the fields (`layout.rs`).
//!
//! **How.** Classes may come after their objects, and references lead forwards, so the file is read
//! twice: first names, classes and ids (`gather.rs`), then sizes and edges (`link.rs`), whose
//! targets two threads find by their ids. For people it is read once more, for the texts of
//! some strings (`texts.rs`). The format is HotSpot's `heapDumper.cpp`, versions 1.0 to 1.0.2, and
//! Android's 1.0.3.
//!
//! **Damage.** A dump that is cut off, or lacks a class, is read as far as it goes, with a warning.
//! After damaged records reading goes on at the next place with sound ones (`record.rs`).
//! Of several heap dumps in one file one is read.
//!
//! **Memory**: as a snapshot's. During reading also up to 8 bytes an object to find it by its id,
//! and the names of the dump.

mod class;
mod cursor;
mod gather;
mod ids;
mod kinds;
mod layout;
mod link;
mod record;
mod strength;
mod texts;

use std::io::Read;

use crate::both::both;
use crate::error::{Error, Problem};
use crate::input::Input;
use crate::options::Options;
use crate::snapshot::Snapshot;
use cursor::Cursor;
use gather::At;
use texts::Texts;

pub(crate) use cursor::MAGIC;
pub(crate) use gather::Gathered;

impl Snapshot {
    /// Reads a JVM heap dump, plain or gzip, from two readers of the same bytes. Every column is
    /// kept. Errors name the file `name`.
    ///
    /// # Errors
    /// If the bytes cannot be read, are damaged, or are not a heap dump.
    pub fn read_hprof<R: Read>([first, second]: [R; 2], name: &str, options: Options) -> Result<Self, Error> {
        let gathered = first_pass(first, name, options)?;
        let mut snapshot = second_pass(second, name, options, gathered)?;
        snapshot
            .complete()
            .map_err(|problem| Error::new(name, false, 0, problem))?;
        Ok(snapshot)
    }
}

/// Collects the names, classes and ids of a dump.
pub(crate) fn first_pass(reader: impl Read, name: &str, options: Options) -> Result<Gathered, Error> {
    let cursor = Cursor::new(Input::new(Box::new(reader), name, options.limit, None)?)?;
    gather::gather(cursor, options.dump)
}

/// Reads the same bytes again.
pub(crate) fn second_pass(
    reader: impl Read,
    name: &str,
    options: Options,
    gathered: Gathered,
) -> Result<Snapshot, Error> {
    link::link(
        Cursor::new(Input::new(Box::new(reader), name, options.limit, None)?)?,
        gathered,
    )
}

/// Interprets a dump for people: decides what references keep, and reads the same bytes for the
/// texts of threads, class loaders and strings, if there are any.
pub(crate) fn third_pass(
    reader: impl Read,
    name: &str,
    options: Options,
    at: &At,
    snapshot: &mut Snapshot,
) -> Result<(), Error> {
    let failed = |problem| Error::new(name, false, 0, problem);
    let wanted = texts::wanted(snapshot).map_err(failed)?;
    let read = || match wanted[..] {
        [] => Ok(Texts::default()),
        _ => {
            let input = Input::new(Box::new(reader), name, options.limit, None)?;
            texts::read(Cursor::new(input)?, at, &wanted)
        }
    };
    let (texts, settled) = both(read, || strength::settle(snapshot)).map_err(|_| failed(Problem::OutOfMemory))?;
    let Texts { strings, labels } = texts?;
    settled
        .and_then(|()| snapshot.add_labels(&strings, labels))
        .map_err(failed)
}
