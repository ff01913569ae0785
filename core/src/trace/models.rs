//! Models for loom (`.ci/loom`): what threads of a collection do to each other, in every order that the memory model allows, up to a number of
//! preemptions where there are too many. [`Exchange`] and [`ClosureRef`] are the real ones, queues are those of `crate::sync::deque`; closures,
//! copies and places are cells of loom's, which find out if two threads are at one at a time, or one sees what it need not see.

use super::exchange::{Exchange, Searches};
use crate::closure::{ClosureRef, Header};
use crate::space::set_bits;
use crate::sync::Ordering::Relaxed;
use crate::sync::deque::Worker;
use crate::sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex};
use loom::cell::UnsafeCell;
use loom::thread;

/// Pieces that each piece makes when it is done.
type Makes = &'static [&'static [usize]];

/// A balanced shift.
struct Shift {
    exchange: Exchange<usize>,
    makes: Makes,
    /// What lies in the memory of each piece: 1 when it is offered, 2 when it is done.
    memory: Vec<UnsafeCell<u32>>,
    /// What a thread has to itself while it is busy: pieces that it did.
    places: Vec<(UnsafeCell<usize>, Worker<usize>)>,
}

// SAFETY: cells are used as in the real one, and loom finds out if that is wrong. Workers' ends are used by their threads alone.
unsafe impl Sync for Shift {}
// SAFETY: as above.
unsafe impl Send for Shift {}

impl Shift {
    /// The first thread has piece 0 in its queue.
    fn new(threads: usize, makes: Makes) -> Arc<Self> {
        let queues: Vec<_> = (0..threads).map(|_| Worker::new_lifo()).collect();
        let shift = Shift {
            exchange: Exchange::new(queues.iter().map(Worker::stealer).collect(), 1),
            makes,
            memory: makes.iter().map(|_| UnsafeCell::new(0)).collect(),
            places: queues.into_iter().map(|queue| (UnsafeCell::new(0), queue)).collect(),
        };
        shift.offer(0, 0);
        Arc::new(shift)
    }

    fn offer(&self, number: usize, piece: usize) {
        self.memory[piece].with_mut(|memory| {
            // SAFETY: loom checks that nobody else is there.
            assert_eq!(unsafe { memory.replace(1) }, 0)
        });
        self.places[number].1.push(piece);
        self.exchange.offer();
    }

    /// As `Copier::scavenge_shared`.
    fn scavenge(&self, number: usize, first: Option<usize>) {
        let mut next = first.or_else(|| self.places[number].1.pop());
        while let Some(piece) = next {
            // SAFETY: loom checks that nobody else is there.
            self.memory[piece].with_mut(|memory| assert_eq!(unsafe { memory.replace(2) }, 1));
            // SAFETY: as above.
            self.places[number].0.with_mut(|done| unsafe { *done += 1 });
            for &made in self.makes[piece] {
                self.offer(number, made);
            }
            next = self.places[number].1.pop();
        }
    }

    fn help_out(&self, number: usize) {
        let (mut chance, mut searches) = (number as u64 + 1, Searches::default());
        while let Some(piece) = self.exchange.next(&mut chance, &mut searches) {
            self.scavenge(number, Some(piece));
            self.exchange.rest();
        }
    }

    fn take_part(&self, number: usize) {
        self.exchange.come();
        self.help_out(number);
    }

    /// The first thread's part; the others may be anywhere when it is over.
    fn lead(&self) {
        self.scavenge(0, None);
        self.exchange.rest();
        self.help_out(0);
        self.is_all_done();
    }

    fn is_all_done(&self) {
        let mut done = 0;
        for (place, queue) in &self.places {
            assert!(queue.is_empty(), "a piece is left");
            // SAFETY: loom checks that nobody writes it.
            done += place.with(|place| unsafe { *place });
        }
        assert_eq!(done, self.makes.len());
        for memory in &self.memory {
            // SAFETY: as above.
            assert_eq!(memory.with(|memory| unsafe { *memory }), 2);
        }
    }
}

