//! The words of free memory: headers of free blocks, and their links.
//!
//! This is the only code that reads and writes free memory. Free lists are plain code over it.
//!
//! | words of the block | header | behind it |
//! |---|---|---|
//! | 1, a *fragment* | its size | nothing: a fragment is in no list |
//! | 2 | the link to the previous block | the link to the next one |
//! | 3 and more | its size | links: next, previous; from 4 words on left, from 5 on right |
//!
//! The lowest bits of a header tell a free block from a closure, whose header is odd, and from a
//! forwarding address, which is a multiple of 8. Each block has a byte for notes of its free list.

use crate::block::{BlockRun, LARGE_OBJECT, poison};
use crate::words::{Addr, Words};

/// Free memory that is not a fragment. It is a name: the block may be in use by now, and its
/// [`FreeMemory`] panics when it is asked for such a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FreeBlock(Addr);

impl FreeBlock {
    /// The address of its header.
    #[inline(always)]
    pub fn at(self) -> Addr {
        self.0
    }
}

/// A link from a free block to another one of its free list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// Of all blocks.
    Next = 1,
    /// Of all blocks.
    Previous = 2,
    /// Of blocks of 4 words and more.
    Left = 3,
    /// Of blocks of 5 words and more.
    Right = 4,
}

/// The words of the largest block that has no room for some link.
const MOST_LINKS: usize = Link::Right as usize + 1;

/// The part of a block that is left when its last words were taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Nothing.
    None,
    /// One word, which is in no list until a sweep joins it with its neighbours.
    Fragment,
    /// The same block, which is smaller now. Its links next and previous are as they were.
    Block,
}

/// The header of a free block.
#[derive(Clone, Copy)]
struct Head(u64);

/// The lowest byte of a header, and of the header of a block of two words.
const SIZED: u64 = 0xe2;
const PAIR: u64 = 0xe6;
/// The bits of the lowest byte that all headers have in common.
const IN_COMMON: u64 = 0xfb;
/// The place of the free list's notes, and of the size or the link above it.
const NOTE_SHIFT: u32 = 8;
const VALUE_SHIFT: u32 = 16;

impl Head {
    /// The header of `words` words, with a link to no block.
    fn new(words: Words) -> Head {
        match words {
            Words(2) => Head(PAIR),
            _ => Head(SIZED | (words.0 as u64) << VALUE_SHIFT),
        }
    }

    #[inline(always)]
    fn is_free(self) -> bool {
        self.0 & IN_COMMON == SIZED & IN_COMMON
    }

    #[inline(always)]
    fn is_pair(self) -> bool {
        self.0 & 0xff == PAIR
    }

    #[inline(always)]
    fn words(self) -> Words {
        if self.is_pair() {
            Words(2)
        } else {
            Words((self.0 >> VALUE_SHIFT) as usize)
        }
    }
}

/// The free memory of a space: blocks of any size in *chunks*, which are block runs.
#[derive(Debug, Default)]
pub struct FreeMemory {
    /// By address.
    pub(super) chunks: Vec<BlockRun>,
    /// Words of all chunks.
    held: Words,
    /// Words of free blocks.
    free: Words,
    fragments: Words,
    /// The sum of [`room_in`] over all free blocks.
    room: Words,
}

/// The words of small closures that a free block of `words` words is sure to have room for: while
/// it has more words left than the largest of them, each one fits.
fn room_in(words: Words) -> Words {
    words.saturating_sub(LARGE_OBJECT)
}

impl FreeMemory {
    /// Adds a chunk, all of which is free.
    ///
    /// # Panics
    /// If it is a chunk already.
    pub fn add(&mut self, run: BlockRun) -> FreeBlock {
        self.insert(run);
        // SAFETY: the run is the space's, and holds nothing yet.
        let block = unsafe { self.release(run.start(), run.bytes().to_words_up()) };
        block.expect("a run has more than a word")
    }

    /// Notes that `run` is a chunk.
    ///
    /// # Panics
    /// If it is a chunk already.
    pub(super) fn insert(&mut self, run: BlockRun) {
        let place = self.chunks.partition_point(|chunk| chunk.start() < run.start());
        let behind = self.chunks.get(place).is_none_or(|chunk| run.end() <= chunk.start());
        let before = place
            .checked_sub(1)
            .is_none_or(|place| self.chunks[place].end() <= run.start());
        assert!(behind && before, "{run:?} is a chunk already");
        self.chunks.insert(place, run);
        self.held += run.bytes().to_words_up();
    }

