//! Flags that a collector honours, and flags that it rejects.

use crate::parse;
use gclab_core::collector::Description;
use gclab_core::config::{AREA, COMPACTION, GENERATIONS, OCAML, OwnFlag, Parameter, SHARING, SIZING, SLICES};
use gclab_flags::{FLAGS, Flags, honours};

const fn collector(name: &'static str, honours: &'static [&'static [Parameter]]) -> Description {
    Description {
        name,
        summary: "",
        moves: true,
        parallel: false,
        honours,
        generations: (2, 12),
    }
}

pub(crate) static COPYING: Description = collector(
    "copying",
    &[
        &[Parameter::OldFactor, Parameter::AllocationArea],
        &[Parameter::Generations, Parameter::OldMin],
    ],
);

pub(crate) static COMPACTING: Description = collector("compacting", &[COMPACTION, &[Parameter::HeapHint]]);

static PARALLEL: Description = collector("parallel", &[GENERATIONS]);

static TWO_SPACE: Description = Description {
    generations: (1, 1),
    ..collector("two-space", &[&[Parameter::Generations]])
};

/// Fits the flags in `text` to a collector.
fn fitted(text: &str, collector: &Description) -> Result<Flags, String> {
    let mut flags = parse(text);
    flags
        .fit(collector, &[&COPYING, &COMPACTING, &PARALLEL])
        .map(|()| flags)
        .map_err(|e| e.to_string())
}

#[test]
fn flags_that_a_collector_does_not_honour_are_refused() {
    let check = |text: &str| fitted(text, &COPYING).map(drop);
    // No flags, flags that the heap honours, and flags that turn something off.
    for fine in ["", "-A1m -F3", "-M1g -N2 -DS -s --no-huge-pages", "-qg", "-qb", "-n0"] {
        assert_eq!(check(fine), Ok(()), "{fine}");
    }
    assert_eq!(
        check("-c"),
        Err("-c: the copying collector does not honour this flag; compacting does".to_owned())
    );
    assert_eq!(
        check("-H"),
        Err("-H: the copying collector does not honour this flag; compacting and parallel do".to_owned())
    );
    assert_eq!(
        check("-qg1"),
        Err("-qg1: the copying collector does not honour this flag; nor does any other yet; of the flags for collectors, copying honours -A, -F, -O and -G".to_owned())
    );
    // Given explicitly, though with the default value.
    assert!(check("-m3").is_err());
}

#[test]
fn generations_that_a_collector_cannot_have_are_refused_if_they_are_given() {
    let generations = |text: &str, collector| fitted(text, collector).map(|flags| flags.config.generations);
    assert_eq!(generations("", &COPYING), Ok(2));
    assert_eq!(generations("-G3", &COPYING), Ok(3));
    assert_eq!(generations("", &TWO_SPACE), Ok(1));
    assert_eq!(generations("-G1", &TWO_SPACE), Ok(1));
    assert_eq!(
        generations("-G2", &TWO_SPACE),
        Err("-G2 is not for the two-space collector: its number of generations is 1".to_owned())
    );
    assert_eq!(
        generations("-G1", &COPYING),
        Err("-G1 is not for the copying collector: its number of generations is 2 to 12".to_owned())
    );
}

#[test]
fn each_parameter_of_collectors_has_one_flag() {
    let groups = [
        AREA,
        SIZING,
        GENERATIONS,
        COMPACTION,
        &[Parameter::Nonmoving],
        SHARING,
        SLICES,
        OCAML,
    ]
    .concat();
    for parameter in &groups {
        let flags = FLAGS.iter().filter(|spec| spec.parameter() == Some(*parameter));
        assert_eq!(flags.count(), 1, "{parameter:?}");
    }
    let of_collectors = FLAGS.iter().filter(|spec| spec.parameter().is_some());
    assert_eq!(of_collectors.count(), groups.len(), "each parameter is in one group");
    let all = collector("all", &[SHARING, AREA]);
    let names: Vec<_> = honours(&all).map(|spec| spec.name).collect();
    assert_eq!(names, ["A", "n", "AL", "qg", "qb", "qn"], "in the order of the table");
}

#[test]
fn a_collectors_own_flags_are_read_and_checked_against_it() {
    const PERIOD: OwnFlag = OwnFlag {
        name: "period",
        meaning: "collections",
        default: 8,
        least: 1,
        most: 1000,
    };
    const EAGER: OwnFlag = OwnFlag {
        name: "eager",
        most: 1,
        least: 0,
        default: 0,
        ..PERIOD
    };
    static CLOCK: Description = collector("clock", &[AREA, &[Parameter::Own(&PERIOD), Parameter::Own(&EAGER)]]);
    let flags = fitted("--own=period=4,eager=1 -A1m", &CLOCK).expect("both are its own");
    assert_eq!((PERIOD.of(&flags.config), EAGER.of(&flags.config)), (4, 1));
    assert_eq!(PERIOD.of(&fitted("", &CLOCK).expect("nothing given").config), 8);
    // As in an experiment file.
    let mut flags = Flags::default();
    flags.set("own", "period=12").expect("a key");
    assert_eq!(flags.to_words(), ["--own=period=12"]);
    flags.fit(&CLOCK, &[]).expect("a legal value");
    assert_eq!(PERIOD.of(&flags.config), 12);
    for (text, message) in [
        (
            "--own=perod=4",
            "--own=perod=4: the clock collector has no such flag of its own: write period=<n> and eager=<n>",
        ),
        (
            "--own=period",
            "--own=period: the clock collector has no such flag of its own: write period=<n> and eager=<n>",
        ),
        (
            "--own=period=",
            "--own=period: nothing is not a whole number: write a whole number, as in --own=period=8",
        ),
        (
            "--own=period=-4",
            "--own=period: -4 is not a whole number: write a whole number, as in --own=period=8",
        ),
        ("--own=period=0", "--own=period: 0 is out of range: expected 1 to 1000"),
        (
            "--own=eager=99999999999999999999",
            "--own=eager: 99999999999999999999 is out of range: expected 0 to 1",
        ),
    ] {
        assert_eq!(fitted(text, &CLOCK).expect_err(text), message);
    }
    let none = fitted("--own=period=4", &COPYING).expect_err("it is of another collector");
    assert_eq!(none, "--own=period=4: the copying collector has no flags of its own");
}
