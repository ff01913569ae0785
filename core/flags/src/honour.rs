//! Which flags a collector honours, and how the flags of a run are fitted to it.

use gclab_core::collector::Description;

use super::{FLAGS, FlagError, FlagSpec, Flags, Value};

/// The flags of collectors that `collector` honours, in the order of the table.
pub fn honours(collector: &Description) -> impl Iterator<Item = &'static FlagSpec> {
    FLAGS
        .iter()
        .filter(|spec| spec.parameter().is_some_and(|parameter| collector.honours(parameter)))
}

impl Flags {
    /// Fits the flags to `collector`: if no `-G` is given, the number of generations becomes one
    /// that the collector can have. `all` lists the collectors that an error may name instead.
    ///
    /// # Errors
    /// [`FlagError::NotHonoured`] for the first flag given that the collector does not honour,
    /// unless it turns something off; [`FlagError::Conflict`] if the collector cannot have as many
    /// generations as `-G` says.
    pub fn fit(&mut self, collector: &Description, all: &[&'static Description]) -> Result<(), FlagError> {
        self.check_honoured(collector, all)?;
        let generations = self.config.generations;
        let fitting = collector.fitting_generations(generations);
        if self.given.contains("G") && generations != fitting {
            let takes = match collector.generations {
                (least, most) if least == most => format!("{least}"),
                (least, most) => format!("{least} to {most}"),
            };
            return Err(FlagError::Conflict {
                flag: format!("-G{generations}"),
                why: format!(
                    "not for the {} collector: its number of generations is {takes}",
                    collector.name
                ),
            });
        }
        self.config.generations = fitting;
        Ok(())
    }

    fn check_honoured(&self, collector: &Description, all: &[&'static Description]) -> Result<(), FlagError> {
        let refused = FLAGS.iter().find_map(|spec| {
            let parameter = spec.parameter().filter(|parameter| !collector.honours(*parameter))?;
            let value = (spec.get)(self).filter(|value| *value != Value::Off)?;
            let asks = self.given.contains(spec.name);
            asks.then(|| (spec.word(&value.text(&spec.kind)), parameter))
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