/// Every order with at most so many preemptions; every one at all if there is no number.
fn model(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.max_branches = 100_000;
    model.check(body);
}

/// Of `threads` the first `come` take part.
fn end(threads: usize, come: usize, makes: Makes, preemptions: Option<usize>) {
    model(preemptions, move || {
        let shift = Shift::new(threads, makes);
        let helpers: Vec<_> = (1..come)
            .map(|number| {
                let shift = Arc::clone(&shift);
                thread::spawn(move || shift.take_part(number))
            })
            .collect();
        shift.lead();
        for helper in helpers {
            helper.join().unwrap();
        }
        shift.is_all_done();
    });
}

#[test]
fn two_threads_end_when_all_is_done() {
    end(2, 2, &[&[1], &[]], Some(3));
}

#[test]
fn two_threads_share_what_pieces_make() {
    end(2, 2, &[&[1, 2], &[], &[3], &[]], Some(2));
}

#[test]
fn three_threads_end_when_all_is_done() {
    end(3, 3, &[&[1], &[]], Some(2));
}

#[test]
fn who_never_comes_is_not_waited_for() {
    end(3, 2, &[&[1], &[]], Some(2));
}

/// The first thread waits for the other one to do what it offers: a deadlock if that is not woken.
#[test]
fn who_sleeps_is_woken_by_an_offer() {
    model(Some(3), || {
        let shift = Shift::new(2, &[&[1], &[]]);
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let helper = {
            let (shift, done) = (Arc::clone(&shift), Arc::clone(&done));
            thread::spawn(move || {
                shift.exchange.come();
                let piece = shift.exchange.next(&mut 1, &mut Searches::default());
                shift.scavenge(1, piece);
                *done.0.lock() = true;
                done.1.notify_one();
                shift.exchange.rest();
                shift.help_out(1);
            })
        };
        let mut is_done = done.0.lock();
        while !*is_done {
            done.1.wait(&mut is_done);
        }
        drop(is_done);
        shift.lead();
        helper.join().unwrap();
    });
}

/// A shift without load balancing: each task is done by one, and by the first thread if its owner does not come.
fn tasks(come: usize) {
    const TASKS: usize = 2;
    struct Tasks {
        exchange: Exchange<usize>,
        tasks: Vec<(AtomicBool, UnsafeCell<usize>)>,
    }
    impl Tasks {
        /// As `Shift::do_tasks`.
        fn work(&self, whose: impl Fn(usize) -> bool) {
            for (_, (taken, task)) in self.tasks.iter().enumerate().filter(|(index, _)| whose(*index)) {
                if taken.swap(true, Relaxed) {
                    continue;
                }
                self.exchange.take_task();
                // SAFETY: loom checks that nobody else is there.
                task.with_mut(|task| unsafe { *task += 1 });
                self.exchange.rest();
            }
        }
    }
    model(None, move || {
        let shift = Arc::new(Tasks {
            exchange: Exchange::new(
                vec![Worker::new_lifo().stealer(), Worker::new_lifo().stealer()],
                1 + TASKS,
            ),
            tasks: (0..TASKS)
                .map(|_| (AtomicBool::new(false), UnsafeCell::new(0)))
                .collect(),
        });
        let helper = (come == 2).then(|| {
            let shift = Arc::clone(&shift);
            thread::spawn(move || {
                shift.exchange.come();
                shift.work(|index| index % 2 == 1);
            })
        });
        shift.exchange.rest();
        shift.work(|index| index.is_multiple_of(2));
        shift.work(|_| true);
        shift.exchange.wait_for_end();
        for (_, task) in &shift.tasks {
            // SAFETY: as above.
            assert_eq!(task.with(|task| unsafe { *task }), 1);
        }
        if let Some(helper) = helper {
            helper.join().unwrap();
        }
    });
}

