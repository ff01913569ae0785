//! `Gc.set`: new parameters, while the program runs.

use super::gc_module::{MINOR, allocate, with_module, world};
use crate::basics::config;
use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule, InvalidControl};
use gclab_core::config::Config;
use gclab_core::words::Bytes;

#[test]
fn new_parameters_apply_and_invalid_ones_change_nothing() {
    with_module(|m| {
        let kept = allocate(m, 1000, 10);
        let mut gc = m.gc().expect("ocaml");
        let control = gc.get();
        assert_eq!((control.minor_heap_size, control.stack_limit), (MINOR, 1 << 20));
        assert_eq!((control.custom_major_ratio, control.custom_minor_ratio), (44, 100));
        let other = Control {
            minor_heap_size: 2 * MINOR,
            major_heap_increment: 40_000,
            space_overhead: 200,
            verbose: 0x100,
            max_overhead: 1_000_000,
            stack_limit: 4096,
            allocation_policy: 0,
            window_size: 5,
            custom_major_ratio: 50,
            custom_minor_ratio: 60,
            custom_minor_max_size: 70,
        };
        gc.set(other).expect("legal");
        assert_eq!(gc.get(), other);
        assert_eq!(gc.get_minor_free(), 2 * MINOR);
        let error = gc.set(Control {
            allocation_policy: 3,
            ..control
        });
        let refused = InvalidControl {
            field: "allocation_policy",
            value: 3,
            least: 0,
            most: 2,
        };
        assert_eq!(error, Err(refused));
        assert_eq!(refused.to_string(), "Gc.set: allocation_policy is 3, expected 0 to 2");
        for wrong in [
            Control {
                minor_heap_size: 1,
                ..control
            },
            Control {
                space_overhead: 0,
                ..control
            },
            Control {
                verbose: 0x800,
                ..control
            },
            Control {
                window_size: 51,
                ..control
            },
            Control {
                custom_minor_max_size: 0,
                ..control
            },
        ] {
            gc.set(wrong).expect_err("out of range");
        }
        assert_eq!(gc.get(), other);
        drop(kept);
    });
}

/// `-A` has a wider range than `s`, so the current size may be one that a program cannot choose.
#[test]
fn current_parameters_are_always_legal() {
    for area in [8 << 10, 20_003, 4 << 30] {
        let config = Config {
            max_heap: Some(Bytes::mib(64)),
            ..config::<Ocaml>(area)
        };
        let world = world(&config);
        let ran = world.enter(|m| {
            let kept = allocate(m, 100, 10);
            let mut gc = m.gc().expect("ocaml");
            let (control, stat, free) = (gc.get(), gc.stat(), gc.get_minor_free());
            gc.set(control).unwrap_or_else(|error| panic!("-A{area}: {error}"));
            assert_eq!((gc.get(), gc.stat(), gc.get_minor_free()), (control, stat, free));
            let other = Control {
                space_overhead: 90,
                ..control
            };
            gc.set(other).expect("legal beside it");
            assert_eq!((gc.get(), gc.get_minor_free()), (other, free));
            let wrong = Control {
                minor_heap_size: control.minor_heap_size + (1 << 30),
                ..control
            };
            assert_eq!(gc.set(wrong).map_err(|error| error.field), Err("minor_heap_size"));
            drop(kept);
        });
        ran.expect("room enough");
    }
}

/// In OCaml 4.13 the first minor collection comes after as many words.
#[test]
fn a_new_minor_heap_is_used_up_before_its_first_collection() {
    with_module(|m| {
        let mut gc = m.gc().expect("ocaml");
        let control = gc.get();
        let larger = Control {
            minor_heap_size: 2 * MINOR,
            ..control
        };
        gc.set(larger).expect("legal");
        let before = gc.quick_stat();
        let used = loop {
            allocate(m, 1, 8);
            let stat = m.gc().expect("ocaml").quick_stat();
            if stat.minor_collections > before.minor_collections {
                break stat.minor_words - before.minor_words;
            }
        };
        assert_eq!(used, 2.0 * MINOR as f64 + 8.0);
    });
}

#[test]
fn the_allocation_policy_changes_while_the_program_runs() {
    for stress in [None, Some(1)] {
        let config = Config {
            stress,
            ..config::<Ocaml>(MINOR as usize * 8)
        };
        let world = world(&config);
        let ran = world.enter(|m| {
            let mut kept = Vec::new();
            for policy in [0, 1, 2, 0, 2, 1] {
                let mut gc = m.gc().expect("ocaml");
                let control = gc.get();
                gc.set(Control {
                    allocation_policy: policy,
                    ..control
                })
                .expect("legal");
                for words in 3..60 {
                    kept.push(allocate(m, 2, words));
                }
                // Every other one becomes a free block.
                let mut place = 0;
                kept.retain(|_| {
                    place += 1;
                    place % 2 == 0
                });
                let mut gc = m.gc().expect("ocaml");
                gc.full_major();
                let stat = gc.stat();
                assert_eq!(stat.live_blocks, kept.len() as u64);
                assert_eq!(stat.live_words + stat.free_words + stat.fragments, stat.heap_words);
            }
            for array in &kept {
                assert!(array.open(m).as_slice().iter().all(|byte| *byte == 1));
            }
        });
        ran.expect("room enough");
    }
}

#[test]
fn threads_ask_and_set_while_others_run() {
    let config = Config {
        capabilities: 3,
        ..config::<Ocaml>(MINOR as usize * 8)
    };
    let world = world(&config);
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let world = &world;
            scope.spawn(move || {
                let ran = world.enter(|m| {
                    for round in 0..50 {
                        let kept = allocate(m, 100, 12);
                        let mut gc = m.gc().expect("ocaml");
                        let control = gc.get();
                        let policy = (round + thread) % 3;
                        gc.set(Control {
                            allocation_policy: policy,
                            ..control
                        })
                        .expect("legal");
                        let stat = gc.stat();
                        assert_eq!(stat.live_words + stat.free_words + stat.fragments, stat.heap_words);
                        assert!(kept.open(m).as_slice().iter().all(|byte| *byte == 1));
                    }
                });
                ran.expect("room enough");
            });
        }
    });
}
