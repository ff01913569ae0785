//! OCaml's module `Gc`: the functions of a program to steer its memory manager and to ask it.
//!
//! [`GcModule::gc`] returns the module of a mutator under the collector `ocaml`. The functions have
//! OCaml's names and meanings. Those of finalisers and alarms are in [`View`], too, which
//! [`GcView::gc`] returns, so that they can be called while there are pointers.

mod control;
mod question;
mod stat;

pub use control::{Control, InvalidControl};
pub(super) use question::{Output, Question};
pub use stat::Stat;

use super::Ocaml;
use super::task::Part;
use gclab_core::closure::Closure;
use gclab_core::collector::Collector;
use gclab_core::mutator::{Alarm, Gc, Handle, MemprofError, Mutator, MutatorKind, NoGc, Request, Tracker};
use gclab_core::words::Words;
use std::fmt;
use std::io::{self, Write};

/// The refusal of the module: the collector of the heap is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOcaml {
    /// The name of the collector.
    pub collector: &'static str,
}

impl fmt::Display for NotOcaml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the module Gc needs the collector {}, but this heap has {}",
            Ocaml::DESCRIPTION.name,
            self.collector
        )
    }
}

impl std::error::Error for NotOcaml {}

/// Gives mutators the module `Gc`.
pub trait GcModule<'h, M: MutatorKind> {
    /// The module.
    ///
    /// # Errors
    /// If the collector is not `ocaml`.
    fn gc(&mut self) -> Result<Module<'_, 'h, M>, NotOcaml>;
}

/// Gives views of mutators the part of the module `Gc` that never collects: finalisers and alarms.
pub trait GcView<'h, M: MutatorKind> {
    /// That part of the module.
    ///
    /// # Errors
    /// If the collector is not `ocaml`.
    fn gc(&self) -> Result<View<'_, 'h, M>, NotOcaml>;
}

fn check<M: MutatorKind>(m: &NoGc<'_, M>) -> Result<(), NotOcaml> {
    let collector = m.collector().name;
    (collector == Ocaml::DESCRIPTION.name)
        .then_some(())
        .ok_or(NotOcaml { collector })
}

impl<'h, M: MutatorKind> GcModule<'h, M> for Mutator<'h, M> {
    fn gc(&mut self) -> Result<Module<'_, 'h, M>, NotOcaml> {
        check(self)?;
        Ok(Module(self))
    }
}

impl<'h, M: MutatorKind> GcView<'h, M> for NoGc<'h, M> {
    fn gc(&self) -> Result<View<'_, 'h, M>, NotOcaml> {
        check(self)?;
        Ok(View(self))
    }
}

/// The module `Gc` of a mutator.
#[derive(Debug)]
pub struct Module<'m, 'h, M: MutatorKind>(&'m mut Mutator<'h, M>);

/// The functions of the module `Gc` for finalisers and alarms, which never collect.
#[derive(Debug)]
pub struct View<'m, 'h, M: MutatorKind>(&'m NoGc<'h, M>);

impl<M: MutatorKind> Module<'_, '_, M> {
    fn ask(&mut self, mut question: Question) -> Question {
        let answered = self.0.ask_collector(&mut question);
        assert!(answered, "the collector is ocaml");
        question
    }

    fn stat_of(&mut self, walk: bool) -> Stat {
        match self.ask(Question::Stat(walk, Stat::default())) {
            Question::Stat(_, stat) => stat,
            question => unreachable!("{question:?}"),
        }
    }

    /// The counters. It looks at every block of the heap.
    pub fn stat(&mut self) -> Stat {
        self.stat_of(true)
    }

    /// As [`Module::stat`], except that the figures of live and free blocks are 0: it looks at no
    /// block.
    pub fn quick_stat(&mut self) -> Stat {
        self.stat_of(false)
    }

    /// `(minor_words, promoted_words, major_words)`.
    pub fn counters(&mut self) -> (f64, f64, f64) {
        let stat = self.quick_stat();
        (stat.minor_words, stat.promoted_words, stat.major_words)
    }

