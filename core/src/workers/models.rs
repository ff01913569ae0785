//! Models for loom (`.ci/loom`): the workers of a parallel phase, in every order that the memory
//! model allows, or up to a number of preemptions where there are too many orders.
//!
//! [`WorkPool`] and its termination are the real ones, and queues are those of
//! `crate::sync::deque`. The memory of work items and the slots of workers are loom cells, which
//! detect two threads in one cell at a time, and a read that is not ordered after the write.

use super::pool::{Searches, WorkPool};
use crate::space::set_bits;
use crate::sync::Ordering::Relaxed;
use crate::sync::deque::Worker as Deque;
use crate::sync::{Arc, AtomicBool, AtomicU64, Condvar, Mutex};
use loom::cell::UnsafeCell;
use loom::thread;

/// Items that each item creates when it is done. In a phase with marks an item is a closure, and
/// these are its referents.
type Makes = &'static [&'static [usize]];

/// A phase with load balancing.
struct Phase {
    pool: WorkPool<usize>,
    makes: Makes,
    /// In a phase of marking: the bits of the closures, in one entry of a table.
    marks: Option<AtomicU64>,
    /// The content of the memory of each item: 1 when it is pushed, 2 when it is done.
    memory: Vec<UnsafeCell<u32>>,
    /// A worker's exclusive part while it is busy: the number of items that it did.
    slots: Vec<(UnsafeCell<usize>, Deque<usize>)>,
}

// SAFETY: cells are used as in the real phase, and loom finds out if that is wrong. Each queue's
// own end is used by its worker alone.
unsafe impl Sync for Phase {}
// SAFETY: as above.
unsafe impl Send for Phase {}

impl Phase {
    /// The leader is busy, and has nothing in its queue.
    fn new(workers: usize, makes: Makes) -> Arc<Self> {
        Arc::new(Phase::of(workers, makes))
    }

    fn of(workers: usize, makes: Makes) -> Self {
        let queues: Vec<_> = (0..workers).map(|_| Deque::new_lifo()).collect();
        Phase {
            pool: WorkPool::new(queues.iter().map(Deque::stealer).collect(), 1),
            makes,
            marks: None,
            memory: makes.iter().map(|_| UnsafeCell::new(0)).collect(),
            slots: queues.into_iter().map(|queue| (UnsafeCell::new(0), queue)).collect(),
        }
    }

    /// The leader has item 0 in its queue.
    fn begun(workers: usize, makes: Makes) -> Arc<Self> {
        let phase = Phase::new(workers, makes);
        phase.push(0, 0);
        phase
    }

    /// A phase of marking, in which the leader has found closure 0.
    fn marking(workers: usize, leads_to: Makes) -> Arc<Self> {
        let phase = Arc::new(Phase {
            marks: Some(AtomicU64::new(0)),
            ..Phase::of(workers, leads_to)
        });
        phase.found(0, 0);
        phase
    }

    /// As `MarkLoop::visit`: of the workers that find a closure, one scans it.
    fn found(&self, number: usize, item: usize) {
        let was_marked = self.marks.as_ref().is_some_and(|marks| {
            // SAFETY: the atomic represents an entry.
            let before = unsafe { set_bits::<true>(std::ptr::from_ref(marks).cast(), 1 << item) };
            before >> item & 1 == 1
        });
        if !was_marked {
            self.push(number, item);
        }
    }

    fn push(&self, number: usize, item: usize) {
        self.memory[item].with_mut(|memory| {
            // SAFETY: loom checks that no other thread is there.
            assert_eq!(unsafe { memory.replace(1) }, 0)
        });
        self.slots[number].1.push(item);
        self.pool.termination.work_added();
    }

    /// As `Copier::trace_shared`.
    fn scavenge(&self, number: usize, first: Option<usize>) {
        let mut next = first.or_else(|| self.slots[number].1.pop());
        while let Some(item) = next {
            // SAFETY: loom checks that no other thread is there.
            self.memory[item].with_mut(|memory| assert_eq!(unsafe { memory.replace(2) }, 1));
            // SAFETY: as above.
            self.slots[number].0.with_mut(|done| unsafe { *done += 1 });
            for &made in self.makes[item] {
                self.found(number, made);
            }
            next = self.slots[number].1.pop();
        }
    }

    fn steal_until_terminated(&self, number: usize) {
        let (mut rng, mut searches) = (number as u64 + 1, Searches::default());
        while let Some(item) = self.pool.steal_or_wait(&mut rng, &mut searches) {
            self.scavenge(number, Some(item));
            // SAFETY: it was busy with the item; loom checks what a mistake would do.
            unsafe { self.pool.termination.become_idle() };
        }
    }

    fn help(&self, number: usize) {
        self.pool.termination.enter();
        self.steal_until_terminated(number);
    }

    /// The leader's part. The others may be anywhere when it is over.
    fn lead(&self) {
        self.scavenge(0, None);
        // SAFETY: as above.
        unsafe { self.pool.termination.become_idle() };
        self.steal_until_terminated(0);
        self.assert_all_done();
    }

    fn assert_all_done(&self) {
        assert!(
            self.pool.termination.is_terminated(),
            "a worker became busy after the end"
        );
        let mut done = 0;
        for (slot, queue) in &self.slots {
            assert!(queue.is_empty(), "an item is left");
            // SAFETY: loom checks that no thread writes it.
            done += slot.with(|slot| unsafe { *slot });
        }
        assert_eq!(done, self.makes.len());
        for memory in &self.memory {
            // SAFETY: as above.
            assert_eq!(memory.with(|memory| unsafe { *memory }), 2);
        }
    }
}

