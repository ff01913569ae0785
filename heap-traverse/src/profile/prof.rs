//! The table of retainer sets, as GHC writes it to its `.prof` file.

use super::profiler::Profile;
use std::fmt::Write;

/// Returns the table: the times of the censuses, how often closures were visited, and the sets that
/// had bytes in any census.
pub fn retainer_table(profile: &Profile) -> String {
    let mut text = String::new();
    for (number, census) in profile.censuses.iter().enumerate() {
        let visits = census.visits;
        let average = visits.visits as f64 / visits.closures.max(1) as f64;
        let _ = write!(
            text,
            "Retainer Profiling: {number}, at {:.6} seconds\n\tMax auxiliary stack size = {}\n\tAverage number of visits per object = {average:.6}\n",
            census.seconds, visits.stack_bytes,
        );
    }
    text += "\nRetainer sets created during profiling:\n";
    for set in &profile.sets {
        let names: Vec<_> = set
            .retainers
            .iter()
            .map(|retainer| format!("<{}>", retainer.full_name))
            .collect();
        let _ = writeln!(text, "SET {} = {{{}}}", set.id, names.join(", "));
    }
    text
}
