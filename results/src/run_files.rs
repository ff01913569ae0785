//! The names of the files of heap profiles and event logs in a results folder.

use crate::plan::{Configuration, PlannedRun};
use crate::record::RunRecord;

/// The most letters of the words in the name of a run's files; the run's id follows them.
const WORDS: usize = 100;

/// The name of a run's files without an ending: the workload with its arguments, the collector, its
/// flags and those of the profile, in letters that need no quotes; and the run's id, so that it is
/// unique: `hash_churn-1000-copying-A1m-hy-i0-13d7dc4df6839229-p0`.
fn stem(configuration: &Configuration, profile_flags: Option<&str>, id: &str) -> String {
    let mut words = vec![configuration.workload.clone()];
    words.extend(configuration.args.iter().cloned());
    words.push(configuration.collector.clone());
    words.extend(configuration.flags.iter().map(|(name, value)| format!("{name}{value}")));
    words.extend(profile_flags.unwrap_or_default().split_whitespace().map(str::to_owned));
    let mut stem = String::new();
    for word in &words {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if !word.is_empty() {
            let plain = |c: char| {
                if c.is_ascii_alphanumeric() || "._,-".contains(c) {
                    c
                } else {
                    '_'
                }
            };
            stem.extend(word.chars().map(plain));
            stem.push('-');
        }
    }
    stem.truncate(WORDS);
    let stem = stem.trim_end_matches('-');
    format!("{stem}-{id}")
}

impl PlannedRun {
    /// The name of the files of the run's heap profile, or of its event log, without an ending.
    pub fn file_stem(&self) -> String {
        stem(&self.configuration(), self.profile_flags.as_deref(), &self.id)
    }
}

impl RunRecord {
    /// The name of the files of the run's heap profile, or of its event log, without an ending.
    pub fn file_stem(&self) -> String {
        stem(&self.configuration(), self.profile_flags.as_deref(), &self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_runs_have_the_names_of_their_settings() {
        let configuration = Configuration {
            workload: "hash_churn".to_owned(),
            args: vec!["1000".to_owned(), "../a b/ü".to_owned(), "-".to_owned()],
            collector: "copying".to_owned(),
            flags: [("A".to_owned(), "1m".to_owned())].into(),
            ..Configuration::default()
        };
        let plain = Configuration {
            workload: "hsc_env".to_owned(),
            args: Vec::new(),
            ..configuration.clone()
        };
        let logged = PlannedRun::logged(plain, 8);
        assert_eq!(logged.file_stem(), format!("hsc_env-copying-A1m-{}-l", logged.cell));
        let planned = PlannedRun::profiled(configuration, "-hr -R0 -hyByteArray,Entry -i0", 2, 7);
        let stem = planned.file_stem();
        let words = "hash_churn-1000-a_b-copying-A1m-hr-R0-hyByteArray,Entry-i0";
        assert_eq!(stem, format!("{words}-{}", planned.id));
        assert_eq!(RunRecord::planned(&planned, 0).file_stem(), stem);
        let long = PlannedRun {
            args: vec!["x".repeat(5000)],
            ..planned
        };
        assert!(long.file_stem().len() < 150 && long.file_stem().ends_with(&long.id));
    }
}
