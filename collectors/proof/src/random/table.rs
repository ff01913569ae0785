//! The data that the threads of a random program share: an array, soon old, into which all of them
//! write at the same time.
//!
//! Each of its first cells belongs to a thread, which puts lists there. The others read and keep
//! them. The content of a list follows from its head, so a reader can check that it is intact
//! without knowing when it was written. The other cells hold tokens: each thread has one in hand,
//! and swaps it for another. At the end every token must be there exactly once, whatever the order
//! in which the threads ran.

use super::account::Account;
use super::difference::{agreed, differ};
use super::real::cast;
use super::shapes::{Cons, ConsFields, Int, IntFields, Shape, alloc};
use gclab_core::mutator::{Any, Gc, Handle, MutArray, Mutator, MutatorKind, NoGc};
use std::sync::Arc;
use std::thread::yield_now;

/// Number of cells with tokens.
const TOKENS: usize = 5;

/// An operation on data that threads share.
#[derive(Clone, Copy, Debug)]
pub enum Shared {
    /// Puts a list of `length` conses into the thread's own cell.
    Send {
        /// The number of conses.
        length: usize,
    },
    /// Checks the list in a thread's cell, and keeps it instead of the list kept before.
    Receive {
        /// Selects the thread.
        cell: usize,
    },
    /// Swaps the token in hand for the one in a cell.
    Swap {
        /// Selects the cell.
        cell: usize,
    },
    /// Stops if a collection is due.
    Safepoint,
    /// Makes a short blocking call.
    Blocking,
}

/// The table as one thread sees it.
pub(super) struct Table {
    array: Arc<Handle<MutArray<Any>>>,
    threads: usize,
    number: usize,
    /// The token in hand.
    hand: Handle<Any>,
    /// The content of the thread's own cell: the value of the list's head.
    sent: Option<u64>,
    sendings: u64,
    /// A list of any thread, and the value of its head.
    kept: Option<(Handle<Cons>, u64)>,
}

/// Checks that a list is intact: values count down to the number of its sending, and the head of
/// each cell is a token. Returns the number of the list's thread.
fn whole<'h, M: MutatorKind>(m: &NoGc<'h, M>, list: Gc<'_, 'h, Cons>) -> Result<usize, String> {
    let owner = list.value(m) >> 40;
    let mut cell = list;
    loop {
        let token = cell.head(m).ok_or("a shared list holds no token")?;
        cast::<Int>(token)?;
        let value = cell.value(m);
        match cell.tail(m) {
            None if value & 0xffff == 0 => return Ok(owner as usize),
            None => return Err(format!("a shared list ends at {value:#x}")),
            Some(tail) => cell = cast::<Cons>(tail)?,
        }
        if value & 0xffff == 0 || cell.value(m) != value - 1 {
            return Err(format!("in a shared list {:#x} follows {value:#x}", cell.value(m)));
        }
    }
}

impl Table {
    /// Makes the tables of `threads` threads. `account` has their words.
    pub(super) fn new<M: MutatorKind>(m: &mut Mutator<'_, M>, threads: usize, account: &Account) -> Vec<Table> {
        let cells = threads + TOKENS;
        m.frame(|m, [array, token]| {
            let array = array.put(m.alloc_array::<Any>(cells, |_| None));
            account.count(Shape::Array(cells as u32).words());
            let token = token.put_option(m, None);
            let shared = Arc::new(m.handle(array.get(m)));
            let tables = (0..cells).filter_map(|number| {
                let (view, hand) = m.with_view(|m| alloc(m, Shape::Int, number as u64, account, |_| [None; 3]));
                token.set(view, Some(hand));
                let hand = token.get(m).expect("just put there");
                if number >= threads {
                    array.get(m).set(m, number, Some(hand));
                    return None;
                }
                Some(Table {
                    array: Arc::clone(&shared),
                    threads,
                    number,
                    hand: m.handle(hand),
                    sent: None,
                    sendings: 0,
                    kept: None,
                })
            });
            tables.collect()
        })
    }

    /// Does an operation. `account` has the words that it allocates.
    pub(super) fn operation<M: MutatorKind>(&mut self, m: &mut Mutator<'_, M>, op: Shared, account: &Account) {
        self.check(m);
        match op {
            Shared::Send { length } => self.send(m, length, account),
            Shared::Receive { cell } => self.receive(m, cell % self.threads),
            Shared::Swap { cell } => self.swap(m, self.threads + cell % TOKENS),
            Shared::Safepoint => m.safepoint(),
            Shared::Blocking => m.blocking(yield_now),
        }
    }

    fn send<M: MutatorKind>(&mut self, m: &mut Mutator<'_, M>, length: usize, account: &Account) {
        self.sendings += 1;
        let first = (self.number as u64) << 40 | (self.sendings & 0xff_ffff) << 16;
        m.frame(|m, [list]| {
            let list = list.put_option(m, None);
            for value in first..first + length as u64 {
                let hand = &self.hand;
                let (m, cell) = m.with_view(|m| {
                    alloc(m, Shape::Cons, value, account, |m| {
                        [Some(hand.open(m)), list.get(m), None]
                    })
                });
                list.set(m, Some(cell));
            }
            self.array.open(m).set(m, self.number, list.get(m));
        });
        self.sent = (first + length as u64).checked_sub(1).filter(|_| length > 0);
    }

    fn receive<M: MutatorKind>(&mut self, m: &NoGc<'_, M>, cell: usize) {
        let Some(list) = self.array.open(m).get(m, cell) else {
            return;
        };
        let list = agreed(cast::<Cons>(list));
        if agreed(whole(m, list)) != cell {
            differ(format!("the list of thread {cell} is another's"));
        }
        self.kept = Some((m.handle(list), list.value(m)));
    }

    fn swap<M: MutatorKind>(&mut self, m: &NoGc<'_, M>, cell: usize) {
        let other = self.array.open(m).swap(m, cell, Some(self.hand.open(m)));
        self.hand = m.handle(other.unwrap_or_else(|| differ("a token is gone")));
    }

    /// Checks that the table is as the thread left it.
    pub(super) fn check<M: MutatorKind>(&self, m: &NoGc<'_, M>) {
        let own = self.array.open(m).get(m, self.number);
        let own = own.map(|list| agreed(cast::<Cons>(list)));
        if own.map(|list| list.value(m)) != self.sent {
            differ(format!(
                "a thread's own cell has {own:?}, and should have {:#x?}",
                self.sent
            ));
        }
        if let Some(own) = own {
            agreed(whole(m, own));
        }
        if let Some((kept, value)) = &self.kept {
            let kept = kept.open(m);
            agreed(whole(m, kept));
            if kept.value(m) != *value {
                differ(format!(
                    "a list that was kept is {:#x}, and was {value:#x}",
                    kept.value(m)
                ));
            }
        }
    }

    /// Checks that every token is there once.
    pub(super) fn check_tokens<M: MutatorKind>(m: &NoGc<'_, M>, tables: &[&Table]) {
        let hands = tables.iter().map(|table| table.hand.open(m));
        let array = tables[0].array.open(m);
        let cells =
            (tables.len()..array.len()).map(|cell| array.get(m, cell).unwrap_or_else(|| differ("a token is gone")));
        let mut tokens: Vec<u64> = hands
            .chain(cells)
            .map(|token| agreed(cast::<Int>(token)).value(m))
            .collect();
        tokens.sort_unstable();
        if !tokens.iter().copied().eq(0..array.len() as u64) {
            differ(format!("the tokens are {tokens:?}"));
        }
    }
}
