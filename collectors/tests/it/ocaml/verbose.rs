//! The messages of `ocaml`, with a test for each kind.

mod compaction;
mod slices;

use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule, Stat};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::KindOf;
use gclab_core::config::{Config, OcamlLetter, OcamlLetters};
use gclab_core::mutator::{ByteArray, Handle, Mutator, MutatorKind};
use gclab_core::world::World;
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// The minor heap, in words.
const MINOR: u64 = 8192;

/// A writer that tests read.
#[derive(Clone, Debug, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("sound").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    /// What was written since the last call.
    fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().expect("sound"));
        String::from_utf8(bytes).expect("text")
    }
}

fn world(letters: &[(OcamlLetter, u64)]) -> World<KindOf<Ocaml>> {
    let mut given = OcamlLetters::default();
    letters
        .iter()
        .for_each(|(letter, value)| given.set(*letter, Some(*value)));
    let config = Config {
        ocaml: given,
        ..config::<Ocaml>(MINOR as usize * 8)
    };
    World::new::<Ocaml>(&config).expect("a small heap")
}

/// Runs `program` with messages of these kinds, which go to the paper.
fn with_messages(kinds: u64, program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Ocaml>>, &Paper)) -> Paper {
    with_letters(&[], kinds, program)
}

/// Like [`with_messages`], in a heap with these letters.
fn with_letters(
    letters: &[(OcamlLetter, u64)],
    kinds: u64,
    program: impl for<'h> FnOnce(&mut Mutator<'h, KindOf<Ocaml>>, &Paper),
) -> Paper {
    let (paper, world) = (Paper::default(), world(letters));
    let ran = world.enter(|m| {
        let mut gc = m.gc().expect("ocaml");
        gc.print_messages_to(paper.clone());
        let control = gc.get();
        let wanted = Control {
            verbose: kinds,
            ..control
        };
        gc.set(wanted).expect("legal");
        assert_eq!(gc.get(), wanted);
        program(m, &paper);
    });
    ran.expect("room enough");
    world.finish();
    paper
}

/// An array of this many bytes: 64 of them are ten words with the header.
fn array<M: MutatorKind>(m: &mut Mutator<'_, M>, bytes: usize) -> Handle<ByteArray> {
    let (view, array) = m.with_view(|m| m.alloc_bytes_filled(bytes, 1));
    view.handle(array)
}

#[test]
fn cycles_are_reported() {
    let paper = with_messages(0x001, |m, paper| {
        let kept = array(m, 64);
        let mut gc = m.gc().expect("ocaml");
        let begins = "Starting new major GC cycle\n";
        gc.major();
        assert_eq!(
            paper.take(),
            format!("Finishing major GC cycle (requested by user)\n{begins}{begins}")
        );
        gc.major();
        assert_eq!(
            paper.take(),
            format!("Finishing major GC cycle (requested by user)\n{begins}"),
            "a cycle was under way"
        );
        gc.full_major();
        assert_eq!(
            paper.take(),
            format!("Full major GC cycle (requested by user)\n{begins}{begins}")
        );
        gc.compact();
        assert_eq!(
            paper.take(),
            format!("Full major GC cycle (compaction)\n{begins}{begins}")
        );
        drop(kept);
    });
    assert_eq!(paper.take(), "", "the last collection is not one of the program's");
}

#[test]
fn minor_collections_and_slices_print_signs() {
    with_messages(0x002, |m, paper| {
        let kept = array(m, 64);
        let mut gc = m.gc().expect("ocaml");
        gc.minor();
        assert_eq!(paper.take(), "<>");
        gc.minor();
        assert_eq!(paper.take(), "", "the minor heap is empty");
        // The first slice starts a cycle, the second one marks, and the third one sweeps.
        for _ in 0..3 {
            gc.major_slice(1 << 40);
        }
        assert_eq!(paper.take(), "!$");
        drop(kept);
    });
}

