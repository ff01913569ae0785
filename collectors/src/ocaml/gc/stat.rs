//! The counters of the memory manager: OCaml's `Gc.stat`.

use std::fmt;
use std::io::{self, Write};

/// The counters of the memory manager, in words. The total that a program has allocated is
/// `minor_words + major_words - promoted_words`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    /// Words allocated in the minor heap since the program was started.
    pub minor_words: f64,
    /// Words of these that survived a minor collection.
    pub promoted_words: f64,
    /// Words allocated in the major heap, with the promoted words.
    pub major_words: f64,
    /// Number of minor collections.
    pub minor_collections: u64,
    /// Number of cycles of the major heap that have ended.
    pub major_collections: u64,
    /// Size of the major heap.
    pub heap_words: u64,
    /// Number of contiguous pieces of memory that make up the major heap.
    pub heap_chunks: u64,
    /// Words of live closures in the major heap, headers included: those that are not known to be
    /// dead.
    pub live_words: u64,
    /// Number of live closures in the major heap.
    pub live_blocks: u64,
    /// Words in the free list.
    pub free_words: u64,
    /// Number of blocks in the free list.
    pub free_blocks: u64,
    /// Words of the largest block in the free list.
    pub largest_free: u64,
    /// Words lost to fragmentation: free words in no list.
    pub fragments: u64,
    /// Number of compactions.
    pub compactions: u64,
    /// Largest size that the major heap has had.
    pub top_heap_words: u64,
    /// Words of the frames of all threads.
    pub stack_size: u64,
    /// Number of whole cycles that the program asked for, and of those before an automatic
    /// compaction.
    pub forced_major_collections: u64,
}

impl fmt::Display for Stat {
    /// The text of OCaml's `Gc.print_stat`, to the letter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "minor_collections:      {}", self.minor_collections)?;
        writeln!(f, "major_collections:      {}", self.major_collections)?;
        writeln!(f, "compactions:            {}", self.compactions)?;
        writeln!(f, "forced_major_collections: {}", self.forced_major_collections)?;
        writeln!(f)?;
        let width = format!("{:.0}", self.minor_words).len();
        writeln!(f, "minor_words:    {:width$.0}", self.minor_words)?;
        writeln!(f, "promoted_words: {:width$.0}", self.promoted_words)?;
        writeln!(f, "major_words:    {:width$.0}", self.major_words)?;
        writeln!(f)?;
        let width = self.top_heap_words.to_string().len();
        writeln!(f, "top_heap_words: {:width$}", self.top_heap_words)?;
        writeln!(f, "heap_words:     {:width$}", self.heap_words)?;
        writeln!(f, "live_words:     {:width$}", self.live_words)?;
        writeln!(f, "free_words:     {:width$}", self.free_words)?;
        writeln!(f, "largest_free:   {:width$}", self.largest_free)?;
        writeln!(f, "fragments:      {:width$}", self.fragments)?;
        writeln!(f)?;
        writeln!(f, "live_blocks: {}", self.live_blocks)?;
        writeln!(f, "free_blocks: {}", self.free_blocks)?;
        writeln!(f, "heap_chunks: {}", self.heap_chunks)
    }
}

impl Stat {
    /// Writes the text of OCaml's `Gc.print_stat`.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{self}")
    }
}
