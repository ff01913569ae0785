//! Finalisers and alarms by their names in the module `Gc`.

use super::gc_module::{allocate, with_module};
use gclab_collectors::ocaml::{Control, GcModule, GcView};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// As in OCaml, it rings after marking, before the sweep.
#[test]
fn an_alarm_rings_in_each_cycle_of_slices() {
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
        let cycles = after.major_collections - before;
        assert!(
            (cycles..=cycles + 1).contains(&rings.load(Relaxed)),
            "{rings:?} in {cycles}"
        );
        m.delete_alarm(alarm);
    });
}

/// What finalisers and alarms recorded.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<&'static str>>>);

impl Notes {
    fn add(&self, text: &'static str) -> impl FnMut() + Send + 'static {
        let notes = Arc::clone(&self.0);
        move || notes.lock().expect("sound").push(text)
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().expect("sound"))
    }
}

/// OCaml 4.13.1 prints the same for the same program. What finalisers and alarms are ready to run
/// for when a cycle starts, that cycle does not find again.
#[test]
fn finalisers_and_alarms_run_in_the_order_of_ocaml() {
    with_module(|m| {
        let notes = Notes::default();
        m.gc().expect("ocaml").full_major();
        let [s, t, u] = [1, 2, 3].map(|_| allocate(m, 1, 10));
        let mut gc = m.gc().expect("ocaml");
        let (mut first, mut last) = (notes.add("first 1"), notes.add("last 1"));
        gc.finalise(move |_, _| first(), &s);
        gc.finalise_last(move |_| last(), &s);
        let mut ring = notes.add("alarm");
        let alarm = gc.create_alarm(move |_| ring());
        let (mut first, mut last) = (notes.add("first 2"), notes.add("last 2"));
        gc.finalise(move |_, _| first(), &t);
        gc.finalise_last(move |_| last(), &u);
        drop((s, t, u));
        let mut gc = m.gc().expect("ocaml");
        gc.minor();
        assert_eq!((notes.take(), gc.quick_stat().major_collections), (vec!["last 2"], 2));
        gc.full_major();
        assert_eq!(notes.take(), ["first 2", "alarm", "first 1"]);
        gc.full_major();
        assert_eq!(notes.take(), ["alarm", "last 1"]);
        gc.full_major();
        assert_eq!(notes.take(), ["alarm"]);
        gc.major();
        assert!(notes.take().is_empty());
        gc.major();
        gc.major_slice(0);
        assert_eq!(notes.take(), ["alarm"]);
        gc.full_major();
        assert_eq!(notes.take(), ["alarm"]);
        gc.delete_alarm(alarm.clone());
        gc.delete_alarm(alarm);
        gc.full_major();
        assert!(notes.take().is_empty());
        gc.eventlog_pause();
        gc.eventlog_resume();
    });
}

#[test]
fn a_finaliser_that_releases_lets_others_run_inside_it() {
    with_module(|m| {
        let notes = Notes::default();
        let closure = allocate(m, 1, 10);
        let mut gc = GcModule::gc(m).expect("ocaml");
        let (mut inner, mut outer) = (notes.add("inside"), notes.add("released"));
        gc.finalise(move |_, _| inner(), &closure);
        gc.finalise(
            move |m, closure| {
                assert_eq!(closure.open(m).as_slice(), [1; 64]);
                let mut gc = GcModule::gc(m).expect("ocaml");
                gc.finalise_release();
                gc.minor();
                outer();
            },
            &closure,
        );
        gc.full_major();
        assert!(notes.take().is_empty(), "the handle keeps the closure");
        drop(closure);
        GcModule::gc(m).expect("ocaml").full_major();
        assert_eq!(notes.take(), ["inside", "released"]);
    });
}

#[test]
fn a_view_has_the_functions_of_finalisers() {
    with_module(|m| {
        let notes = Notes::default();
        let (view, closure) = m.with_view(|m| m.alloc_bytes(b"x"));
        let gc = view.gc().expect("ocaml");
        let (mut first, mut last, mut ring) = (notes.add("first"), notes.add("last"), notes.add("alarm"));
        let rings = gc.create_alarm(move |_| ring());
        gc.finalise_last(move |_| last(), closure);
        gc.finalise(
            move |m, closure| {
                assert_eq!(closure.open(m).as_slice(), b"x");
                GcView::gc(&**m).expect("ocaml").finalise_release();
                first();
            },
            closure,
        );
        GcModule::gc(m).expect("ocaml").full_major();
        assert_eq!(notes.take(), ["first", "alarm"]);
        GcView::gc(&**m).expect("ocaml").delete_alarm(rings);
        GcModule::gc(m).expect("ocaml").full_major();
        assert_eq!(notes.take(), ["last"]);
    });
}
