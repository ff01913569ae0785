//! What is printed for each flag, and where; `--info`.

use super::ghc::{as_ghc_n1, as_ghc_n2, read_list};
use gclab_core::stats::render::{
    Printer, closing_row, command_line, header, info, machine_readable, one_line, row, summary,
};
use gclab_core::stats::{Before, Collection, Sink, StatsLevel, StatsOption};
use gclab_core::words::Bytes;
use std::path::PathBuf;

fn option(level: StatsLevel) -> StatsOption {
    StatsOption {
        level,
        ..StatsOption::default()
    }
}

fn to_file(level: StatsLevel, file: impl Into<PathBuf>) -> StatsOption {
    StatsOption {
        file: Some(file.into()),
        ..option(level)
    }
}

#[test]
fn each_flag_prints_what_it_prints_in_ghc() {
    let (stats, collection) = (
        as_ghc_n2(),
        Collection {
            before: Before {
                allocated: Bytes(77),
                ..Before::default()
            },
            ..Collection::default()
        },
    );
    let printed_by = |option: &StatsOption| {
        let sink = Sink::buffer();
        let printer = Printer::to(option, sink.clone());
        printer.collection(&collection);
        printer.finish(&stats);
        sink.buffered()
    };
    let printed = |level| printed_by(&option(level));
    let machine = |level| {
        printed_by(&StatsOption {
            machine_readable: true,
            ..option(level)
        })
    };
    assert_eq!(printed(StatsLevel::Collect), "");
    assert_eq!(printed(StatsLevel::None), "");
    assert_eq!(printed(StatsLevel::OneLine), one_line(&stats));
    assert_eq!(machine(StatsLevel::OneLine), machine_readable(&stats));
    assert_eq!(machine(StatsLevel::Summary), summary(&stats));
    assert_eq!(
        printed(StatsLevel::Each),
        format!(
            "{}{}{}{}",
            header(),
            row(&collection),
            closing_row(&stats),
            summary(&stats)
        )
    );
}

#[test]
fn a_file_begins_with_the_command_line() {
    let path = std::env::temp_dir().join(format!("gclab-stats-{}.txt", std::process::id()));
    let word = format!("-s{}", path.display());
    let printer = Printer::open(
        &to_file(StatsLevel::Summary, &path),
        &["gclab", "exec"],
        &["-A1m", &word],
    )
    .unwrap();
    printer.finish(&as_ghc_n1());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let body = summary(&as_ghc_n1());
    assert_eq!(text, format!("'gclab' 'exec' +RTS '-A1m' '{word}' \n{body}"));
    assert_eq!(
        command_line(&["../bin/p"], &["-N2", "-l", "-sx.txt"]),
        "'../bin/p' +RTS '-N2' '-l' '-sx.txt' \n"
    );
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_before_the_run() {
    let error = Printer::open(&to_file(StatsLevel::Summary, "/no/such/folder/x"), &["gclab"], &[]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// `/dev/full` accepts nothing, yet the run continues.
#[test]
fn a_file_that_cannot_be_written_does_not_end_the_run() {
    let printer = Printer::open(&to_file(StatsLevel::Each, "/dev/full"), &["gclab"], &["-S/dev/full"]).unwrap();
    printer.collection(&Collection::default());
    printer.finish(&as_ghc_n1());
}

#[test]
fn info_says_what_this_program_is() {
    let text = info("-A64k -M4m", &[("Collectors", "two-space, \"quoted\"".to_owned())]);
    let arch = std::env::consts::ARCH;
    let text = text.replace("\"NO\")\n ,(\"Coll", "\"YES\")\n ,(\"Coll");
    insta::assert_snapshot!(text.replace(arch, "ARCH").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    // GHC's keys, in its order.
    let fixture = include_str!("fixtures/ghc-9.0.2.info.txt");
    let keys = |text: &str| read_list(text).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let ghcs = keys(fixture);
    assert_eq!(keys(&text)[..ghcs.len()], ghcs);
}
