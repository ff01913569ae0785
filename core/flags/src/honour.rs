//! Which flags a collector honours, and fitting a run's flags to it.

use gclab_core::collector::Description;
use gclab_core::config::{OcamlLetter, Parameter};
use gclab_core::words::size::size_text;

use super::{FLAGS, FlagError, FlagSpec, Flags, Value};

/// The flags of collectors that `collector` honours, in the order of the table.
pub fn honours(collector: &Description) -> impl Iterator<Item = &'static FlagSpec> {
    FLAGS
        .iter()
        .filter(|spec| spec.parameter().is_some_and(|parameter| collector.honours(parameter)))
}

impl Flags {
    /// Fits the flags to `collector`: without `-G`, sets a number of generations that the collector
    /// supports. `all` lists the collectors that an error may suggest instead.
    ///
    /// # Errors
    /// [`FlagError::NotHonoured`] for the first flag given that the collector does not honour,
    /// unless it turns something off; [`FlagError::Conflict`] if the collector does not support the
    /// number of generations in `-G`, or if one of OCaml's letters conflicts with another flag; an
    /// error in one of the collector's own flags (`--own`).
    pub fn fit(&mut self, collector: &Description, all: &[&'static Description]) -> Result<(), FlagError> {
        self.check_honoured(collector, all)?;
        self.check_own(collector)?;
        if collector.honours(Parameter::Ocaml(OcamlLetter::MinorHeap)) {
            self.settle_ocaml()?;
        }
        let generations = self.config.generations;
        let fitting = collector.fitting_generations(generations);
        if self.given.contains_key("G") && generations != fitting {
            let takes = match collector.generations {
                (least, most) if least == most => format!("{least}"),
                (least, most) => format!("{least} to {most}"),
            };
            return Err(FlagError::Conflict {
                flag: self.written("G", || format!("-G{generations}")),
                why: format!(
                    "not for the {} collector: its number of generations is {takes}",
                    collector.name
                ),
            });
        }
        self.config.generations = fitting;
        Ok(())
    }

    /// Two of OCaml's letters mean the same as a flag of GHC's. Only one of the pair may be given.
    /// If neither is, OCaml's default applies.
    fn settle_ocaml(&mut self) -> Result<(), FlagError> {
        let both = [
            ("A", OcamlLetter::MinorHeap, "-ocaml=s"),
            ("F", OcamlLetter::SpaceOverhead, "-ocaml=o"),
        ];
        for (ghc, letter, name) in both {
            match (self.given.get(ghc), self.given.get(name)) {
                (Some(by_ghc), Some(by_ocaml)) => {
                    return Err(FlagError::Conflict {
                        flag: by_ocaml.clone(),
                        why: format!("another name for -{ghc}, and {by_ghc} is given too: leave one of them out"),
                    });
                }
                (None, None) => self.config.ocaml.set(letter, Some(letter.default())),
                _ => {}
            }
        }
        self.check_initial_heap()
    }

    /// Checks that the given size of the major heap fits into the whole heap.
    fn check_initial_heap(&self) -> Result<(), FlagError> {
        let given = self.config.ocaml.given(OcamlLetter::InitialHeap);
        let (Some(words), Some(max)) = (given, self.config.max_heap) else {
            return Ok(());
        };
        if words > max.0 as u64 / 8 {
            return Err(FlagError::Conflict {
                flag: self.written("-ocaml=h", || format!("--ocaml=h={words}")),
                why: format!(
                    "more words than the {} of {}: lower h or raise -M",
                    max.0 / 8,
                    self.written("M", || format!("-M{}", size_text(max)))
                ),
            });
        }
        Ok(())
    }

    /// Checks the collector's own flags.
    fn check_own(&self, collector: &Description) -> Result<(), FlagError> {
        for word in &self.config.own {
            let given = collector.own_flags().find_map(|flag| Some((flag, flag.text_in(word)?)));
            let Some((flag, text)) = given else {
                return Err(FlagError::NotOwn {
                    word: word.clone(),
                    collector: collector.name.to_owned(),
                    has: collector.own_flags().map(|flag| format!("{}=<n>", flag.name)).collect(),
                });
            };
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !digits {
                return Err(FlagError::BadValue {
                    flag: format!("--own={}", flag.name),
                    value: if text.is_empty() {
                        "nothing".to_owned()
                    } else {
                        text.to_owned()
                    },
                    wanted: "a whole number",
                    write: "a whole number",
                    example: format!("--own={}={}", flag.name, flag.default),
                });
            }
            // Digits that overflow are a number that is too large.
            if !(flag.least..=flag.most).contains(&text.parse().unwrap_or(u64::MAX)) {
                return Err(FlagError::OutOfRange {
                    flag: format!("--own={}", flag.name),
                    value: text.to_owned(),
                    min: flag.least.to_string(),
                    max: flag.most.to_string(),
                });
            }
        }
        Ok(())
    }

    fn check_honoured(&self, collector: &Description, all: &[&'static Description]) -> Result<(), FlagError> {
        let refused = FLAGS.iter().find_map(|spec| {
            let parameter = spec.parameter().filter(|parameter| !collector.honours(*parameter))?;
            (spec.get)(self).filter(|value| *value != Value::Off)?;
            Some((self.given.get(spec.name)?.clone(), parameter))
        });
        let Some((flag, parameter)) = refused else {
            return Ok(());
        };
        let others = all
            .iter()
            .filter(|other| other.name != collector.name && other.honours(parameter))
            .map(|other| other.name.to_owned())
            .collect();
        Err(FlagError::NotHonoured {
            flag,
            collector: collector.name.to_owned(),
            others,
            honours: honours(collector).map(|spec| format!("-{}", spec.name)).collect(),
        })
    }
}
