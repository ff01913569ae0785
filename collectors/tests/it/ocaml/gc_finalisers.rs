//! Finalisers and alarms under the names of the module `Gc`.

use super::gc_module::{allocate, with_module};
use gclab_collectors::ocaml::{Control, GcModule, GcView};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Without requests each cycle ends in a pause of its own.
#[test]
fn an_alarm_rings_at_the_end_of_each_cycle_of_slices() {
    with_module(|m| {
        let rings = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&rings);
        let mut gc = m.gc().expect("ocaml");
        let control = gc.get();
        let never = Control {
            max_overhead: 1_000_000,
            ..control
        };
        gc.set(never).expect("legal");
        let before = gc.quick_stat().major_collections;
        let alarm = m.create_alarm(move |_| _ = count.fetch_add(1, Relaxed));
        let mut kept = Vec::new();
        for number in 0..4000 {
            kept.push(allocate(m, 5, 50));
            if number % 1000 == 999 {
                kept.clear();
            }
        }
        let after = m.gc().expect("ocaml").quick_stat();
        assert_eq!(after.forced_major_collections, 0);
        assert!(after.major_collections > before + 4, "{after:?}");
        assert_eq!(rings.load(Relaxed), after.major_collections - before);
        m.delete_alarm(alarm);
    });
}

#[test]
fn finalisers_and_alarms_have_their_names() {
    with_module(|m| {
        let notes: Arc<Mutex<Vec<&str>>> = Arc::default();
        let noted = |text| {
            let notes = Arc::clone(&notes);
            move || notes.lock().expect("sound").push(text)
        };
        let (first, last, alarm) = (noted("first"), noted("last"), noted("alarm"));
        let (view, closure) = m.with_view(|m| m.alloc_bytes(b"x"));
        let gc = view.gc().expect("ocaml");
        gc.finalise_last(move |_| last(), closure);
        gc.finalise(
            move |m, closure| {
                assert_eq!(closure.open(m).as_slice(), b"x");
                GcView::gc(&**m).expect("ocaml").finalise_release();
                first();
            },
            closure,
        );
        let rings = gc.create_alarm(move |_| alarm());
        let take = || std::mem::take(&mut *notes.lock().expect("sound"));
        GcModule::gc(m).expect("ocaml").full_major();
        assert_eq!(take(), ["first", "alarm"]);
        GcModule::gc(m).expect("ocaml").full_major();
        assert_eq!(take(), ["last", "alarm"]);
        GcView::gc(&**m).expect("ocaml").delete_alarm(rings);
        GcModule::gc(m).expect("ocaml").full_major();
        assert!(take().is_empty());
    });
}

#[test]
fn finalisers_and_alarms_are_functions_of_the_module() {
    with_module(|m| {
        let notes: Arc<Mutex<Vec<&str>>> = Arc::default();
        let noted = |text| {
            let notes = Arc::clone(&notes);
            move || notes.lock().expect("sound").push(text)
        };
        let (released, last, alarm) = (noted("first"), noted("last"), noted("alarm"));
        let inner = noted("inside of first");
        let closure = allocate(m, 1, 10);
        let mut gc = GcModule::gc(m).expect("ocaml");
        gc.finalise_last(move |_| last(), &closure);
        gc.finalise(move |_, _| inner(), &closure);
        gc.finalise(
            move |m, closure| {
                assert_eq!(closure.open(m).as_slice(), [1; 64]);
                let mut gc = GcModule::gc(m).expect("ocaml");
                gc.finalise_release();
                gc.minor();
                released();
            },
            &closure,
        );
        let rings = gc.create_alarm(move |_| alarm());
        let take = || std::mem::take(&mut *notes.lock().expect("sound"));
        gc.full_major();
        assert_eq!(take(), ["alarm"], "the handle keeps the closure");
        drop(closure);
        let mut gc = GcModule::gc(m).expect("ocaml");
        gc.full_major();
        assert_eq!(take(), ["inside of first", "alarm", "first"]);
        gc.full_major();
        assert_eq!(take(), ["last", "alarm"]);
        gc.delete_alarm(rings.clone());
        gc.delete_alarm(rings);
        gc.full_major();
        assert!(take().is_empty());
        gc.eventlog_pause();
        gc.eventlog_resume();
    });
}

/// In OCaml 4.13 the last one runs after the minor collection, too, and the first one only at the
/// end of a cycle.
#[test]
fn finalisers_of_closures_that_died_young_run_after_the_minor_collection() {
    with_module(|m| {
        let notes: Arc<Mutex<Vec<&str>>> = Arc::default();
        let (first, last) = (Arc::clone(&notes), Arc::clone(&notes));
        let closures = [allocate(m, 1, 10), allocate(m, 1, 10)];
        let mut gc = GcModule::gc(m).expect("ocaml");
        gc.finalise(move |_, _| first.lock().expect("sound").push("first"), &closures[0]);
        gc.finalise_last(move |_| last.lock().expect("sound").push("last"), &closures[1]);
        drop(closures);
        let mut gc = GcModule::gc(m).expect("ocaml");
        gc.minor();
        assert_eq!(*notes.lock().expect("sound"), ["first", "last"]);
        assert_eq!(gc.quick_stat().major_collections, 0);
    });
}
