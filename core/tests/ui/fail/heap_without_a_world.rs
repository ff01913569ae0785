//! Mark bits and spaces read the heap they were made for, which must outlive them.

use gclab_core::config::Config;
use gclab_core::heap::Heap;
use gclab_core::space::MarkBits;

fn main() {
    let heap = Heap::new(&Config::default()).unwrap();
    let marks = MarkBits::new(&heap).unwrap();
    drop(heap);
    let _ = marks;
}