    /// Removes the chunk that `block` fills. The block is no longer in a list.
    ///
    /// # Panics
    /// If it does not fill a chunk.
    pub(super) fn remove(&mut self, block: FreeBlock) -> BlockRun {
        let place = self.chunks.partition_point(|chunk| chunk.start() < block.0);
        let run = self.chunks.remove(place);
        let words = self.absorb(block);
        assert!(
            run.start() == block.0 && run.bytes() == words.to_bytes(),
            "{block:?} is not all of {run:?}"
        );
        self.held -= words;
        run
    }

    /// The block that fills `chunk`, if one does.
    pub(super) fn filling(&self, chunk: BlockRun) -> Option<FreeBlock> {
        // SAFETY: something starts where a chunk does.
        let (block, words) = unsafe { self.free_at(chunk.start()) }?;
        (words.to_bytes() == chunk.bytes()).then_some(block)
    }

    /// The chunks, by address.
    pub fn chunks(&self) -> &[BlockRun] {
        &self.chunks
    }

    /// Words of all chunks: live closures, dead ones that no sweep has come to, free blocks and
    /// fragments.
    pub fn held(&self) -> Words {
        self.held
    }

    /// Words of free blocks.
    pub fn free(&self) -> Words {
        self.free
    }

    /// Free words that are in no list: blocks of one word.
    pub fn fragments(&self) -> Words {
        self.fragments
    }

    /// Words of closures that find room in any case, whichever blocks a list chooses, if none of
    /// them is a large object.
    pub fn room(&self) -> Words {
        self.room
    }

    /// Words that are not free.
    pub fn in_use(&self) -> Words {
        self.held - self.free - self.fragments
    }

    /// Frees `words` words that were taken, from `at` on. Their neighbours remain separate blocks.
    /// Returns the block, or `None` if the word is a fragment.
    ///
    /// # Panics
    /// If they are not words of one chunk.
    pub fn put(&mut self, at: Addr, words: Words) -> Option<FreeBlock> {
        let chunk = self
            .chunk_of(at)
            .filter(|chunk| words <= (chunk.end() - at).to_words_up());
        assert!(chunk.is_some() && words.0 > 0, "{words:?} at {at} are in no chunk");
        // SAFETY: words of a chunk that were handed out and that their user returns.
        unsafe { self.release(at, words) }
    }

    /// The chunk that contains `at`.
    pub fn chunk_of(&self, at: Addr) -> Option<BlockRun> {
        let place = self.chunks.partition_point(|chunk| chunk.end() <= at);
        self.chunks.get(place).copied().filter(|chunk| chunk.contains(at))
    }

    /// Makes a free block of words that are in use.
    ///
    /// # Safety
    /// They are words of a chunk, and hold no closure that anything reads.
    pub(super) unsafe fn release(&mut self, at: Addr, words: Words) -> Option<FreeBlock> {
        let linked = words.0.min(MOST_LINKS);
        // SAFETY: the caller vouches for the words.
        unsafe {
            poison::lend(at, Words(linked).to_bytes());
            let start = at.as_mut_ptr::<u64>();
            start.write(Head::new(words).0);
            start.add(1).write_bytes(0, linked - 1);
            poison::retire(at + Words(linked), (words - Words(linked)).to_bytes());
        }
        if words == Words(1) {
            self.fragments += words;
            return None;
        }
        self.free += words;
        self.room += room_in(words);
        Some(FreeBlock(at))
    }

    /// The words of a free block.
    #[inline(always)]
    pub fn words(&self, block: FreeBlock) -> Words {
        self.head(block).words()
    }

    /// The block that `link` of `block` leads to: the last one that was set there.
    #[inline(always)]
    pub fn link(&self, block: FreeBlock, link: Link) -> Option<FreeBlock> {
        let head = self.head(block);
        let to = if head.is_pair() && link == Link::Previous {
            head.0 >> VALUE_SHIFT << 3
        } else {
            assert!((link as usize) < head.words().0, "{block:?} has no such link");
            // SAFETY: a word of a free block. `release` cleared it, and then `set_link` wrote it.
            unsafe { block.0.as_ptr::<u64>().add(link as usize).read() }
        };
        (to != 0).then_some(FreeBlock(Addr(to as usize)))
    }

