//! Any thread could take it from there.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::Gc;

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

static KEPT: std::sync::Mutex<Option<Gc<'static, 'static, Tree>>> = std::sync::Mutex::new(None);

fn main() {}
