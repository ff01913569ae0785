//! The messages about the sizes of slices (0x040).

use super::{array, names, with_messages};
use gclab_collectors::ocaml::{Control, GcModule};

#[test]
fn the_size_of_a_slice_is_reported() {
    with_messages(0x040, |m, paper| {
        let kept: Vec<_> = (0..100).map(|_| array(m, 64)).collect();
        let mut gc = m.gc().expect("ocaml");
        // No cycle is running, so the slice is automatic, whatever the program asks for.
        gc.major_slice(0);
        let text = paper.take();
        let begins = "ordered work = -1 words\nallocated_words = 1000\nextra_heap_resources = 0u\nraw work-to-do = ";
        assert!(text.starts_with(begins), "{text}");
        assert!(text.ends_with("work-done = 0u\n"), "{text}");
        let share = [
            "ordered work =",
            "allocated_words =",
            "extra_heap_resources =",
            "raw work-to-do =",
            "work backlog =",
            "filtered work-to-do =",
        ];
        assert_eq!(names(&text), [&share[..], &["work-done ="]].concat());
        gc.major_slice(1000);
        let text = paper.take();
        let marks = ["computed work =", "Marking", "Subphase =", "work-done ="];
        assert_eq!(names(&text), [&share[..], &marks].concat());
        let heap = gc.quick_stat().heap_words as f64;
        let done = 1000.0 * 3.0 * 200.0 / heap / 100.0 / 2.0;
        let work = (done * heap * 250.0 / 200.0) as i64;
        let expected = format!(
            "filtered work-to-do = {0}u\ncomputed work = {work} words\nMarking {work} words\nSubphase = 10\nwork-done = {0}u\n",
            (done * 1e6) as i64
        );
        assert!(text.ends_with(&expected), "{text}{expected}");
        // Each request ends a cycle and starts the next one.
        let (all, begins) = (i64::MAX, [&share[..], &["work-done ="]].concat());
        gc.major();
        let text = paper.take();
        let next = text.strip_prefix(&format!("Sweeping {all} words\n")).expect(&text);
        assert_eq!(names(next), begins);
        gc.major();
        let text = paper.take();
        let whole = format!("Marking {all} words\nSubphase = 10\nSweeping {all} words\n");
        assert_eq!(names(text.strip_prefix(&whole).expect(&text)), begins);
        drop(kept);
    });
}

/// As in OCaml, a slice follows each cycle that the program requests, except between the two of a
/// policy change. OCaml 4.13 prints the same lines for the same program.
#[test]
fn a_slice_between_two_cycles_is_reported() {
    with_messages(0x041, |m, paper| {
        let kept = array(m, 64);
        let mut gc = m.gc().expect("ocaml");
        let all = i64::MAX;
        let sweeps = format!("Sweeping {all} words\n");
        let rest = format!("Marking {all} words\nSubphase = 10\n{sweeps}");
        let begins = "Starting new major GC cycle\n";
        // Without the shares, which depend on earlier work.
        let lines = |text: String| {
            let is_share = |line: &&str| line.contains("work-to-do") || line.contains("backlog");
            let lines = text.split_inclusive('\n').filter(|line| !is_share(line));
            lines.collect::<String>()
        };
        let slice = format!(
            "ordered work = -1 words\nallocated_words = 0\nextra_heap_resources = 0u\n{begins}work-done = 0u\n"
        );
        gc.major_slice(0);
        paper.take();
        gc.full_major();
        let twice = format!("{rest}{slice}{rest}{slice}");
        assert_eq!(
            lines(paper.take()),
            format!("Full major GC cycle (requested by user)\n{twice}")
        );
        gc.major_slice(0);
        assert!(paper.take().contains("Marking"));
        let control = gc.get();
        let other = Control {
            allocation_policy: 0,
            ..control
        };
        gc.set(other).expect("legal");
        let changing = "Full major GC cycle (changing allocation policy)\n";
        assert_eq!(lines(paper.take()), format!("{changing}{sweeps}{begins}{rest}{slice}"));
        drop(kept);
    });
}