#[test]
fn the_size_of_the_major_heap_is_reported_when_it_changes() {
    with_messages(0x004, |m, paper| {
        let large = array(m, 1 << 20);
        let mut gc = m.gc().expect("ocaml");
        let words = gc.quick_stat().heap_words;
        assert_eq!(paper.take(), format!("Growing heap to {}k bytes\n", words * 8 / 1024));
        drop(large);
        gc.full_major();
        let text = paper.take();
        let words = gc.quick_stat().heap_words;
        let last = format!("Shrinking heap to {}k words\n", words / 1024);
        assert!(text.ends_with(&last), "{text}");
        gc.minor();
        assert_eq!(paper.take(), "");
    });
}

#[derive(Closure)]
#[allow(dead_code)]
struct Tree {
    left: Option<Ptr<Tree>>,
    right: Option<Ptr<Tree>>,
}

/// The marker follows the chains of the first levels in parallel, which leaves slots of later
/// levels on its stack.
#[test]
fn the_mark_stack_is_reported_when_it_grows_and_shrinks() {
    with_messages(0x008, |m, paper| {
        m.frame(|m, [spine, chain]| {
            let (spine, chain) = (spine.put_option::<Tree>(m, None), chain.put_option::<Tree>(m, None));
            for level in (0..2000).rev() {
                chain.set(m, None);
                for _ in 0..if level < 40 { 2000 } else { 1 } {
                    let (view, longer) = m.alloc_with(|m| Tree::new(chain.get(m), None));
                    chain.set(view, Some(longer));
                }
                let (view, tree) = m.alloc_with(|m| {
                    let (spine, chain) = (spine.get(m), chain.get(m));
                    if level % 2 == 0 {
                        Tree::new(spine, chain)
                    } else {
                        Tree::new(chain, spine)
                    }
                });
                spine.set(view, Some(tree));
            }
            chain.set(m, None);
            m.gc().expect("ocaml").major();
            paper.take();
            m.gc().expect("ocaml").full_major();
        });
        let text = paper.take();
        assert!(text.starts_with("Growing mark stack to "), "{text}");
        assert!(text.ends_with("k bytes\nShrinking mark stack to 1k bytes\n"), "{text}");
    });
}

#[test]
fn changes_of_parameters_are_reported_in_the_order_of_ocaml() {
    with_messages(0x031, |m, paper| {
        let mut gc = m.gc().expect("ocaml");
        let control = gc.get();
        let changed = Control {
            minor_heap_size: 2 * MINOR,
            major_heap_increment: 40_000,
            space_overhead: 200,
            max_overhead: 400,
            stack_limit: 4096,
            allocation_policy: 0,
            window_size: 5,
            custom_major_ratio: 50,
            custom_minor_ratio: 60,
            custom_minor_max_size: 70,
            ..control
        };
        gc.set(changed).expect("legal");
        let text = paper.take();
        let (first, rest) = text.split_once("Full").expect("a cycle");
        let expected = "New space overhead: 200%\nNew max overhead: 400%\nNew heap increment size: 39k words\n\
             New smoothing window size: 5\nNew custom major ratio: 50%\nNew custom minor ratio: 60%\n\
             New custom minor size limit: 70%\n";
        assert_eq!(first, expected);
        let begins = "Starting new major GC cycle\n";
        let cycles = format!(" major GC cycle (changing allocation policy)\n{begins}{begins}Compacting heap...\n");
        assert!(rest.starts_with(&cycles), "{rest}");
        let ends = "done.\nNew allocation policy: 0\nNew minor heap size: 16k words\nStarting new major GC cycle\n";
        assert!(rest.ends_with(ends), "{rest}");
        gc.set(Control {
            major_heap_increment: 20,
            ..changed
        })
        .expect("legal");
        assert_eq!(paper.take(), "New heap increment size: 20%\n");
        gc.compact();
        assert!(paper.take().contains("(compaction)"), "the policy stays");
        // This minor collection does not start a cycle.
        let size = Control {
            minor_heap_size: 3 * MINOR,
            major_heap_increment: 20,
            verbose: 0x023,
            ..changed
        };
        let kept = array(m, 64);
        paper.take();
        let mut gc = m.gc().expect("ocaml");
        gc.set(size).expect("legal");
        assert_eq!(paper.take(), "New minor heap size: 24k words\n<>");
        drop(kept);
    });
}

