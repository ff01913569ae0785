//! What to read from a file.

/// The columns to keep. Types, self sizes and targets are always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// V8's ids of nodes (8 bytes a node).
    pub ids: bool,
    /// Names of nodes and edges as indices of strings (4 bytes each).
    pub names: bool,
    /// The texts of the strings.
    pub strings: bool,
    /// Whether a snapshot's WeakMaps and names are interpreted for an analysis, which needs all
    /// columns: the value of a WeakMap's pair belongs to its key only, closures are named with
    /// their place in the program, plain objects by their properties, and detached nodes of a
    /// document are marked. Likewise for a JVM's WeakHashMaps; its soft references, and those for
    /// finalisation, become weak if something else keeps the target; threads, class loaders and
    /// strings get their texts.
    pub interpret: bool,
    /// Limit on the bytes read, unpacked. A longer file is refused.
    pub limit: u64,
    /// In a file with several heap dumps of a JVM: the number of the one to read, from 1; `None`
    /// for the last one.
    pub dump: Option<u32>,
}

impl Options {
    /// Everything that this crate can keep, as in the file.
    pub const fn all() -> Self {
        Options {
            ids: true,
            names: true,
            strings: true,
            interpret: false,
            limit: u64::MAX,
            dump: None,
        }
    }

    /// Only the graph and its sizes.
    pub const fn shape() -> Self {
        Options {
            ids: false,
            names: false,
            strings: false,
            interpret: false,
            limit: u64::MAX,
            dump: None,
        }
    }
}
