//! The ghc-events library reads the same numbers from GHC's logs. `.ci/interop` builds the reader
//! and runs this.

use std::path::Path;
use std::process::Command;

use gclab_eventlog::{Figure, Interval, Reader, Summary};

use crate::real::{log, logs};

#[test]
#[ignore = "needs a program that GHC compiles: .ci/interop"]
fn ghc_events_reads_the_same_figures() {
    let check = std::env::var_os("GCLAB_GHC_EVENTS").expect(".ci/interop sets GCLAB_GHC_EVENTS");
    for name in logs() {
        let bytes = log(&name);
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        std::fs::write(&file, &bytes).unwrap();
        let output = Command::new(&check).arg(&file).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {message}");
        let mut reader = Reader::new(&bytes[..], &name).unwrap();
        let figures = Summary::of(&mut reader, Interval::default()).unwrap().figures();
        let ours = |name: &str| {
            figures
                .iter()
                .find(|(of, _)| of == name)
                .map(|(_, figure)| figure.clone())
        };
        let mut compared = 0;
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (figure, value) = line.split_once(' ').unwrap();
            let value = value.parse().unwrap();
            assert_eq!(ours(figure), Some(Figure::Integer(value)), "{name}: {figure}");
            compared += 1;
        }
        assert!(compared >= 15, "{name}: {compared} figures");
    }
}