    /// Words allocated in the minor heap since the program was started.
    pub fn minor_words(&mut self) -> f64 {
        self.quick_stat().minor_words
    }

    /// The parameters as they are now.
    pub fn get(&mut self) -> Control {
        match self.ask(Question::Get(None)) {
            Question::Get(Some(control)) => control,
            question => unreachable!("{question:?}"),
        }
    }

    /// Changes the parameters. For a new size of the minor heap there is a minor collection, and
    /// for a new allocation policy a compaction.
    ///
    /// # Errors
    /// If a parameter changes to a value out of its range. Then nothing is changed. (OCaml takes
    /// the nearest legal value, without a word.)
    pub fn set(&mut self, control: Control) -> Result<(), InvalidControl> {
        let before = self.get();
        control.check(&before)?;
        match self.ask(Question::Set(control, None)) {
            Question::Set(_, Some(Request::Compact)) => self.end_cycle(Part::Policy, Request::Compact),
            Question::Set(_, request) => request.into_iter().for_each(|request| self.0.collect(request)),
            question => unreachable!("{question:?}"),
        }
        Ok(())
    }

    /// Has the messages of the collector (`verbose`) go to `out` from now on, in place of standard
    /// error. An error of `out` is ignored.
    pub fn print_messages_to(&mut self, out: impl Write + Send + 'static) {
        self.ask(Question::Messages(Output(Some(Box::new(out)))));
    }

    /// Does a minor collection. A slice comes with it where one is due or no cycle is under way.
    pub fn minor(&mut self) {
        self.0.collect(Request::Minor);
    }

    /// Does a slice of the cycle under way: as much work as frees `n` words on average; with 0 as
    /// much as the next automatic slice would have. Where no cycle is under way, does a minor
    /// collection and begins one. Returns 0.
    pub fn major_slice(&mut self, n: usize) -> u64 {
        self.0.collect(Request::Slice(Words(n)));
        0
    }

    /// Does a minor collection and finishes the cycle under way; where none is, does a whole one. Then
    /// the next cycle begins, and the finalisers run that are ready.
    pub fn major(&mut self) {
        self.end_cycle(Part::Major, Request::Cycle);
    }

    /// As [`Module::major`], twice.
    pub fn full_major(&mut self) {
        self.in_halves(Request::Full);
    }

    /// As [`Module::full_major`], and compacts the major heap.
    pub fn compact(&mut self) {
        self.in_halves(Request::Compact);
    }

    fn in_halves(&mut self, request: Request) {
        self.end_cycle(Part::FirstHalf, request);
        self.end_cycle(Part::SecondHalf, request);
    }

    fn end_cycle(&mut self, part: Part, request: Request) {
        self.ask(Question::Part(part));
        self.0.collect(request);
    }