/// Checks every order with at most `preemptions` of them; every order at all for `None`.
pub(crate) fn model(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.max_branches = 100_000;
    model.check(body);
}

/// A phase of `workers`, of which the first `entering` enter.
fn terminates(workers: usize, entering: usize, makes: Makes, preemptions: Option<usize>) {
    model(preemptions, move || {
        let phase = Phase::begun(workers, makes);
        let helpers: Vec<_> = (1..entering)
            .map(|number| {
                let phase = Arc::clone(&phase);
                thread::spawn(move || phase.help(number))
            })
            .collect();
        phase.lead();
        for helper in helpers {
            helper.join().unwrap();
        }
        phase.assert_all_done();
    });
}

#[test]
fn two_workers_terminate_when_all_is_done() {
    terminates(2, 2, &[&[1], &[]], Some(3));
}

#[test]
fn two_workers_share_what_items_make() {
    terminates(2, 2, &[&[1, 2], &[], &[3], &[]], Some(2));
}

#[test]
fn three_workers_terminate_when_all_is_done() {
    terminates(3, 3, &[&[1], &[]], Some(2));
}

#[test]
fn a_worker_that_never_enters_is_not_waited_for() {
    terminates(3, 2, &[&[1], &[]], Some(2));
}

/// Marking by several workers: each reachable closure is scanned once, by one of those that find
/// it. So when marking ends, no marked closure points to an unmarked one.
fn marks_all(workers: usize, leads_to: Makes, preemptions: Option<usize>) {
    model(preemptions, move || {
        let phase = Phase::marking(workers, leads_to);
        let helpers: Vec<_> = (1..workers)
            .map(|number| {
                let phase = Arc::clone(&phase);
                thread::spawn(move || phase.help(number))
            })
            .collect();
        phase.lead();
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
        phase.assert_all_done();
        let marks = phase.marks.as_ref().expect("it marks").load(Relaxed);
        assert_eq!(marks, (1 << leads_to.len()) - 1);
    });
}

#[test]
fn two_workers_mark_a_closure_that_both_find() {
    marks_all(2, &[&[1, 2], &[3], &[3], &[0]], Some(2));
}

#[test]
fn three_workers_mark_a_circle() {
    marks_all(3, &[&[1], &[0]], Some(2));
}

/// The leader waits for the helper to do the item that it pushes: a deadlock if the helper is not
/// woken (R1, R2).
#[test]
fn a_sleeper_is_woken_by_an_item() {
    model(Some(3), || {
        let phase = Phase::new(2, &[&[1], &[]]);
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let helper = {
            let (phase, done) = (Arc::clone(&phase), Arc::clone(&done));
            thread::spawn(move || {
                phase.pool.termination.enter();
                let item = phase.pool.steal_or_wait(&mut 1, &mut Searches::default());
                phase.scavenge(1, item);
                *done.0.lock() = true;
                done.1.notify_one();
                // SAFETY: as above.
                unsafe { phase.pool.termination.become_idle() };
                phase.steal_until_terminated(1);
            })
        };
        // The helper may be idle, sleepy or asleep by now.
        phase.push(0, 0);
        let mut is_done = done.0.lock();
        while !*is_done {
            done.1.wait(&mut is_done);
        }
        drop(is_done);
        phase.lead();
        helper.join().unwrap();
    });
}

/// A phase without load balancing: each task is done by one worker, by the leader if its owner does
/// not enter (R6).
fn tasks(entering: usize) {
    const TASKS: usize = 2;
    struct Tasks {
        pool: WorkPool<usize>,
        tasks: Vec<(AtomicBool, UnsafeCell<usize>)>,
    }
    impl Tasks {
        /// As `ParallelPhase::run_tasks`.
        fn work(&self, is_mine: impl Fn(usize) -> bool) {
            for (_, (taken, task)) in self.tasks.iter().enumerate().filter(|(index, _)| is_mine(*index)) {
                if taken.swap(true, Relaxed) {
                    continue;
                }
                self.pool.termination.got_task();
                // SAFETY: loom checks that no other thread is there.
                task.with_mut(|task| unsafe { *task += 1 });
                // SAFETY: as above.
                unsafe { self.pool.termination.become_idle() };
            }
        }
    }
    model(None, move || {
        let phase = Arc::new(Tasks {
            pool: WorkPool::new(
                vec![Deque::new_lifo().stealer(), Deque::new_lifo().stealer()],
                1 + TASKS,
            ),
            tasks: (0..TASKS)
                .map(|_| (AtomicBool::new(false), UnsafeCell::new(0)))
                .collect(),
        });
        let helper = (entering == 2).then(|| {
            let phase = Arc::clone(&phase);
            thread::spawn(move || {
                phase.pool.termination.enter();
                phase.work(|index| index % 2 == 1);
            })
        });
        // SAFETY: as above.
        unsafe { phase.pool.termination.become_idle() };
        phase.work(|index| index.is_multiple_of(2));
        phase.work(|_| true);
        phase.pool.termination.wait();
        for (_, task) in &phase.tasks {
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
fn tasks_of_a_worker_that_does_not_enter_are_done() {
    tasks(1);
}