/// Each line up to its number.
fn names(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| {
            line.split(|c: char| c.is_ascii_digit())
                .next()
                .unwrap_or_default()
                .trim_end_matches(['-', ' '])
        })
        .collect()
}

#[test]
fn runs_of_finalisers_are_reported() {
    with_messages(0x080, |m, paper| {
        let mut out = paper.clone();
        let (view, closure) = m.with_view(|m| m.alloc_bytes(b"x"));
        view.finalise_last(closure, move |_| out.write_all(b"finaliser\n").expect("memory"));
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        let text = "Calling finalisation functions.\nfinaliser\nDone calling finalisation functions.\n";
        assert_eq!(paper.take(), text);
        gc.full_major();
        assert_eq!(paper.take(), "");
    });
}

/// The text of `v=0x400`.
fn exit_text(stat: &Stat) -> String {
    format!(
        "allocated_words: {:.0}\nminor_words: {:.0}\npromoted_words: {:.0}\nmajor_words: {:.0}\n\
         minor_collections: {}\nmajor_collections: {}\nheap_words: {}\nheap_chunks: {}\n\
         top_heap_words: {}\ncompactions: {}\nforced_major_collections: {}\n",
        stat.minor_words + stat.major_words - stat.promoted_words,
        stat.minor_words,
        stat.promoted_words,
        stat.major_words,
        stat.minor_collections,
        stat.major_collections,
        stat.heap_words,
        stat.heap_chunks,
        stat.top_heap_words,
        stat.compactions,
        stat.forced_major_collections,
    )
}

#[test]
fn the_counters_are_reported_at_the_end_of_the_run() {
    let mut stat = Stat::default();
    let paper = with_messages(0x7ff, |m, paper| {
        let kept: Vec<_> = (0..100).map(|_| array(m, 64)).collect();
        m.gc().expect("ocaml").compact();
        let young = array(m, 64);
        stat = m.gc().expect("ocaml").quick_stat();
        assert_eq!(stat.minor_words, 1010.0);
        paper.take();
        drop((kept, young));
    });
    assert_eq!(paper.take(), exit_text(&stat));
}

#[test]
fn there_is_nothing_to_search_at_the_start() {
    let paper = with_messages(0x100, |m, _| {
        let kept = array(m, 1 << 20);
        let mut gc = m.gc().expect("ocaml");
        gc.compact();
        let control = gc.get();
        gc.set(Control {
            space_overhead: 99,
            ..control
        })
        .expect("legal");
        drop(kept);
    });
    assert_eq!(paper.take(), "");
}

/// Set in the child process whose standard error is read.
const CHILD: &str = "GCLAB_TEST_VERBOSE";

#[test]
#[cfg_attr(miri, ignore = "it starts a process")]
fn messages_go_to_standard_error_from_the_start() {
    if std::env::var_os(CHILD).is_some() {
        world(&[(OcamlLetter::Verbose, 0x021)]).finish();
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("the tests"));
    let test = "ocaml::verbose::messages_go_to_standard_error_from_the_start";
    let ended = command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output();
    let ended = ended.expect("the tests run");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let text = "Initial minor heap size: 8k words\nInitial major heap size: 992k bytes\n\
         Initial space overhead: 100%\nInitial max overhead: 500%\nInitial heap increment: 15%\n\
         Initial allocation policy: 2\nInitial smoothing window: 1\n";
    assert!(ended.status.success() && stderr.contains(text), "{stderr}");
    assert!(!stderr.contains("GC cycle"), "{stderr}");
}