#[test]
fn each_task_is_done_once() {
    tasks(2);
}

#[test]
fn tasks_of_who_does_not_come_are_done() {
    tasks(1);
}

/// Copying and forwarding as `Copier::copy` does in parallel: one copy is the closure's, all find it, and see what is in it.
fn race(threads: usize) {
    struct Closure {
        header: AtomicU64,
        /// Each thread's copy, whose address is 8 times its number.
        copies: Vec<UnsafeCell<u64>>,
    }
    impl Closure {
        /// What a slot holds that a thread evacuated, 0 if its own copy was given up.
        fn evacuate(&self, number: usize) -> u64 {
            let closure = ClosureRef((&raw const self.header).cast_mut().cast());
            // SAFETY: the atomic stands for a closure's first word.
            let header = unsafe { closure.shared_header() };
            if !header.is_header() {
                return header.0;
            }
            // SAFETY: loom checks that nobody reads it meanwhile.
            self.copies[number].with_mut(|copy| unsafe { *copy = 42 });
            // SAFETY: as above.
            match unsafe { closure.forward_shared(header, 8 * number as u64 + 8) } {
                Ok(()) => 8 * number as u64 + 8,
                Err(other) => other,
            }
        }

        fn follow(&self, address: u64) -> u64 {
            // SAFETY: loom checks that nobody writes it meanwhile.
            self.copies[address as usize / 8 - 1].with(|copy| unsafe { *copy })
        }
    }
    model(None, move || {
        let header = AtomicU64::new(Header(1).0);
        let copies = (0..threads).map(|_| UnsafeCell::new(0)).collect();
        let closure = Arc::new(Closure { header, copies });
        let others: Vec<_> = (1..threads)
            .map(|number| {
                let closure = Arc::clone(&closure);
                thread::spawn(move || {
                    let address = closure.evacuate(number);
                    assert_eq!(closure.follow(address), 42);
                    address
                })
            })
            .collect();
        let address = closure.evacuate(0);
        assert_eq!(closure.follow(address), 42);
        for other in others {
            assert_eq!(other.join().unwrap(), address);
        }
    });
}

#[test]
fn two_threads_evacuate_one_closure() {
    race(2);
}

#[test]
fn three_threads_evacuate_one_closure() {
    race(3);
}

/// Closures that have bits in one entry of a table, as marking in parallel sets them: each is scanned by one, and no bit gets lost.
fn marks(threads: usize) {
    /// Their words.
    const CLOSURES: [u64; 2] = [0b0_0111, 0b1_1000];
    struct Entry {
        bits: AtomicU64,
        scanned: [UnsafeCell<u32>; 2],
    }
    impl Entry {
        fn mark(&self) {
            for (bits, scanned) in CLOSURES.into_iter().zip(&self.scanned) {
                // SAFETY: the atomic stands for an entry.
                let before = unsafe { set_bits::<true>((&raw const self.bits).cast(), bits) };
                if before >> bits.trailing_zeros() & 1 == 0 {
                    // SAFETY: loom checks that nobody else is there.
                    scanned.with_mut(|scanned| unsafe { *scanned += 1 });
                }
            }
        }
    }
    model(None, move || {
        let entry = Arc::new(Entry {
            bits: AtomicU64::new(0),
            scanned: [UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let entry = Arc::clone(&entry);
                thread::spawn(move || entry.mark())
            })
            .collect();
        entry.mark();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(entry.bits.load(Relaxed), CLOSURES[0] | CLOSURES[1]);
        for scanned in &entry.scanned {
            // SAFETY: the others have ended.
            assert_eq!(scanned.with(|scanned| unsafe { *scanned }), 1);
        }
    });
}

#[test]
fn two_threads_mark_neighbours() {
    marks(2);
}

#[test]
fn three_threads_mark_neighbours() {
    marks(3);
}
