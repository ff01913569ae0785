//! `hsc_env ROUNDS`: the example for root profiles (`-ho`): a record of three records that share
//! some of their fields.
//!
//! An environment has an external package state (x, y, e), a finder cache (x, y, z, f) and a third
//! record (x, z, t), where x to t are six boxed words of the values 1 to 6. The environment and its
//! first two fields are named as heap roots `hsc`, `eps` and `fc`. Then there are ROUNDS major
//! collections. With 8 bytes a word and a header each, 80 bytes can be reached from `hsc` only, 48
//! from `hsc` and `eps`, 72 from `hsc` and `fc`, 32 from all three, and none from other sets of
//! roots: 232 in all. The checksum is the number whose digits are the fields in this order,
//! 1241235136, times the rounds. Set-up makes the records.

use gclab_core::closure::{Closure, Ptr};
use gclab_core::mutator::{Gc, Mutator, MutatorKind, NoGc, Request};
use gclab_core::world::World;

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};

/// A boxed word.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Word {
    value: u64,
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Eps {
    a: Ptr<Word>,
    b: Ptr<Word>,
    c: Ptr<Word>,
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct FinderCache {
    a: Ptr<Word>,
    b: Ptr<Word>,
    c: Ptr<Word>,
    d: Ptr<Word>,
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Other {
    a: Ptr<Word>,
    b: Ptr<Word>,
    c: Ptr<Word>,
}

#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct HscEnv {
    eps: Ptr<Eps>,
    fc: Ptr<FinderCache>,
    other: Ptr<Other>,
}

/// Named roots that share data, for root profiles.
#[derive(Debug, Default)]
pub struct HscEnvRoots;

impl Workload for HscEnvRoots {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "hsc_env",
        summary: "named roots that share some of the data they reach, for -ho",
        args: &[ArgSpec::number("ROUNDS", "major collections", 3, 1..=1 << 20)],
        checksum: Some(3_723_705_408),
        test: TestSize {
            args: &["4"],
            checksum: Some(4_964_940_544),
        },
        bench: &["200"],
        stress: StressSize {
            args: &["20"],
            every: 1,
            parallel: &["20"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let rounds = args.number("ROUNDS");
        Ok(world.enter(|m| run(m, rounds))?)
    }
}

fn run<M: MutatorKind>(m: &mut Mutator<'_, M>, rounds: u64) -> u64 {
    m.frame(|m, [x, y, z, e, f, t, hsc]| {
        let [x, y, z] = [(x, 1), (y, 2), (z, 3)].map(|(slot, value)| slot.put(m.alloc(|_| Word::new(value))));
        let [e, f, t] = [(e, 4), (f, 5), (t, 6)].map(|(slot, value)| slot.put(m.alloc(|_| Word::new(value))));
        let hsc = m.frame(|m, [eps, fc, other]| {
            let eps = eps.put(m.alloc(|m| Eps::new(x.get(m), y.get(m), e.get(m))));
            let fc = fc.put(m.alloc(|m| FinderCache::new(x.get(m), y.get(m), z.get(m), f.get(m))));
            let other = other.put(m.alloc(|m| Other::new(x.get(m), z.get(m), t.get(m))));
            hsc.put(m.alloc(|m| HscEnv::new(eps.get(m), fc.get(m), other.get(m))))
        });
        let env = hsc.get(m);
        m.set_heap_roots([
            ("hsc", env.erase()),
            ("eps", env.eps(m).erase()),
            ("fc", env.fc(m).erase()),
        ]);
        m.measure(|m| {
            let mut checksum = 0_u64;
            for _ in 0..rounds {
                m.collect(Request::Full);
                checksum = checksum.wrapping_add(digits(m, hsc.get(m)));
            }
            checksum
        })
    })
}

/// The number whose digits are the values of all fields, first to last.
fn digits<'h, M: MutatorKind>(m: &NoGc<'h, M>, env: Gc<'_, 'h, HscEnv>) -> u64 {
    let (eps, fc, other) = (env.eps(m), env.fc(m), env.other(m));
    let words = [
        eps.a(m),
        eps.b(m),
        eps.c(m),
        fc.a(m),
        fc.b(m),
        fc.c(m),
        fc.d(m),
        other.a(m),
        other.b(m),
        other.c(m),
    ];
    words.iter().fold(0, |number, word| number * 10 + word.value(m))
}
