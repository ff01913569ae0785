//! Flags from several sources: which one wins, and how a flag is withdrawn.

use gclab_core::config::{Breakdown, Compact, SizingPolicy};
use gclab_flags::{FLAGS, FlagError, Flags, Given, Kind, RtsOpts, Sources};

use crate::honour::{COMPACTING, COPYING};
use crate::written::legal_words;
use crate::{line, parse};

fn given(environment: &str, words: &str) -> Result<Given, FlagError> {
    Given::read(&Sources {
        environment: Some(environment),
        words: &line(words),
        ..Sources::default()
    })
}

#[test]
fn an_environment_flag_is_dropped_if_it_contradicts_another() {
    let profile = given("-A1m -hT", "-hy").unwrap();
    assert_eq!(profile.flags().config.profile.breakdown, Some(Breakdown::Type));
    assert_eq!(
        profile.notes(),
        ["-hT of GCLABRTS is overridden by a later flag or choice"]
    );
    assert!(profile.flags().given.contains_key("A"), "the others stay");
    let limit = given("-H1g", "-M64m").unwrap();
    assert_eq!(limit.flags().to_words().join(" "), "-M64m");
    let sizing = given("-F3", "--sizing=fixed -M64m").unwrap();
    assert_eq!(sizing.flags().config.sizing, SizingPolicy::Fixed);
    // The weakest source yields first.
    let program = Given::read(&Sources {
        program: "-hT",
        environment: Some("-hy"),
        ..Sources::default()
    });
    let program = program.unwrap();
    assert_eq!(program.flags().config.profile.breakdown, Some(Breakdown::Type));
    assert_eq!(
        program.notes(),
        ["-hT of this program's own flags is overridden by a later flag or choice"]
    );
}

#[test]
fn contradictions_within_a_source_are_errors() {
    let error = |environment, words| given(environment, words).unwrap_err().to_string();
    assert!(error("", "-hT -hy").starts_with("-hy is one heap profile too many"));
    assert!(error("-hT -hy", "").starts_with("GCLABRTS: -hy is one heap profile too many"));
    assert!(error("-A1m", "-H1g -M64m").starts_with("-H1g is more than -M64m allows"));
}

#[test]
fn a_named_collector_overrides_the_environment_too() {
    let all = [&COPYING, &COMPACTING];
    let environment = given("-c -A1m", "-F3").unwrap();
    let (flags, notes) = environment.fit(&COPYING, &all).unwrap();
    assert_eq!((flags.config.compact, flags.config.old_factor), (Compact::Never, 3.0));
    assert_eq!(notes, ["-c of GCLABRTS is overridden by a later flag or choice"]);
    let typed = given("-A1m", "-c30")
        .unwrap()
        .fit(&COPYING, &all)
        .unwrap_err()
        .to_string();
    assert!(
        typed.starts_with("-c30: the copying collector does not honour"),
        "{typed}"
    );
}

#[test]
fn every_flag_can_be_cancelled() {
    for spec in FLAGS {
        let back = match spec.kind {
            Kind::SwitchOff => "--huge-pages".to_owned(),
            _ => format!("--no-{}", spec.name.trim_start_matches('-')),
        };
        let own = |word: &String| {
            let flags = parse(word);
            flags.given.contains_key(spec.name) && flags.given.len() == 1
        };
        for word in legal_words().iter().filter(|word| own(word)) {
            assert_eq!(parse(&format!("{word} {back}")), Flags::default(), "{word} {back}");
            assert_eq!(*given(word, &back).unwrap().flags(), Flags::default(), "{word} {back}");
        }
    }
    let two = "--sizing=membalancer --membalancer-c=1 --no-membalancer-c --no-sizing";
    assert_eq!(parse(two), Flags::default());
    // The earlier flag of the same kind takes effect again.
    assert_eq!(parse("-S -s --no-s").to_words(), ["-S"]);
    assert_eq!(parse("-c --no-c -c30").config.compact, Compact::Above(30.0));
    assert!(Flags::parse_words(&["--no-wombat"]).is_err());
    assert!(Flags::parse_words(&["--no-"]).is_err());
    assert!(Flags::parse_words(&["--pages"]).is_err());
}

#[test]
fn a_program_may_restrict_flags() {
    let read = |allowed, environment, words: &str| {
        let given = Given::read(&Sources {
            program: "-A8m",
            environment: Some(environment),
            words: &line(words),
            allowed,
            ..Sources::default()
        });
        given.map(|given| (given.flags().to_words().join(" "), given.notes().to_vec()))
    };
    let error = |allowed, environment, words| read(allowed, environment, words).unwrap_err().to_string();
    assert_eq!(read(RtsOpts::All, "-A1m", "-F3").unwrap(), ("-A1m -F3".into(), vec![]));
    assert_eq!(read(RtsOpts::Some, "", "--info").unwrap().0, "-A8m --info");
    assert_eq!(
        error(RtsOpts::Some, "", "-A1m"),
        "-A1m: this program takes -? and --info only between +RTS and -RTS, and in GCLABRTS"
    );
    assert!(error(RtsOpts::Some, "-s", "").starts_with("GCLABRTS: -s: this program takes -? and --info only"));
    assert!(error(RtsOpts::None, "", "-?").starts_with("-?: this program takes no flags"));
    let (words, notes) = read(RtsOpts::None, "-A1m", "").unwrap();
    assert_eq!((words.as_str(), notes.len()), ("-A8m", 1));
    let own = Given::read(&Sources {
        program: "-Aq",
        ..Sources::default()
    });
    let own = own.unwrap_err().to_string();
    assert!(own.starts_with("the program's own flags: -A: q is not a size"), "{own}");
}
