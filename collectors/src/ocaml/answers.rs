//! The answers of the collector to the module `Gc`.

use super::gc::{Control, Output, Question, Stat};
use super::{Change, Ocaml};
use gclab_core::collector::{Bump, Cause, Pause, Request};
use gclab_core::words::Words;

impl Ocaml {
    /// Answers a question.
    pub(super) fn reply(&mut self, pause: &Pause<'_, Bump>, question: &mut Question) {
        match question {
            Question::Stat(walk, stat) => *stat = self.stat(pause, *walk),
            Question::Get(control) => *control = Some(Control::of(&self.settings, self.stack_limit)),
            Question::Set(control, request) => *request = self.set(control),
            Question::MinorFree(words) => {
                let size = self.minor_heap().to_words_up();
                *words = size
                    .saturating_sub(self.minor_words(pause) - self.counts.before_minor)
                    .0 as u64;
            }
            Question::Bucket(number, work) => *work = self.window.bucket(*number),
            Question::Credit(work) => *work = self.window.credit(),
            Question::Part(part) => self.part = Some(*part),
            Question::Messages(Output(out)) => {
                if let Some(out) = out.take() {
                    self.messages.print_to(out);
                }
            }
        }
    }

    fn minor_words(&self, pause: &Pause<'_, Bump>) -> Words {
        self.counts.minor_words(pause.since.allocated.to_words_up())
    }

    /// Changes the parameters, immediately except for the policy and the minor heap. Returns the
    /// request for the pause in which these two change, if they do.
    fn set(&mut self, control: &Control) -> Option<Request> {
        let before = Control::of(&self.settings, self.stack_limit);
        self.messages.set(control.verbose);
        self.messages.parameters(&before, control);
        if control.window_size != before.window_size {
            self.window.resize(control.window_size as usize);
        }
        let but_these = Control {
            allocation_policy: before.allocation_policy,
            minor_heap_size: before.minor_heap_size,
            ..*control
        };
        but_these.apply(&mut self.settings);
        self.stack_limit = Some(control.stack_limit);
        let if_new = |value, before| (value != before).then_some(value);
        self.change = Change {
            policy: if_new(control.allocation_policy, before.allocation_policy),
            minor_heap: if_new(control.minor_heap_size, before.minor_heap_size),
        };
        match self.change {
            Change { policy: Some(_), .. } => Some(Request::Compact),
            Change { minor_heap, .. } => {
                let words = minor_heap?;
                self.messages.new_minor_heap(words);
                Some(Request::Minor)
            }
        }
    }

    /// Changes the size of the minor heap, which is empty, if the pause is for that. Returns
    /// whether the size changed. The policy has already changed, as in OCaml.
    pub(super) fn change_minor_heap(&mut self, cause: Cause) -> bool {
        if !matches!(cause, Cause::Asked(Request::Minor | Request::Compact)) {
            return false;
        }
        let Some(words) = self.change.minor_heap.take() else {
            return false;
        };
        if cause == Cause::Asked(Request::Compact) {
            self.messages.new_minor_heap(words);
        }
        self.settings.minor_heap = Words(words as usize).to_bytes();
        true
    }

    /// The counters. `walk`: also the counters of blocks, which requires visiting every block.
    pub(super) fn stat(&self, pause: &Pause<'_, Bump>, walk: bool) -> Stat {
        let census = if walk { self.major.census() } else { Default::default() };
        let (counts, heap) = (&self.counts, self.major.words());
        Stat {
            minor_words: self.minor_words(pause).0 as f64,
            promoted_words: counts.promoted.0 as f64,
            major_words: counts.major_words().0 as f64,
            minor_collections: counts.minor_collections,
            major_collections: self.cycles,
            heap_words: heap.0 as u64,
            heap_chunks: self.major.chunk_count(),
            live_words: census.live_words.0 as u64,
            live_blocks: census.live_blocks,
            free_words: census.free_words.0 as u64,
            free_blocks: census.free_blocks,
            largest_free: census.largest_free.0 as u64,
            fragments: census.fragments,
            compactions: counts.compactions,
            top_heap_words: self.major.top().0 as u64,
            stack_size: pause.roots.frame_words().0 as u64,
            forced_major_collections: counts.forced,
        }
    }
}
