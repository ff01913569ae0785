//! Programs that failed once, shrunk; each is named for what went wrong.

use super::outcome;
use super::program::{Op, Program, Setting, Var};
use super::shapes::Shape;
use gclab_collectors::All;
use gclab_core::collector::{Collector, CollectorList, CollectorVisitor};

struct Replay<'a>(&'a Program);
impl CollectorVisitor for Replay<'_> {
    type Output = Result<u64, String>;
    fn visit<C: Collector>(self) -> Result<u64, String> {
        outcome::<C>(self.0)
    }
}

/// Runs `ops` on a heap with this setting, under every collector.
fn agrees(setting: Setting, ops: &[Op]) {
    let program = Program {
        settings: [setting; 2],
        ops: ops.to_vec(),
    };
    for description in All::descriptions() {
        if let Some(Err(why)) = All::with(description.name, Replay(&program)) {
            panic!("{}: {why}", description.name);
        }
    }
}

const L0: Var = Var::local(0);
const G0: Var = Var::global(0);
const MINOR: Op = Op::Collect { major: false };
const MAJOR: Op = Op::Collect { major: true };

/// A closure that an old array leads to is promoted to the array's step at once. What it led to in a generation between,
/// which was not collected, was not remembered.
#[test]
fn a_closure_was_promoted_past_a_generation_that_was_not_collected() {
    let setting = Setting {
        generations: 4,
        ..Setting::default()
    };
    let l1 = Var::local(1);
    let new = |to, shape| Op::New {
        to,
        shape,
        args: [l1; 3],
    };
    let ops = [
        MINOR,
        MINOR,
        new(L0, Shape::Nil),
        MINOR,
        new(l1, Shape::Nil),
        Op::List { onto: G0, length: 520 },
        new(G0, Shape::Wide),
        MINOR,
    ];
    agrees(setting, &ops);
}

/// A large object that a root leads to moves one step up; a closure that was promoted further, and leads to it as well, was not
/// remembered.
#[test]
fn a_large_object_settled_in_a_younger_step_than_a_closure_that_leads_to_it() {
    let new = |to, shape| Op::New {
        to,
        shape,
        args: [L0; 3],
    };
    let ops = [MAJOR, MAJOR, new(L0, Shape::Bytes(4000)), new(G0, Shape::Cons), MINOR];
    agrees(Setting::default(), &ops);
}
