//! The moves of a collection between tiles.

use super::data::{Move, Totals};
use super::tile::Use;
use gclab_core::profile::Moves;
use std::collections::BTreeMap;

/// Limit on moves in a map.
pub(super) const MOST_MOVES: usize = 2000;

/// Puts `moves` into a map whose tiles have 2^`shift` blocks: returns the largest, and adds all to
/// the totals. `before` is the use of the blocks before the collection, `after` the use now.
pub(super) fn of(
    moves: &Moves,
    shift: u32,
    totals: &mut Totals,
    before: impl Fn(u32) -> Option<Use>,
    after: impl Fn(u32) -> Option<Use>,
) -> Vec<Move> {
    // The log may have larger tiles than the map. Then a move leaves the first tile of several.
    let tile = |number: u32| (u64::from(number) << moves.shift >> shift) as u32;
    let mut flows: BTreeMap<(Use, Use), u64> = BTreeMap::new();
    let mut all = Vec::with_capacity(moves.pairs.len());
    for (&(from, to), moved) in &moves.pairs {
        totals.moved_closures += moved.closures;
        totals.moved += moved.words;
        let (from, to) = (tile(from), tile(to));
        if let (Some(before), Some(after)) = (before(from), after(to)) {
            *flows.entry((before, after)).or_default() += moved.words;
        }
        all.push(Move {
            from,
            to,
            closures: moved.closures,
            words: moved.words,
        });
    }
    totals.flows = flows.into_iter().map(|((from, to), words)| (from, to, words)).collect();
    totals.flows.sort_by_key(|(.., words)| std::cmp::Reverse(*words));
    join(&mut all);
    all.truncate(MOST_MOVES);
    all
}

/// Joins moves between the same tiles. Afterwards they are in order, most words first.
pub(super) fn join(moves: &mut Vec<Move>) {
    moves.sort_unstable_by_key(|a_move| (a_move.from, a_move.to));
    moves.dedup_by(|next, kept| {
        let same = (next.from, next.to) == (kept.from, kept.to);
        if same {
            kept.closures += next.closures;
            kept.words += next.words;
        }
        same
    });
    moves.sort_by_key(|a_move| std::cmp::Reverse(a_move.words));
}
