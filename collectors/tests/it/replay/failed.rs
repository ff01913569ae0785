fn random_program_that_failed() {
    #[allow(unused_imports)]
    use gclab_proof::program::{Op::*, Program, Request::*, Setting, Shape::*, Shared::*, Words, g, l};
    let settings = [
        Setting { area_blocks: 1, chunk_blocks: None, large_kib: None, factor: 1.0, old_min_kib: 0, generations: 1, hint_kib: None, stress: None, slice_words: None, limit_mib: None, min_free: 0, gc_threads: 1, balance_all: false, ocaml: None },
        Setting { area_blocks: 1, chunk_blocks: None, large_kib: None, factor: 1.0, old_min_kib: 0, generations: 1, hint_kib: None, stress: None, slice_words: None, limit_mib: None, min_free: 0, gc_threads: 1, balance_all: false, ocaml: None },
    ];
    let ops = vec![
        Churn { shape: Cons, count: 395 },
        New { to: g(0), shape: Nil, args: [l(0), l(0), l(0)] },
    ];
    gclab_proof::replay::<Mutant<Forgetful>>(&Program { settings, ops });
}
