//! The tutorials' `mark-sweep`, which stands for all collectors that move nothing until one is in the registry.

#[path = "../../../../docs/examples/mark_sweep/src/mark_sweep.rs"]
mod mark_sweep;
mod shapes;

mod random {
    #[test]
    fn programs_agree_with_a_plain_heap() {
        gclab_proof::random_programs::<crate::mark_sweep::MarkSweep>();
    }
}
