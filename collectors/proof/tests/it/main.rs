//! Collectors that do not move closures: the tutorials' `mark-sweep`, `plain-concurrent` and `plain-counting`,
//! and another one made of the same parts. And one that works in slices.

mod mark_region;
#[path = "../../../../docs/examples/mark_sweep/src/mark_sweep.rs"]
mod mark_sweep;
#[path = "../../../../docs/examples/plain_concurrent.rs"]
mod plain_concurrent;
#[path = "../../../../docs/examples/plain_counting.rs"]
mod plain_counting;
mod shapes;
mod sliced;

mod random {
    #[test]
    fn mark_sweep_agrees_with_a_plain_heap() {
        gclab_proof::random_programs::<crate::mark_sweep::MarkSweep>();
    }

    #[test]
    fn plain_concurrent_agrees_with_a_plain_heap() {
        gclab_proof::random_programs::<crate::plain_concurrent::PlainConcurrent>();
    }

    #[test]
    fn plain_counting_agrees_with_a_plain_heap() {
        gclab_proof::random_programs::<crate::plain_counting::PlainCounting>();
    }

    #[test]
    fn mark_region_agrees_with_a_plain_heap() {
        gclab_proof::random_programs::<crate::mark_region::MarkRegion>();
    }
}
