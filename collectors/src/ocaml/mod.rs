//! `ocaml`: the memory manager of OCaml 4.14.

mod pace;
mod policy;

pub use pace::{
    Compaction, CustomCharge, CustomRatios, Increment, LEAST_CHUNK, MOST_SHARE, MOST_WINDOW, Owed, Slice, Window,
    chunk_words, overhead_of_factor, share_of, slice_is_due, words_to_mark, words_to_sweep,
};
pub use policy::{BestFit, FirstFit, NextFit, Policy};
