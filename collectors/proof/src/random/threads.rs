//! Random programs of several threads in one heap. Each thread runs a program like a
//! single-threaded one, on its own data with its own reference, and shares a [`Table`] with the
//! others. Threads enter and leave at any time, and there are more or fewer of them than
//! capabilities. The data that a thread must find do not depend on the order in which threads run.

use super::account::Account;
use super::difference::{agreed, caught, differ};
use super::end;
use super::generate::{SETTING, decode, decode_setting, op, setting, shared_op};
use super::heap::Heap;
use super::interpret::{End, Todo, session};
use super::numbers::Numbers;
use super::program::{Op, Setting};
use super::table::Table;
use gclab_core::collector::Collector;
use gclab_core::config::{Config, FromGeneration};
use gclab_core::mutator::{MutatorKind, Request};
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use proptest::prelude::*;
use std::fmt;
use std::thread;

/// A program of several threads.
#[derive(Clone)]
pub(super) struct Threads {
    setting: Setting,
    /// The number of capabilities, `-N`.
    capabilities: u32,
    /// The generations collected in parallel, `-qg`.
    parallel: FromGeneration,
    /// The generations whose collections balance work, `-qb`.
    balance: Option<FromGeneration>,
    /// The operations of each thread.
    programs: Vec<Vec<Op>>,
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Threads {
            setting,
            capabilities,
            parallel,
            balance,
            programs,
        } = self;
        writeln!(f, "\n-N{capabilities}, -qg {parallel:?}, -qb {balance:?}, {setting:?}")?;
        for (number, ops) in programs.iter().enumerate() {
            writeln!(f, "thread {number}:")?;
            ops.iter().try_for_each(|op| writeln!(f, "  {op:?}"))?;
        }
        Ok(())
    }
}

/// Programs of two to four threads, of up to `length` operations each.
pub(super) fn programs(length: usize) -> impl Strategy<Value = Numbers> {
    let op = prop_oneof![4 => op(), 1 => shared_op()];
    let ops = proptest::collection::vec(op, 1..=length);
    let programs = proptest::collection::vec(ops, 2..=4);
    let team = (
        1u32..5,
        prop_oneof![3 => Just(0), 1 => 0u32..3],
        proptest::option::of(0u32..3),
    );
    (setting(), team, programs).prop_map(|(setting, (capabilities, parallel, balance), programs)| {
        let balance = balance.map_or(0, |from| from + 1);
        let threads = programs.len() as u32;
        let team = [capabilities - 1, parallel, balance, threads - 2];
        let of_thread = |(thread, ops): (u32, Vec<[u32; 6]>)| {
            let numbered = move |[_, rest @ ..]: [u32; 6]| {
                let [kind, a, b, c, n] = rest;
                [thread, kind, a, b, c, n]
            };
            ops.into_iter().map(numbered)
        };
        Numbers {
            head: [&setting[..], &team].concat(),
            ops: (0..).zip(programs).flat_map(of_thread).collect(),
        }
    })
}

/// The program that follows from its numbers.
pub(super) fn decode_threads(numbers: &Numbers) -> Threads {
    let [capabilities, parallel, balance, threads] = *numbers.head[SETTING..].first_chunk().expect("a team has four");
    let from = |number: u32| {
        if number == 2 {
            FromGeneration::Off
        } else {
            FromGeneration::From(number)
        }
    };
    let of_thread = |thread| {
        let ops = numbers.ops.iter().filter(move |op| op[0] == thread);
        ops.map(decode).collect()
    };
    Threads {
        // The live bytes are known for each thread, but not for all at one moment.
        setting: Setting {
            limit_mib: None,
            ..decode_setting(&numbers.head)
        },
        capabilities: 1 + capabilities,
        parallel: from(parallel),
        balance: (balance > 0).then(|| from(balance - 1)),
        programs: (0..2 + threads).map(of_thread).collect(),
    }
}

/// Runs `program` under `C`. Returns the number of operations, or the fault in words.
pub(super) fn outcome<C: Collector>(program: &Threads) -> Result<u64, String> {
    caught(|| run::<C>(program))
}

fn run<C: Collector>(program: &Threads) -> u64 {
    let config = Config {
        capabilities: program.capabilities,
        parallel_gc: program.parallel,
        load_balance: program.balance,
        ..program.setting.config::<C>()
    };
    let mut world = World::new::<C>(&config).unwrap_or_else(|error| differ(error.to_string()));
    world.listen(Box::new(Checker::new(&C::DESCRIPTION).exact()));
    let account = Account::default();
    let made = world.enter(|m| Table::new(m, program.programs.len(), &account));
    let tables = made.unwrap_or_else(|error| differ(error.to_string()));
    let world_ref = &world;
    let heaps: Vec<Result<Heap, String>> = thread::scope(|s| {
        let threads: Vec<_> = tables
            .into_iter()
            .zip(&program.programs)
            .map(|(table, ops)| s.spawn(|| caught(|| one(world_ref, program, table, ops))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("its panics are caught"))
            .collect()
    });
    let mut heaps: Vec<Heap> = heaps.into_iter().map(agreed).collect();
    let checked = world.enter(|m| {
        // Each panic leaves the finalisers after it for the next collection.
        while heaps[0].caught(m, |_, m| m.collect(Request::Full)).is_err() {}
        for heap in &mut heaps {
            heap.look(false);
            heap.finalisers.no_panic_is_lost();
            heap.no_other_value_is_held();
        }
        let tables: Vec<&Table> = heaps.iter().filter_map(|heap| heap.table.as_ref()).collect();
        tables.iter().for_each(|table| table.check(m));
        Table::check_tokens(m, &tables);
    });
    checked.unwrap_or_else(|error| differ(error.to_string()));
    let all: Vec<&Heap> = heaps.iter().collect();
    end::statistics(&world.finish(), account.words(), &all);
    all.into_iter().for_each(end::all_is_dropped);
    heaps.iter().map(|heap| heap.ops).sum()
}

/// Runs the program of one thread.
fn one<M: MutatorKind>(world: &World<M>, program: &Threads, table: Table, ops: &[Op]) -> Heap {
    let mut heap = Heap::new(&program.setting, world.collector());
    heap.table = Some(table);
    let mut todo = Todo { ops };
    while session(world, &mut heap, None, &mut todo) != End::Program {}
    heap
}
