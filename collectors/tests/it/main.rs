//! Tests of every collector in the registry.

use gclab_collectors::All;
use gclab_core::collector::{CollectorList, CollectorVisitor};

/// Runs `program` under each collector.
fn under_every_collector(program: impl CollectorVisitor<Output = ()> + Copy) {
    for description in All::descriptions() {
        All::with(description.name, program).expect("listed");
    }
}

/// Makes a test that runs `program` under every collector.
macro_rules! under_every_collector {
    ($($(#[$meta:meta])* fn $name:ident<$c:ident>() $body:block)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            #[derive(Clone, Copy)]
            struct Program;
            impl CollectorVisitor for Program {
                type Output = ();
                fn visit<$c: Collector>(self) $body
            }
            crate::under_every_collector(Program);
        }
    )*};
}

mod basics;
mod broken;
mod causes;
mod compacting;
mod concurrent;
mod derived_names;
mod evacuation;
mod events;
mod exchange;
mod faults;
mod finalisers;
mod foreign;
mod ghc_faults;
mod immix;
mod measured;
mod memory;
mod memprof;
mod misuse;
mod mutants;
mod ocaml;
mod parallel;
mod paused_log;
mod protect;
mod random;
mod replay;
mod requests;
mod rts_stats;
mod seam;
mod shortage;
mod sizing;
mod slide;
mod small;
mod stress;
mod threads;
mod two_threads;
mod weak;
