//! Profiles of small programs, written by GHC 9.0: retainers (`-hr`), closure types (`-hT`) and
//! biographies (`-hb`).

use gclab_eventlog::hp::{Profile, Sample};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn ghc(name: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/fixtures")
        .join(name);
    Profile::read(BufReader::new(File::open(path).unwrap()), name).unwrap()
}

/// The numbers of samples, of samples with bands, and of bands; the sum of all values; time and sum
/// of the largest sample.
fn figures(profile: &Profile) -> (usize, usize, usize, u64, f64, u64) {
    let samples = &profile.samples;
    let filled = samples.iter().filter(|sample| !sample.values.is_empty()).count();
    let sum = samples.iter().map(Sample::sum).sum();
    // The first of equally large ones.
    let peak = samples.iter().rev().max_by_key(|sample| sample.sum()).unwrap();
    (samples.len(), filled, profile.names.len(), sum, peak.at, peak.sum())
}

/// The expected numbers come from a script that splits lines at tabs.
#[test]
fn profiles_of_ghc_are_read() {
    assert_eq!(
        figures(&ghc("ghc-retainers.hp")),
        (7, 5, 30, 10_830_144, 0.034232, 2_705_240)
    );
    assert_eq!(
        figures(&ghc("ghc-closure-types.hp")),
        (6, 4, 48, 25_408_008, 0.018868, 14_697_496)
    );
    assert_eq!(
        figures(&ghc("ghc-biography.hp")),
        (6, 4, 5, 8_735_792, 0.038842, 2_742_056)
    );
    let retainers = ghc("ghc-retainers.hp");
    assert_eq!(
        retainers.job,
        "retain.p 12000 +RTS -hr -i0.02 -V0.005 -l -s -olretain-hr.eventlog"
    );
    assert_eq!(
        (retainers.date.as_str(), retainers.value_unit.as_str()),
        ("Fri Nov 20 23:15 2026", "bytes")
    );
    assert!(retainers.names.contains(&"(132)CAF,CAF,SYSTEM,main".to_owned()));
    assert!(!retainers.cut_off && retainers.marks.is_empty());
}
