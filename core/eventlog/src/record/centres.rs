//! The cost centres defined in a log.

use crate::{Value, kinds};
use gclab_core::profile::CostCentre;

use super::output::{Output, fitting};

/// Longest text, in bytes: an event holds 65535, and has three texts.
const MOST: usize = 20_000;

/// Deepest stack that an event can hold.
const DEEPEST: usize = 255;

/// The cost centres met so far, in the order of their numbers, from 1.
#[derive(Debug, Default)]
pub(crate) struct Centres(Vec<CostCentre>);

impl Centres {
    /// The numbers of the cost centres of a stack, the innermost first, as many as fit an event.
    /// New ones are defined in the log at `time_ns`; the definitions wait as described at
    /// [`Output::put_waiting`].
    pub(crate) fn ids(&mut self, time_ns: u64, stack: &[CostCentre], output: &mut Output) -> Vec<[u8; 4]> {
        let centres = stack.iter().take(DEEPEST);
        centres
            .map(|centre| self.id(time_ns, *centre, output).to_be_bytes())
            .collect()
    }

    fn id(&mut self, time_ns: u64, centre: CostCentre, output: &mut Output) -> u32 {
        let place = self.0.iter().position(|other| *other == centre).unwrap_or_else(|| {
            self.0.push(centre);
            let id = self.0.len() as u64;
            let location = format!("{}:{}", centre.file, centre.line);
            let texts = [centre.label, centre.module, &location].map(|text| fitting(text, MOST));
            let [label, module, location] = texts.each_ref().map(|text| Value::from(text.as_str()));
            let values = [id.into(), label, module, location, 0.into()];
            output.put_waiting(&kinds::HEAP_PROF_COST_CENTRE, time_ns, &values);
            self.0.len() - 1
        });
        place as u32 + 1
    }
}
