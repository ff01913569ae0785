//! Programs that failed once, shrunk. Each is named for its fault.

use super::program::{Op, Program, Request, Setting, Shape, Var, g, l};

const L0: Var = l(0);
const G0: Var = g(0);
const MINOR: Op = Op::Collect(Request::Minor);
const MAJOR: Op = Op::Collect(Request::Full);

/// All programs, with their names.
pub(super) fn programs() -> [(&'static str, Program); 2] {
    [
        (
            "a closure was promoted past a generation that was not collected",
            promoted_past_a_generation(),
        ),
        (
            "a large object settled in a younger step than a closure that leads to it",
            settled_in_a_younger_step(),
        ),
    ]
}

fn program(setting: Setting, ops: &[Op]) -> Program {
    Program {
        settings: [setting; 2],
        ops: ops.to_vec(),
    }
}

/// A closure that an old array points to is promoted to the array's step at once. It pointed to a
/// closure in a generation between, which was not collected, and that pointer was not remembered.
fn promoted_past_a_generation() -> Program {
    let setting = Setting {
        generations: 4,
        ..Setting::default()
    };
    let l1 = l(1);
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
    program(setting, &ops)
}

/// A large object that a root points to moves one step up. A closure that also points to it was
/// promoted further, and was not remembered.
fn settled_in_a_younger_step() -> Program {
    let new = |to, shape| Op::New {
        to,
        shape,
        args: [L0; 3],
    };
    let ops = [MAJOR, MAJOR, new(L0, Shape::Bytes(4000)), new(G0, Shape::Cons), MINOR];
    program(Setting::default(), &ops)
}
