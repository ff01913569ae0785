//! Protected memory (`-DP`): what a collection frees cannot be accessed. And the message of any illegal
//! access.

use crate::basics::config;
use crate::mutants::{Forgetful, Mutant};
use gclab_collectors::Copying;
use gclab_core::block::{BLOCK, StretchKind};
use gclab_core::closure::{Closure, Mut};
use gclab_core::collector::{Collector, CollectorVisitor};
use gclab_core::config::Config;
use gclab_core::events::{Event, EventKind, Listener, Look, Occasion};
use gclab_core::mutator::{MutArray, Mutator, MutatorKind, OptionRoot, Request};
use gclab_core::words::Bytes;
use gclab_core::world::World;
use gclab_heap_traverse::Checker;
use std::hint::black_box;
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

/// Signals of an illegal access, and of a process that aborts.
const SIGSEGV: i32 = 11;
const SIGABRT: i32 = 6;

/// Set in a child process that crashes.
const CRASH: &str = "GCLAB_TEST_CRASH";

/// Does `work` in a child process, which runs the test `name` of this file. Returns the signal that
/// ended it, and what it wrote to standard error.
fn crash(name: &str, work: impl FnOnce()) -> (Option<i32>, String) {
    if std::env::var_os(CRASH).is_some() {
        work();
        panic!("nothing crashed");
    }
    let mut command = Command::new(std::env::current_exe().expect("the tests"));
    let test = format!("protect::{name}");
    let ended = command.args(["--exact", &test, "--nocapture"]).env(CRASH, "1").output();
    let ended = ended.expect("the tests run");
    (
        ended.status.signal(),
        String::from_utf8_lossy(&ended.stderr).into_owned(),
    )
}

/// The only line that gclab wrote.
fn line(stderr: &str) -> &str {
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("gclab: ")).collect();
    let [line] = lines[..] else { panic!("{stderr}") };
    line
}

/// Hides a pointer from an old array to a young closure, and reads it after a collection.
#[test]
fn a_stale_access_ends_the_process_with_one_message() {
    let (signal, stderr) = crash("a_stale_access_ends_the_process_with_one_message", read_stale_closure);
    assert_eq!(signal, Some(SIGSEGV), "{stderr}");
    let line = line(&stderr);
    let parts = [
        "gclab: stale access to 0x",
        ", in the heap of the mutant collector: collection 4 freed this memory, a block of step 0",
        "-DT",
    ];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
}

/// Runs `program` inside a heap.
fn inside(program: impl FnOnce()) {
    let world = World::new::<Copying>(&config::<Copying>(64 << 10)).expect("a small heap");
    let _ = world.enter(|_| program());
}

#[test]
fn an_access_outside_every_heap_says_so() {
    let (signal, stderr) = crash("an_access_outside_every_heap_says_so", || {
        // SAFETY: none: nothing is there, which ends the process.
        inside(|| _ = unsafe { std::ptr::without_provenance::<u64>(black_box(16)).read_volatile() });
    });
    assert_eq!(signal, Some(SIGSEGV), "{stderr}");
    let line = line(&stderr);
    let told = "gclab: segmentation fault at 0x10, outside every heap (collector: copying). With -DS, ";
    assert!(line.starts_with(told), "{line}");
}

#[test]
fn a_stack_overflow_keeps_rusts_message() {
    fn deeper(depth: u64) -> u64 {
        let used = black_box([depth; 64]).iter().sum::<u64>();
        if black_box(true) {
            used + deeper(depth + 1)
        } else {
            used
        }
    }
    let (signal, stderr) = crash("a_stack_overflow_keeps_rusts_message", || inside(|| _ = deeper(0)));
    assert_eq!(signal, Some(SIGABRT), "{stderr}");
    assert!(stderr.contains("has overflowed its stack"), "{stderr}");
    assert!(!stderr.contains("gclab: "), "{stderr}");
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
