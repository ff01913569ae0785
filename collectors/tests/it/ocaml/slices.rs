//! Cycles of the collector `ocaml`, whose slices come between parts of the program.

use gclab_collectors::Ocaml;

#[test]
fn closures_that_are_hidden_while_marking_live() {
    gclab_proof::slices::slices::<Ocaml>();
}
