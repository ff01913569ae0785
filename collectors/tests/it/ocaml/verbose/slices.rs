//! The messages about the size of slices (0x040).

use super::{array, names, with_messages};
use gclab_collectors::ocaml::{Control, GcModule};

#[test]
fn the_size_of_a_slice_is_reported() {
    with_messages(0x040, |m, paper| {
        let kept: Vec<_> = (0..100).map(|_| array(m, 64)).collect();
        let mut gc = m.gc().expect("ocaml");
        // No cycle is under way: the slice is automatic, whatever the program asks for.
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
        let all = i64::MAX;
        gc.major();
        assert_eq!(paper.take(), format!("Sweeping {all} words\n"));
        gc.major();
        assert_eq!(
            paper.take(),
            format!("Marking {all} words\nSubphase = 10\nSweeping {all} words\n")
        );
        drop(kept);
    });
}

/// As in OCaml, a slice comes between the rest of a cycle and the whole one after it, unless the
/// policy changes. In OCaml 4.13 the same program prints the same lines.
#[test]
fn a_slice_between_two_cycles_is_reported() {
    with_messages(0x041, |m, paper| {
        let kept = array(m, 64);
        let mut gc = m.gc().expect("ocaml");
        let all = i64::MAX;
        let rest = format!("Marking {all} words\nSubphase = 10\nSweeping {all} words\n");
        gc.major_slice(0);
        paper.take();
        gc.full_major();
        let text = paper.take();
        let (first, second) = text.split_once("ordered work = -1 words\n").expect("a slice");
        assert_eq!(first, format!("Full major GC cycle (requested by user)\n{rest}"));
        let slice = "allocated_words = 0\nextra_heap_resources = 0u\nraw work-to-do = 0u\nwork backlog = 0u\n";
        let begins = "Starting new major GC cycle\n";
        let (slice_is_first, second) = (second.starts_with(slice), second.split_once(begins));
        assert!(slice_is_first, "{text}");
        assert_eq!(second.expect("a cycle").1, format!("work-done = 0u\n{rest}"));
        gc.major_slice(0);
        paper.take();
        let control = gc.get();
        let other = Control {
            allocation_policy: 0,
            ..control
        };
        gc.set(other).expect("legal");
        let changing = "Full major GC cycle (changing allocation policy)\n";
        assert_eq!(paper.take(), format!("{changing}{rest}{begins}{rest}"));
        drop(kept);
    });
}
