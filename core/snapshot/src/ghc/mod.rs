//! Core files of GHC programs as snapshots: written by `gcore PID` for a running Haskell program,
//! or by the system for one that crashed. The program need not be rebuilt, but needs its symbols.
//!
//! **Nodes and edges.** A node is a closure of the heap that is reachable from a root, or a CAF,
//! which takes no bytes itself. Its id is its address. Its name is its constructor, or the function
//! whose code it has; local code, which has no symbol, is named by the enclosing function and its
//! address. Other closures are named by closure type, as in `+RTS -hT`. Indirections are removed,
//! as in a collection. Closures outside the heap are read for the CAFs that they lead to.
//! References from a stack are named by the code of their frames.
//!
//! **Roots** are those of a collection: threads, stable pointers, CAFs referenced by live code
//! (SRTs), and weak pointers, whose values are held by their keys.
//!
//! **Files.** `image.rs` is the process's memory; `closures.rs` knows each type of closure; `trace.rs`
//! follows pointers; `blocks.rs` sums up the memory. The layout is GHC 9.0's, on x86-64.
//!
//! **Damage.** A pointer that leads nowhere is an error that names the address.
//!
//! **Memory**: the core, and a snapshot's columns, plus 6 to 12 bytes a closure to look it up.

mod blocks;
mod closures;
mod image;
mod names;
mod trace;

use std::io::Read;

use crate::error::{Error, Problem};
use crate::input::Input;
use crate::memory::extend;
use crate::options::Options;
use crate::snapshot::Snapshot;
use image::Image;
use trace::trace;

/// The first bytes of a core file, as of every ELF file.
pub(crate) const MAGIC: &[u8] = b"\x7fELF";

/// The versions whose layout is known.
const KNOWN: &str = "9.0.";

impl Snapshot {
    /// Reads the heap of a GHC program from its core file, and from `program`, the contents of its
    /// executable. Every column is kept. Errors name the file `name`.
    ///
    /// # Errors
    /// If a file is damaged, they do not belong together, or another version of GHC made the
    /// program.
    pub fn read_core(core: impl Read, program: &[u8], name: &str, options: Options) -> Result<Self, Error> {
        let (mut input, mut bytes) = (Input::new(Box::new(core), name, options.limit, None)?, Vec::new());
        loop {
            let piece = input.rest()?;
            if piece.is_empty() {
                break;
            }
            let (taken, kept) = (piece.len(), extend(&mut bytes, piece));
            kept.map_err(|problem| input.error(problem))?;
            input.take(taken);
        }
        let mut snapshot = read(&bytes, program).map_err(|problem| Error::new(name, false, 0, problem))?;
        snapshot.bytes = bytes.len() as u64;
        Ok(snapshot)
    }
}

fn read(core: &[u8], program: &[u8]) -> Result<Snapshot, Problem> {
    let image = Image::new(core, program)?;
    match image.version.as_str() {
        version if version.starts_with(KNOWN) => trace(&image),
        "" => Err(Problem::Core(
            "the program of `--exe` was not compiled by GHC".to_owned(),
        )),
        version => Err(Problem::Core(format!(
            "the program of `--exe` was compiled by GHC {version}, but only heaps of GHC {KNOWN}x can be read"
        ))),
    }
}