    /// Prints the counters, in the words of OCaml.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print_stat(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.stat().print(out)
    }

    /// Bytes allocated since the program was started.
    pub fn allocated_bytes(&mut self) -> f64 {
        let (minor, promoted, major) = self.counters();
        (minor + major - promoted) * 8.0
    }

    /// The free words of the minor heap.
    pub fn get_minor_free(&mut self) -> u64 {
        match self.ask(Question::MinorFree(0)) {
            Question::MinorFree(words) => words,
            question => unreachable!("{question:?}"),
        }
    }

    /// The work of the `n`-th bucket of the window from now on, in millionths of a cycle; 0 beyond
    /// the window.
    pub fn get_bucket(&mut self, n: usize) -> u64 {
        match self.ask(Question::Bucket(n, 0)) {
            Question::Bucket(_, work) => work,
            question => unreachable!("{question:?}"),
        }
    }

    /// The work that was done in advance, in millionths of a cycle.
    pub fn get_credit(&mut self) -> u64 {
        match self.ask(Question::Credit(0)) {
            Question::Credit(work) => work,
            question => unreachable!("{question:?}"),
        }
    }

    /// How often huge pages were asked for and small ones used: always 0, since the heap leaves the
    /// choice to the system.
    pub fn huge_fallback_count(&mut self) -> u64 {
        0
    }

    /// Registers `f` as a finaliser of `closure`: see [`NoGc::finalise`]. Once the handle is
    /// dropped it does not keep the closure alive. ([`View::finalise`] takes a pointer.)
    pub fn finalise<T: Closure>(
        &mut self,
        f: impl for<'a> FnOnce(&mut Mutator<'a, M>, Handle<T>) + Send + 'static,
        closure: &Handle<T>,
    ) {
        self.0.finalise(closure.open(self.0), f);
    }

    /// Registers `f` as a finaliser that runs when `closure` is gone for good: see
    /// [`NoGc::finalise_last`].
    pub fn finalise_last<T: Closure>(
        &mut self,
        f: impl for<'a> FnOnce(&mut Mutator<'a, M>) + Send + 'static,
        closure: &Handle<T>,
    ) {
        self.0.finalise_last(closure.open(self.0), f);
    }

    /// Lets the next finaliser begin: see [`NoGc::finalise_release`].
    pub fn finalise_release(&mut self) {
        self.0.finalise_release();
    }

    /// Has `f` called at the end of each cycle: see [`NoGc::create_alarm`].
    pub fn create_alarm(&mut self, f: impl for<'a> FnMut(&mut Mutator<'a, M>) + Send + 'static) -> Alarm {
        self.0.create_alarm(f)
    }

    /// Ends the calls of an alarm: see [`NoGc::delete_alarm`].
    pub fn delete_alarm(&mut self, alarm: Alarm) {
        self.0.delete_alarm(alarm);
    }

    /// Starts `Memprof`: see [`Mutator::start_memprof`].
    ///
    /// # Errors
    /// If it runs already, or if the rate is not from 0 to 1.
    pub fn memprof_start<T: Tracker>(
        &mut self,
        sampling_rate: f64,
        callstack_size: usize,
        tracker: T,
    ) -> Result<(), MemprofError> {
        self.0.start_memprof(sampling_rate, callstack_size, tracker)
    }

    /// Stops `Memprof`: see [`Mutator::stop_memprof`].
    ///
    /// # Errors
    /// If it does not run.
    pub fn memprof_stop(&mut self) -> Result<(), MemprofError> {
        self.0.stop_memprof()
    }

    /// Pauses the event log of the run: what has happened is written out, and nothing more is
    /// recorded until [`Module::eventlog_resume`].
    pub fn eventlog_pause(&mut self) {
        self.0.pause_events(true);
    }

    /// Goes on with the event log.
    pub fn eventlog_resume(&mut self) {
        self.0.pause_events(false);
    }
}

impl<'h, M: MutatorKind> View<'_, 'h, M> {
    /// Registers `f` as a finaliser of `closure`: see [`NoGc::finalise`].
    pub fn finalise<T: Closure>(
        &self,
        f: impl for<'a> FnOnce(&mut Mutator<'a, M>, Handle<T>) + Send + 'static,
        closure: Gc<'_, 'h, T>,
    ) {
        self.0.finalise(closure, f);
    }

    /// Registers `f` as a finaliser that runs when `closure` is gone for good: see
    /// [`NoGc::finalise_last`].
    pub fn finalise_last<T: Closure>(
        &self,
        f: impl for<'a> FnOnce(&mut Mutator<'a, M>) + Send + 'static,
        closure: Gc<'_, 'h, T>,
    ) {
        self.0.finalise_last(closure, f);
    }

    /// Lets the next finaliser begin: see [`NoGc::finalise_release`].
    pub fn finalise_release(&self) {
        self.0.finalise_release();
    }

    /// Has `f` called at the end of each cycle: see [`NoGc::create_alarm`].
    pub fn create_alarm(&self, f: impl for<'a> FnMut(&mut Mutator<'a, M>) + Send + 'static) -> Alarm {
        self.0.create_alarm(f)
    }

    /// Ends the calls of an alarm: see [`NoGc::delete_alarm`].
    pub fn delete_alarm(&self, alarm: Alarm) {
        self.0.delete_alarm(alarm);
    }
}
