//! A root is invariant in its type: a supertype's closure could be read as the subtype's.

use gclab_core::mutator::Root;

fn misuse<'r, 'f, 'h, 'a>(root: &'r Root<'f, 'h, &'static str>) -> &'r Root<'f, 'h, &'a str> {
    root
}

fn main() {}
