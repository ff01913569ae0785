//! Parts of a sweep, measured in words and in work.

use super::*;

#[test]
fn a_part_of_a_sweep_ends_with_a_closure_or_a_free_block() {
    let mut model = Model::new();
    let _: [Addr; 3] = model.nines();
    model.condemn(&[]);
    assert_eq!(model.swept(1), (512 - 27, false));
    assert_eq!(model.swept(10), (18, false));
    assert_eq!(model.swept(9), (9, false));
    assert_eq!(model.swept(1), (0, true));
}

#[test]
fn each_dead_closure_is_work_unless_the_list_says_that_the_first_is_enough() {
    for (to_the_end, expected) in [(false, (18, false)), (true, (27, true))] {
        let mut model = Model::of(Plain(BTreeSet::new(), to_the_end));
        let [dead @ .., _] = model.nines::<4>();
        model.condemn(&dead);
        assert_eq!(model.swept(512 - 27), (512 - 27, false));
        assert_eq!(model.swept(10), expected, "to the end: {to_the_end}");
    }
}

#[test]
fn a_free_block_after_a_dead_closure_is_not_work() {
    let mut model = Model::new();
    let [_, first, second] = model.nines();
    model.condemn(&[first]);
    while !model.swept(512).1 {}
    model.closures.remove(&first);
    model.condemn(&[second]);
    assert_eq!(model.swept(512 - 27 + 9 + 1), (512, false));
}

/// Adds a chunk. Returns the starts of all chunks, by address.
fn grow(model: &mut Model) -> Vec<Addr> {
    model.space.grow(&mut model.heap, Words(512)).expect("room");
    let chunks = model.space.memory().chunks();
    chunks.iter().map(|chunk| chunk.start()).collect()
}

#[test]
fn a_sweep_begins_with_the_highest_chunk_and_leaves_one_that_comes_above_it() {
    let mut model = Model::new();
    grow(&mut model);
    grow(&mut model);
    model.begin_sweep();
    // Once before the first part of the sweep, and once after it.
    grow(&mut model);
    assert_eq!(model.swept(1), (512, false));
    let chunks = grow(&mut model);
    let black: Vec<_> = chunks.into_iter().map(|at| model.space.is_black(at)).collect();
    assert_eq!(black, [true, false, false, false]);
    assert_eq!(model.swept(513), (512, true));
}

#[test]
fn a_chunk_added_below_the_others_is_not_swept() {
    let mut model = Model::new();
    let hole = model.heap.allocate(1, 1, BlockState::of_step(2)).expect("a block");
    grow(&mut model);
    model.begin_sweep();
    model.heap.free(hole);
    assert_eq!(grow(&mut model)[0], hole.start());
    model.allocate(Words(9));
    let new = *model.closures.keys().next().expect("a closure");
    assert!(hole.contains(new) && model.marks.get(new));
    assert_eq!(model.swept(513), (512, true));
    assert!(!model.marks.get(new), "all are white after a sweep");
}