    /// Sets a link of a block.
    #[inline(always)]
    pub fn set_link(&mut self, block: FreeBlock, link: Link, to: Option<FreeBlock>) {
        let head = self.head(block);
        let to = to.map_or(0, |to| to.0.0 as u64);
        if head.is_pair() && link == Link::Previous {
            let low = head.0 & ((1 << VALUE_SHIFT) - 1);
            self.set_head(block, Head(low | to >> 3 << VALUE_SHIFT));
            return;
        }
        assert!((link as usize) < head.words().0, "{block:?} has no such link");
        // SAFETY: a word of a free block.
        unsafe { block.0.as_mut_ptr::<u64>().add(link as usize).write(to) };
    }

    /// The free list's note on a block. It is 0 at first.
    #[inline(always)]
    pub fn note(&self, block: FreeBlock) -> u8 {
        (self.head(block).0 >> NOTE_SHIFT) as u8
    }

    /// Sets the free list's note on a block.
    #[inline(always)]
    pub fn set_note(&mut self, block: FreeBlock, note: u8) {
        let rest = self.head(block).0 & !(0xff << NOTE_SHIFT);
        self.set_head(block, Head(rest | u64::from(note) << NOTE_SHIFT));
    }

    /// Takes the last `words` words of a block. If [`Rest::Block`] is left, it keeps its place;
    /// else the block is no longer in a list.
    ///
    /// # Panics
    /// If it has fewer words.
    #[inline]
    pub fn take(&mut self, block: FreeBlock, words: Words) -> (Addr, Rest) {
        let had = self.words(block);
        assert!(words.0 > 0 && words <= had, "{block:?} has {had:?}, not {words:?}");
        let left = had - words;
        let at = block.0 + left;
        let rest = match left {
            Words(0) => Rest::None,
            Words(1) => {
                self.set_head(block, Head::new(left));
                self.fragments += left;
                Rest::Fragment
            }
            _ => {
                self.shrink(block, left);
                Rest::Block
            }
        };
        self.free -= if rest == Rest::Fragment { had } else { words };
        self.room -= room_in(had) - room_in(left);
        // SAFETY: they are words of a chunk, and whoever asked for them has them now.
        unsafe { poison::lend(at, words.to_bytes()) };
        (at, rest)
    }

    /// Takes all words of a block, which is no longer in a list.
    pub fn take_all(&mut self, block: FreeBlock) -> (Addr, Words) {
        let words = self.absorb(block);
        // SAFETY: as in `take`.
        unsafe { poison::lend(block.0, words.to_bytes()) };
        (block.0, words)
    }

    /// Gives a block the size `left`, two words or more.
    #[inline(always)]
    fn shrink(&mut self, block: FreeBlock, left: Words) {
        let previous = self.link(block, Link::Previous);
        let note = self.note(block);
        self.set_head(block, Head::new(left));
        self.set_note(block, note);
        if left == Words(2) {
            self.set_link(block, Link::Previous, previous);
        }
    }

    /// Notes that the words of a block are about to be a part of another one.
    pub(super) fn absorb(&mut self, block: FreeBlock) -> Words {
        let words = self.words(block);
        self.free -= words;
        self.room -= room_in(words);
        words
    }

    /// As [`FreeMemory::absorb`], of a fragment.
    pub(super) fn absorb_fragment(&mut self) -> Words {
        self.fragments -= Words(1);
        Words(1)
    }

    /// The free block or the fragment at `at`, with its words; `None` if a closure starts there.
    ///
    /// # Safety
    /// One of the three starts there.
    #[inline(always)]
    pub(super) unsafe fn free_at(&self, at: Addr) -> Option<(FreeBlock, Words)> {
        // SAFETY: the caller's promise: each has a header.
        let head = Head(unsafe { at.as_ptr::<u64>().read() });
        head.is_free().then(|| (FreeBlock(at), head.words()))
    }

    /// The header of a block.
    ///
    /// # Panics
    /// If it is in use.
    #[inline(always)]
    fn head(&self, block: FreeBlock) -> Head {
        // SAFETY: the name of a block comes from `release`, directly or by a link. So a word of a
        // chunk is there, and nothing writes free memory except this code. (Whether a name is still
        // that of a free block is part of the collector's promise; this check finds most others.)
        let head = Head(unsafe { block.0.as_ptr::<u64>().read() });
        assert!(head.is_free(), "{block:?} is in use");
        head
    }

    #[inline(always)]
    fn set_head(&mut self, block: FreeBlock, head: Head) {
        // SAFETY: the word of a header, which `head` has read.
        unsafe { block.0.as_mut_ptr::<u64>().write(head.0) };
    }
}
