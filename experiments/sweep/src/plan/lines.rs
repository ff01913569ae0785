//! A plan as text: a line for each run, or JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Kind, ORDER, Schedule, Slot};
use crate::experiment::Experiment;
use crate::run::describe_configuration;
use crate::text::counted;

/// A buffer of this size is written at once.
const CHUNK: usize = 64 << 10;

/// The column of the round begins here: an id is 16 digits, a dash, and a number.
const ID: usize = 21;

/// The text in the place of an id that is not known yet.
const UNKNOWN: &str = "?";

impl Schedule {
    /// Writes the plan: a line for each run, after lines that begin with `#`.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_lines(&self, experiment: &Experiment, to: &mut impl Write) -> io::Result<()> {
        let names: Vec<String> = self
            .cells
            .iter()
            .map(|cell| describe_configuration(cell.configuration(), cell.heap))
            .collect();
        let mut text = format!(
            "# {}: {} of {} in {}; seed {}: {ORDER}\n# {:<ID$} round  run\n",
            experiment.name,
            counted(self.len(), "run"),
            counted(self.cells.len(), "configuration"),
            counted(experiment.repeat as usize, "round"),
            experiment.seed,
            "id",
        );
        for slot in &self.slots {
            self.line(slot, &names, &mut text);
            if text.len() >= CHUNK {
                to.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        to.write_all(text.as_bytes())
    }

    fn line(&self, slot: &Slot, names: &[String], text: &mut String) {
        let (cell, name) = (&self.cells[slot.cell as usize], &names[slot.cell as usize]);
        let start = text.len();
        text.push_str(if cell.is_known { &cell.fingerprint } else { UNKNOWN });
        let _ = match slot.kind {
            Kind::Times => write!(text, "-{}", slot.round),
            Kind::Profile(number) => write!(text, "-p{number}"),
            Kind::EventLog => write!(text, "-l"),
        };
        let width = (start + ID + 2).saturating_sub(text.len());
        text.extend(std::iter::repeat_n(' ', width));
        let _ = match slot.kind {
            Kind::Times => write!(text, " {:>5}", slot.round),
            _ => write!(text, " {:>5}", "-"),
        };
        text.push_str("  ");
        text.push_str(name);
        match slot.kind {
            Kind::Times => {}
            Kind::Profile(number) => {
                let flags = &self.profiles[self.works[slot.cell as usize] as usize][number as usize];
                let _ = write!(text, " {flags}");
            }
            Kind::EventLog => text.push_str(" event log"),
        }
        text.push('\n');
    }

    /// Writes the plan as one JSON object. Its runs have the keys of those of `plan.json`; a run
    /// whose heap is not known yet has no id.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_json(&self, experiment: &Experiment, to: &mut impl Write) -> io::Result<()> {
        let json = |value: &str| serde_json::Value::from(value).to_string();
        write!(
            to,
            "{{\"name\":{},\"seed\":{},\"order\":{},\"rounds\":{},\"configurations\":{},\"runs\":[",
            json(&experiment.name),
            experiment.seed,
            json(ORDER),
            experiment.repeat,
            self.cells.len()
        )?;
        for (index, slot) in self.slots.iter().enumerate() {
            let mut planned = self.run(slot).planned;
            if !self.cells[slot.cell as usize].is_known {
                planned.id.clear();
            }
            to.write_all(if index == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *to, &planned)?;
        }
        to.write_all(b"\n]}\n")
    }

    /// Whether the heaps of all cells are known.
    pub fn is_known(&self) -> bool {
        self.cells.iter().all(|cell| cell.is_known)
    }
}
