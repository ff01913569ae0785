//! Rules about several flags that hold for every collector.

use gclab_core::config::{HeapHint, SizingPolicy};
use gclab_core::words::size::size_text;

use super::{FlagError, Flags};

impl Flags {
    /// Applies the rules about several flags, once all are known: an allocation area larger than
    /// the whole heap is cut to it, as in GHC. [`Flags::parse`] calls this; after [`Flags::set`]
    /// the caller must.
    ///
    /// # Errors
    /// [`FlagError::Conflict`] if `-H` is more than `-M`, if a fixed-size heap has no size, if a
    /// flag has no meaning under the sizing policy, or if several heap profiles are asked for.
    pub fn settle(&mut self) -> Result<(), FlagError> {
        self.settle_sizing()?;
        self.settle_profile().map_err(|(flag, why)| FlagError::Conflict {
            flag: format!("-{flag}"),
            why,
        })?;
        let Some(max) = self.config.max_heap else {
            return Ok(());
        };
        if let HeapHint::Size(hint) = self.config.heap_hint
            && hint > max
        {
            return Err(FlagError::Conflict {
                flag: self.written("H", || format!("-H{}", size_text(hint))),
                why: format!(
                    "more than {} allows: lower -H or raise -M",
                    self.written("M", || format!("-M{}", size_text(max)))
                ),
            });
        }
        self.config.allocation_area = self.config.allocation_area.min(max);
        Ok(())
    }

    /// Checks that the policy has the flags it needs, and none it would ignore.
    fn settle_sizing(&self) -> Result<(), FlagError> {
        let conflict = |flag: String, why: String| Err(FlagError::Conflict { flag, why });
        let policy = format!("--sizing={}", self.config.sizing.name());
        if self.config.sizing == SizingPolicy::Fixed && self.config.fixed_size().is_none() {
            return conflict(policy, "without a size: give it with -H<size> or -M<size>".to_owned());
        }
        if self.config.sizing != SizingPolicy::Factor
            && let Some(flag) = self.given.get("F")
        {
            return conflict(
                flag.clone(),
                format!("for --sizing=factor: under {policy} it has no effect"),
            );
        }
        if self.config.sizing != SizingPolicy::MemBalancer
            && let Some(flag) = self.given.get("-membalancer-c")
        {
            return conflict(
                flag.clone(),
                format!("for --sizing=membalancer: under {policy} it has no effect"),
            );
        }
        Ok(())
    }
}
