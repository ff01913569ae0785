//! The answers of the collector to the module `Gc`.

use super::gc::{Control, Output, Question, Stat};
use super::policy::Policy;
use super::{Ocaml, PolicyChange};
use gclab_core::collector::{Bump, Pause};
use gclab_core::words::Words;

impl Ocaml {
    /// Answers a question.
    pub(super) fn reply(&mut self, pause: &Pause<'_, Bump>, question: &mut Question) {
        match question {
            Question::Stat(walk, stat) => *stat = self.stat(pause, *walk),
            Question::Get(control) => *control = Some(Control::of(&self.settings, self.stack_limit)),
            Question::Set(control, done) => *done = self.change(control),
            Question::MinorFree(words) => {
                let size = self.nursery.size().to_words_up();
                *words = size
                    .saturating_sub(self.minor_words(pause) - self.counts.before_minor)
                    .0 as u64;
            }
            Question::Bucket(number, work) => *work = self.window.bucket(*number),
            Question::Credit(work) => *work = self.window.credit(),
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

    /// Changes the parameters, the policy and the minor heap last, as OCaml does. Returns whether
    /// all hold: where the policy changes, a compaction has to come before.
    fn change(&mut self, control: &Control) -> bool {
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
        if control.allocation_policy != before.allocation_policy {
            if self.policy_change != PolicyChange::Compacted || !self.major.is_idle() {
                self.policy_change = PolicyChange::Asked;
                return false;
            }
            self.policy_change = PolicyChange::None;
            self.major.set_policy(Policy::of_number(control.allocation_policy));
        }
        self.messages.last_parameters(&before, control);
        control.apply(&mut self.settings);
        true
    }

    /// The counters. `walk`: those of blocks, too, for which every block is looked at.
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
