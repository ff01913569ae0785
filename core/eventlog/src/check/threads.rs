//! Rules for threads and tasks, which migrate between capabilities.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::event::Event;
use crate::kinds::number::*;

/// Limit on threads, and on tasks, followed at a time: some 40 MiB.
const MOST: usize = 1 << 20;

/// The status of a thread that has finished.
const FINISHED: u64 = 5;

/// The threads and tasks alive.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The capability that runs a thread; `None` if none does.
    threads: HashMap<u64, Option<u16>>,
    /// The thread that runs on a capability.
    running: HashMap<u16, u64>,
    tasks: HashSet<u64>,
}

/// The rule broken, and how.
type Broken = Option<(&'static str, String)>;

impl Threads {
    /// Checks an event.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Broken {
        let [first, second] = event.numbers();
        let (first, cap) = (first?, event.cap());
        match (event.known(), cap) {
            (CREATE_THREAD, _) => self.create(first),
            (RUN_THREAD, Some(cap)) => self.run(first, cap),
            (STOP_THREAD, Some(cap)) => self.stop(first, cap, second == Some(FINISHED)),
            (MIGRATE_THREAD | THREAD_RUNNABLE | THREAD_WAKEUP, _) => self.known(first, event),
            (TASK_CREATE, _) => {
                let is_new = self.tasks.len() >= MOST || self.tasks.insert(first);
                (!is_new).then(|| ("a task is created once", format!("task {first:#x} is created again")))
            }
            (TASK_MIGRATE, _) if !self.tasks.contains(&first) && self.tasks.len() < MOST => Some((
                "tasks are created first",
                format!("task {first:#x} migrates, but was not created"),
            )),
            (TASK_DELETE, _) => {
                let was_there = self.tasks.remove(&first) || self.tasks.len() >= MOST;
                let text = || format!("task {first:#x} is deleted, but was not created");
                (!was_there).then(|| ("tasks are created first", text()))
            }
            _ => None,
        }
    }

    fn create(&mut self, thread: u64) -> Broken {
        if self.threads.len() >= MOST {
            return None;
        }
        let before = self.threads.insert(thread, None);
        before.map(|_| ("a thread is created once", format!("thread {thread} is created again")))
    }

    fn run(&mut self, thread: u64, cap: u16) -> Broken {
        let is_full = self.threads.len() >= MOST;
        let busy = self.running.insert(cap, thread);
        let broken = match self.threads.entry(thread) {
            Entry::Vacant(_) if is_full => return None,
            Entry::Vacant(entry) => {
                entry.insert(Some(cap));
                let text = format!("thread {thread} runs, but was not created or has finished");
                Some(("threads run between their creation and their end", text))
            }
            Entry::Occupied(mut entry) => entry.insert(Some(cap)).map(|other| {
                let text = format!("thread {thread} runs, but is already running on cap {other}");
                ("a thread runs once at a time", text)
            }),
        };
        let busy = busy.filter(|other| *other != thread && broken.is_none());
        broken.or(busy.map(|other| {
            let text = format!("thread {thread} runs, but thread {other} has not stopped");
            ("a capability runs one thread at a time", text)
        }))
    }

    fn stop(&mut self, thread: u64, cap: u16, finished: bool) -> Broken {
        let ran = self.running.remove(&cap) == Some(thread);
        if finished {
            self.threads.remove(&thread);
        } else if let Some(runs) = self.threads.get_mut(&thread) {
            *runs = None;
        }
        let text = || format!("thread {thread} stops, but was not running here");
        (!ran).then(|| ("threads stop where they run", text()))
    }

    fn known(&self, thread: u64, event: &Event<'_>) -> Broken {
        let known = self.threads.contains_key(&thread) || self.threads.len() >= MOST;
        let name = event.kind().map_or("", |kind| kind.name);
        let text = || format!("{name} of thread {thread}, which was not created or has finished");
        (!known).then(|| ("threads run between their creation and their end", text()))
    }
}
