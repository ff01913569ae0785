//! The energy counters of the processor (RAPL), as Linux shows them under `/sys/class/powercap`.
//!
//! A counter has the energy of a whole package: that of the run, of gclab beside it, and of all
//! other programs that run meanwhile.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the counters.
pub const ROOT: &str = "/sys/class/powercap";

/// A counter of each package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters(Vec<Counter>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Counter {
    file: PathBuf,
    /// The counter begins again at 0 after this value.
    most: u64,
}

impl Counters {
    /// The counters below `root`.
    ///
    /// # Errors
    /// A message if there are none, or if they cannot be read.
    pub fn find(root: &Path) -> Result<Counters, String> {
        // `intel-rapl:0` is a package (AMD's too); `intel-rapl:0:0` is a part of it.
        let is_package = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.strip_prefix("intel-rapl:").is_some_and(|rest| !rest.contains(':'))
        };
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let mut packages: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_package).collect();
        packages.sort();
        if packages.is_empty() {
            return Err(format!(
                "this machine shows no energy counters: there is no {}",
                root.join("intel-rapl:0").display()
            ));
        }
        let counter = |package: PathBuf| {
            let file = package.join("energy_uj");
            number(&file)?;
            let most = number(&package.join("max_energy_range_uj"))?;
            Ok(Counter { file, most })
        };
        packages
            .into_iter()
            .map(counter)
            .collect::<Result<_, _>>()
            .map(Counters)
    }

    /// The values of the counters, in microjoules.
    ///
    /// # Errors
    /// A message if a counter cannot be read.
    pub fn read(&self) -> Result<Vec<u64>, String> {
        self.0.iter().map(|counter| number(&counter.file)).collect()
    }

    /// The energy between two readings, in joules.
    pub fn joules(&self, before: &[u64], after: &[u64]) -> f64 {
        let used = |((counter, before), after): ((&Counter, &u64), &u64)| match after.checked_sub(*before) {
            Some(used) => used,
            None => counter.most - before + after,
        };
        let all: u64 = self.0.iter().zip(before).zip(after).map(used).sum();
        all as f64 * 1e-6
    }
}

fn number(file: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let number = text.trim().parse();
    number.map_err(|_| format!("{}: `{}` is no number", file.display(), text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_begin_again() {
        let root = tempfile::tempdir().expect("a folder");
        let none = Counters::find(root.path()).expect_err("there are no counters");
        assert!(none.contains("no energy counters"), "{none}");
        for (name, energy) in [("intel-rapl:0", 990), ("intel-rapl:1", 5), ("intel-rapl:0:0", 7)] {
            let package = root.path().join(name);
            fs::create_dir(&package).expect("a folder");
            fs::write(package.join("energy_uj"), format!("{energy}\n")).expect("a file");
            fs::write(package.join("max_energy_range_uj"), "1000\n").expect("a file");
        }
        let counters = Counters::find(root.path()).expect("two packages");
        let before = counters.read().expect("numbers");
        assert_eq!(before, [990, 5]);
        // The first one has begun again: 10 to its end, then 20.
        assert!((counters.joules(&before, &[20, 105]) - 130e-6).abs() < 1e-12);
        fs::write(root.path().join("intel-rapl:1/energy_uj"), "much\n").expect("a file");
        assert!(counters.read().is_err());
    }
}
