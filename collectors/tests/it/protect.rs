//! Protected memory (`-DP`): what a collection frees cannot be accessed.

use crate::basics::config;
use crate::mutants::{Forgetful, Mutant};
use gclab_core::block::{BLOCK, StretchKind};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::mutator::{MutArray, Mutator, MutatorKind, OptionRoot, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};

#[derive(Closure)]
#[allow(dead_code)]
struct Node {
    value: u64,
    next: Mut<Node>,
}

/// Makes a list of `length` numbers, and as much garbage.
fn grow<'h, M: MutatorKind>(m: &mut Mutator<'h, M>, list: &OptionRoot<'_, 'h, Node>, length: u64) {
    for value in 0..length {
        let (view, node) = m.alloc_with(|m| Node::new(value, list.get(m)));
        list.set(view, Some(node));
        _ = m.alloc_bytes_filled(value as usize % 800, 7);
    }
}

/// Sends, after each collection, how many bytes of free blocks are inaccessible.
struct Inaccessible(Sender<Bytes>);

impl Listener for Inaccessible {
    fn look(&self, occasion: Occasion) -> Option<Look> {
        (occasion == Occasion::Collection).then_some(Look::Inspect)
    }

    fn event(&mut self, event: &Event<'_>) {
        let EventKind::End { stopped, .. } = event.kind else {
            return;
        };
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
        let closed: Vec<(usize, usize)> = maps.lines().filter_map(closed).collect();
        let (blocks, mut sum) = (stopped.blocks(), 0);
        blocks.for_each_stretch(|stretch| {
            let start = blocks.base().0 + stretch.first.index() * BLOCK.0;
            let end = start + stretch.blocks as usize * BLOCK.0;
            let inside = closed
                .iter()
                .map(|&(from, to)| to.min(end).saturating_sub(from.max(start)));
            let bytes: usize = inside.sum();
            assert!(bytes == 0 || stretch.kind == StretchKind::Free, "{stretch:?}");
            sum += bytes;
        });
        self.0.send(Bytes(sum)).expect("the test receives it");
    }
}

/// The range of a line of `/proc/self/maps`, if it is inaccessible.
fn closed(line: &str) -> Option<(usize, usize)> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let hex = |text| usize::from_str_radix(text, 16).ok();
    rest.starts_with("---").then_some((hex(from)?, hex(to)?))
}

#[derive(Clone, Copy)]
struct Protects;

impl CollectorVisitor for Protects {
    type Output = ();

    fn visit<C: Collector>(self) {
        let config = Config {
            protect_freed: true,
            ..config::<C>(64 << 10)
        };
        let mut world = World::new::<C>(&config).expect("a small heap");
        Checker::install(&mut world);
        let (sender, sums) = channel();
        world.listen(Box::new(Inaccessible(sender)));
        let session = world.enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Node>(m, None);
                for round in 0..8 {
                    grow(m, &list, 1000);
                    m.collect(if round % 2 == 1 { Request::Full } else { Request::Minor });
                    let mut at = list.get(m);
                    for value in (0..1000).rev() {
                        let node = at.expect("a thousand of them");
                        assert_eq!(node.value(m), value);
                        at = node.next(m);
                    }
                    if round == 5 {
                        list.set(m, None);
                    }
                }
            });
        });
        session.expect("room enough");
        drop(world);
        let most = sums.iter().max().expect("there were collections");
        let name = C::DESCRIPTION.name;
        assert!(most >= Bytes::kib(128), "{name}: at most {most} had no access");
    }
}

#[test]
fn freed_memory_has_no_access_under_any_collector() {
    crate::under_every_collector(Protects);
}

/// The signal of an illegal access.
const SIGSEGV: i32 = 11;

/// Set in the child process that makes a stale access.
const STALE: &str = "GCLAB_TEST_STALE";

/// Hides a pointer from an old array to a young closure, and reads it after a collection.
#[test]
fn a_stale_access_ends_the_process_with_one_message() {
    if std::env::var_os(STALE).is_some() {
        return read_stale_closure();
    }
    let mut command = Command::new(std::env::current_exe().expect("the tests"));
    let test = "protect::a_stale_access_ends_the_process_with_one_message";
    let ended = command.args(["--exact", test, "--nocapture"]).env(STALE, "1").output();
    let ended = ended.expect("the tests run");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.signal(), Some(SIGSEGV), "{stderr}");
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("stale")).collect();
    let [line] = lines[..] else { panic!("{stderr}") };
    let parts = [
        "gclab: stale access to 0x",
        ": collection 4 freed this memory, a block of step 0",
        "-DT",
    ];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
}

fn read_stale_closure() {
    let config = Config {
        protect_freed: true,
        ..config::<Mutant<Forgetful>>(64 << 10)
    };
    let world = World::new::<Mutant<Forgetful>>(&config).expect("a small heap");
    let session = world.enter(|m| {
        m.frame(|m, [array]| {
            let array = array.put(m.alloc_array::<MutArray<Node>>(3, |_| None));
            (0..3).for_each(|_| m.collect(Request::Full));
            let (view, young) = m.with_view(|m| m.alloc_array::<Node>(4, |_| None));
            array.get(view).set(view, 1, Some(young));
            m.collect(Request::Minor);
            array
                .get(m)
                .get(m, 1)
                .expect("it was not forgotten by the program")
                .len()
        })
    });
    panic!("{session:?} was read");
}
