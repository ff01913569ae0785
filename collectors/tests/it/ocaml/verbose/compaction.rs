//! The messages about compactions: that they happen (0x010), and whether they are due (0x200).

use super::{array, names, with_letters, with_messages};
use gclab_collectors::ocaml::{Control, GcModule};
use gclab_core::config::OcamlLetter;

/// OCaml 4.13 prints the same for the same program and parameters. The first chunk is too large, so
/// everything moves twice.
#[test]
fn compactions_are_reported() {
    with_messages(0x014, |m, paper| {
        let kept: Vec<_> = (0..20).map(|_| array(m, 64)).collect();
        let mut gc = m.gc().expect("ocaml");
        gc.full_major();
        let twice = "Compacting heap...\ndone.\nRecompacting heap (target=60k words)\nCompacting heap...\n\
             Shrinking heap to 60k words\ndone.\n";
        assert_eq!(paper.take(), twice);
        gc.major();
        assert_eq!(paper.take(), "Compacting heap...\ndone.\n");
        gc.compact();
        let asked = "Heap compaction requested\nCompacting heap...\ndone.\n";
        assert_eq!(paper.take(), asked);
        drop(kept);
    });
}

#[test]
fn the_condition_of_a_compaction_is_reported() {
    with_messages(0x200, |m, paper| {
        let mut kept = vec![array(m, 64)];
        let mut gc = m.gc().expect("ocaml");
        gc.major();
        let said = paper.take();
        assert!(said.starts_with("Estimated overhead (lower bound) = "), "{said}");
        assert!(said.ends_with("Automatic compaction triggered.\n"), "{said}");
        for _ in 0..3 {
            gc.major_slice(1 << 40);
        }
        let said = paper.take();
        let shown = [
            "marked words =",
            "heap size at start of cycle =",
            "overhead at start of cycle =",
        ];
        assert_eq!(names(&said), shown, "{said}");
        assert!(said.starts_with("marked words = 10 words\n"), "{said}");
        // A large heap is compacted after its third cycle, if another cycle confirms the overhead.
        kept.extend((0..40_000).map(|_| array(m, 64)));
        m.gc().expect("ocaml").full_major();
        kept.truncate(1);
        paper.take();
        let mut gc = m.gc().expect("ocaml");
        for _ in 0..6 {
            gc.major_slice(1 << 40);
        }
        let said = paper.take();
        let triggered = "Automatic compaction triggered.\nCurrent overhead: ";
        assert!(said.contains(triggered), "{said}");
    });
}

/// Splits the text before each `marker`.
fn parts<'t>(text: &'t str, marker: &'static str) -> impl Iterator<Item = &'t str> {
    text.split(marker).skip(1)
}

/// The percentage at the start of the text.
fn percent(text: &str) -> u64 {
    let digits = text.split('%').next().expect("a part");
    digits.parse().expect("a number")
}

/// Each compaction of the run is reported with its reason, and so are those that only seemed due.
#[test]
fn a_compaction_after_a_slice_is_reported_with_its_reason() {
    const MOST: u64 = 200;
    let letters = [(OcamlLetter::MaxOverhead, MOST), (OcamlLetter::Increment, 0)];
    with_letters(&letters, 0x211, |m, paper| {
        let mut kept: Vec<_> = (0..8_000).map(|number| array(m, 8 + number % 450)).collect();
        let mut number = 0;
        kept.retain(|_| {
            number += 1;
            number % 50 == 0
        });
        // Promoted, and soon dead.
        for _ in 0..60 {
            drop((0..600).map(|number| array(m, 8 + number % 450)).collect::<Vec<_>>());
        }
        let stat = m.gc().expect("ocaml").quick_stat();
        let text = paper.take();
        let (mut compactions, mut decisions) = (0, 0);
        for part in parts(&text, "Automatic compaction triggered.\n") {
            let cycle = "Finishing major GC cycle (triggered by compaction)\nStarting new major GC cycle\n";
            let rest = part.strip_prefix(cycle).expect(part);
            let decision = rest.strip_prefix("Current overhead: ").expect(part);
            let (_, follows) = decision.split_once('\n').expect(part);
            let is_compacted = follows.starts_with("Compacting heap...\ndone.\n");
            let is_aborted = follows.starts_with("Automatic compaction aborted.\n");
            assert_eq!(
                (is_compacted, is_aborted),
                (percent(decision) >= MOST, percent(decision) < MOST)
            );
            compactions += follows.matches("Compacting heap...\n").count() as u64;
            decisions += 1;
        }
        assert_eq!(
            (compactions, decisions),
            (stat.compactions, stat.forced_major_collections)
        );
        assert!(compactions > 0, "{text}");
        drop(kept);
    });
}

/// A cycle starts in a heap with many free blocks, which the program fills before its end.
#[test]
fn a_compaction_that_another_cycle_calls_off_is_reported() {
    const MOST: u64 = 1000;
    let letters = [(OcamlLetter::MaxOverhead, 1_000_000), (OcamlLetter::Increment, 0)];
    with_letters(&letters, 0x210, |m, paper| {
        let garbage: Vec<_> = (0..20_000).map(|_| array(m, 64)).collect();
        m.gc().expect("ocaml").full_major();
        drop(garbage);
        let mut gc = m.gc().expect("ocaml");
        (0..3).for_each(|_| gc.full_major());
        let control = gc.get();
        let other = Control {
            max_overhead: MOST,
            ..control
        };
        gc.set(other).expect("legal");
        gc.major_slice(0);
        paper.take();
        let kept: Vec<_> = (0..15_000).map(|_| array(m, 64)).collect();
        let text = paper.take();
        let said: Vec<_> = parts(&text, "Automatic compaction triggered.\nCurrent overhead: ").collect();
        assert_eq!(said.len(), 1, "{text}");
        let (number, rest) = said[0].split_once('%').expect("a percentage");
        assert!(number.parse::<u64>().expect("a number") < MOST, "{text}");
        assert!(rest.starts_with("\nAutomatic compaction aborted.\n"), "{text}");
        assert_eq!(m.gc().expect("ocaml").quick_stat().compactions, 0);
        drop(kept);
    });
}
