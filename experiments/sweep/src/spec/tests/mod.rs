//! Valid experiment files and their contents, and the message for each kind of error.

mod axes;
mod ocaml;

use std::time::Duration;

use gclab_core::collector::Description;
use gclab_core::config::Parameter;
use gclab_workloads::{ArgSpec, StressSize, TestSize, WorkloadDescription};

use super::*;
use crate::experiment::Axis;

static TWO_SPACE: Description = Description {
    name: "two-space",
    summary: "",
    moves: true,
    parallel: false,
    honours: &[&[Parameter::AllocationArea, Parameter::OldFactor, Parameter::Generations]],
    generations: (1, 1),
};
static COPYING: Description = Description {
    name: "copying",
    summary: "",
    moves: true,
    parallel: false,
    honours: &[&[
        Parameter::AllocationArea,
        Parameter::OldFactor,
        Parameter::Generations,
        Parameter::OldMin,
        Parameter::Chunk,
    ]],
    generations: (2, 12),
};
static TREES: WorkloadDescription = workload(
    "binary_trees",
    &[ArgSpec::number("N", "depth of the largest trees", 18, 0..=40)],
);
static CHURN: WorkloadDescription = workload(
    "hash_churn",
    &[
        ArgSpec::number("B", "buckets", 64, 1..=1024),
        ArgSpec::number("K", "different keys", 128, 1..=1024),
    ],
);

const fn workload(name: &'static str, args: &'static [ArgSpec]) -> WorkloadDescription {
    WorkloadDescription {
        name,
        summary: "",
        args,
        checksum: None,
        test: TestSize {
            args: &[],
            checksum: None,
        },
        bench: &[],
        stress: StressSize {
            args: &[],
            every: 1,
            parallel: &[],
        },
    }
}

pub(super) fn registry() -> Registry {
    Registry {
        collectors: vec![&TWO_SPACE, &COPYING],
        workloads: vec![&TREES, &CHURN],
    }
}

pub(super) fn spec(text: &str) -> Result<Experiment, Box<SpecError>> {
    from_source(
        "x".into(),
        Source {
            name: "x.toml".into(),
            text: text.into(),
        },
        None,
        &registry(),
    )
}

/// The message as a user sees it. Lists of all flags, which keep growing, are cut short.
pub(super) fn message(text: &str) -> String {
    let error = spec(text).expect_err(text);
    let text = error.render(false);
    let end = text.find(" flags: ").map_or(text.len(), |at| at + " flags:".len());
    text[..end].trim_end().to_owned()
}

pub(super) const HEAD: &str = "collectors = [\"two-space\", \"copying\"]\nworkloads = [\"binary_trees\"]\n";

/// The axes of each sweep, in words.
pub(super) fn described(spec: &Experiment) -> Vec<Vec<String>> {
    let axes = |axes: &Vec<Axis>| axes.iter().map(Axis::describe).collect();
    spec.entries[0].sweeps.iter().map(axes).collect()
}

#[test]
fn everything_that_a_file_can_say() {
    let spec = spec(
        r#"
        question   = "Why?"
        collectors = ["copying"]
        workloads  = ["binary_trees", { name = "hash_churn", args = [64, "-"] }]
        repeat     = 3
        precision  = "2.5%"
        seed       = 0x10
        timeout    = "1.5m"
        [flags]
        F = 2.5
        [sweep]
        n = ["0", 65536]
        A = ["256k", "1m"]
        "#,
    )
    .unwrap();
    assert_eq!(spec.question, "Why?");
    assert_eq!(spec.collectors(), ["copying"]);
    assert_eq!(
        spec.works(),
        [
            ("binary_trees", &[][..]),
            ("hash_churn", &["64".to_owned(), "-".to_owned()][..])
        ]
    );
    assert_eq!((spec.repeat, spec.seed, spec.timeout), (3, 16, Duration::from_secs(90)));
    assert_eq!(spec.precision, Some(0.025));
    assert_eq!(spec.entries[0].flags["F"].text(), "2.5");
    assert_eq!(spec.entries[0].flags.len(), 1);
    assert_eq!(
        described(&spec),
        [["n = 0 65536", "A = 256k 1m"]],
        "in the order of the file"
    );
}

#[test]
fn heaps_in_multiples() {
    let spec = spec(&format!("{HEAD}heap = [1, 1.25, 2_0]\n[flags]\nF = 3\n")).unwrap();
    assert_eq!(spec.heap, [1.0, 1.25, 20.0]);
}

#[test]
fn what_a_file_need_not_say() {
    let spec = spec(HEAD).unwrap();
    assert_eq!(
        (spec.repeat, spec.seed, spec.timeout, spec.question.as_str()),
        (10, 1, Duration::from_secs(300), "")
    );
    assert!(spec.entries[0].flags.is_empty() && spec.entries[0].sweeps.is_empty());
}

#[test]
fn flags_in_one_line_and_quoted_keys() {
    let spec = spec(&format!("{HEAD}flags = {{ \"F\" = 3 }}\nsweep.A = [\"1m\"]\n")).unwrap();
    assert_eq!(
        (spec.entries[0].flags["F"].text(), described(&spec)),
        ("3", vec![vec!["A = 1m".to_owned()]])
    );
}

#[test]
fn several_sweeps() {
    let spec = spec(&format!(
        "{HEAD}[[sweep]]\nF = [2, 3]\n[[sweep]]\nF = [4]\nA = [\"1m\", \"2m\"]\n"
    ))
    .unwrap();
    assert_eq!(described(&spec), [vec!["F = 2 3"], vec!["F = 4", "A = 1m 2m"]]);
}

#[test]
fn profiles_of_the_file_and_of_a_workload() {
    let spec = spec(
        r#"
        collectors = ["copying"]
        workloads  = ["binary_trees", { name = "hash_churn", profiles = ["-hT"] }, { name = "hash_churn", args = [32], profiles = [] }]
        profiles   = ["-hy", "  -hr   -R0 -i0 ", "-hT -hyTree,Node -i0.01"]
        "#,
    )
    .unwrap();
    let of: Vec<String> = spec.entries.iter().map(|own| own.profiles.join(" | ")).collect();
    // The file's, the workload's own instead, and none.
    assert_eq!(of, ["-hy | -hr -R0 -i0 | -hT -hyTree,Node -i0.01", "-hT", ""]);
}

#[test]
fn wrong_profiles() {
    let with = |profiles: &str| format!("{HEAD}profiles = {profiles}\n");
    let cases = [
        ("no list", with("\"-hy\"")),
        ("an empty list", with("[]")),
        ("a number", with("[\"-hy\", 1]")),
        (
            "a profile of a workload that is not a list",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"hash_churn\", profiles = true }]\n".to_owned(),
        ),
        ("an unknown flag", with("[\"-hy\", \"-hT -hz -i0\"]")),
        ("a flag of GHC's", with("[\"-hi\"]")),
        ("a flag that is not of profiles", with("[\"-hT -A1m\"]")),
        ("one that needs another", with("[\"-hT --sizing=fixed\"]")),
        ("a wrong value", with("[\"-hT -iOften\"]")),
        ("no flag", with("[\"-hT\", \"hy\"]")),
        ("nothing", with("[\"\"]")),
        ("two breakdowns", with("[\"-hT -hy\"]")),
        ("no breakdown", with("[\"-i0 -R0\"]")),
        ("words that begin flags", with("[\"+RTS -hT\"]")),
        ("words that end flags", with("[\"-hT -RTS\"]")),
        ("a profile twice", with("[\"-hT\", \"-hy\", \"-h  -i0.1\"]")),
        (
            "escapes, so that places in the string are not those in the file",
            with("[\"-hT\\u0020-hz\"]"),
        ),
        (
            "in a workload",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"hash_churn\", profiles = [\"-hT -F2\"] }]\n"
                .to_owned(),
        ),
        ("among the flags", format!("{HEAD}[flags]\nhT = true\n")),
        (
            "how often, among the flags",
            format!("{HEAD}profiles = [\"-hy\"]\n[flags]\ni = 0\n"),
        ),
        ("swept", format!("{HEAD}[[sweep]]\nA = [\"1m\"]\nhr = [false, true]\n")),
    ];
    insta::assert_snapshot!(all(&cases));
}

#[test]
fn event_logs_of_the_file_and_of_a_workload() {
    let logs = |eventlog: &str| {
        let text = format!(
            "collectors = [\"copying\"]\nworkloads = [\"binary_trees\", {{ name = \"hash_churn\", eventlog = true }}, {{ name = \"hash_churn\", args = [32], eventlog = false }}]\n{eventlog}"
        );
        spec(&text)
            .unwrap()
            .entries
            .iter()
            .map(|own| own.eventlog)
            .collect::<Vec<_>>()
    };
    assert_eq!(logs(""), [false, true, false]);
    assert_eq!(logs("eventlog = true\n"), [true, true, false]);
    assert_eq!(logs("eventlog = false\n"), [false, true, false]);
}

/// Logs get their own runs: their flags belong neither to timed runs nor to profiles.
#[test]
fn wrong_event_logs() {
    let cases = [
        ("a string", format!("{HEAD}eventlog = \"yes\"\n")),
        (
            "a list in a workload",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"hash_churn\", eventlog = [true] }]\n".to_owned(),
        ),
        ("a slip", format!("{HEAD}eventlogs = true\n")),
        ("in a profile", format!("{HEAD}profiles = [\"-hT -l\"]\n")),
    ];
    insta::assert_snapshot!(all(&cases));
    for (place, text) in [
        ("among the flags", format!("{HEAD}[flags]\nl = \"\"\n")),
        ("swept", format!("{HEAD}[sweep]\nol = [\"a\", \"b\"]\n")),
    ] {
        let message = all(&[(place, text)]);
        assert!(message.contains("with an event log: eventlog = true"), "{message}");
    }
}

#[test]
fn counters_of_pauses_are_asked_for() {
    let asked = |text: &str| spec(&format!("{HEAD}{text}")).unwrap().pause_counters;
    assert!(!asked(""));
    assert!(!asked("pause_counters = false\n"));
    assert!(asked("pause_counters = true\n"));
    let message = all(&[("a string", format!("{HEAD}pause_counters = \"llc\"\n"))]);
    assert!(message.contains("expected true or false"), "{message}");
}

#[test]
fn limits_on_pauses_are_times_in_ascending_order() {
    let limits = |text: &str| spec(&format!("{HEAD}{text}")).unwrap().pause;
    assert_eq!(limits(""), []);
    let expected = [Duration::from_millis(2), Duration::from_secs(1)];
    assert_eq!(limits("pause = [1, \"2ms\", \"1s\"]\n"), expected);
    for value in ["0", "\"2 parsecs\"", "\"-1ms\""] {
        let message = all(&[("a wrong limit", format!("{HEAD}pause = [\"2ms\", {value}]\n"))]);
        assert!(message.contains("is not a valid time"), "{message}");
    }
}

#[test]
fn wrong_shapes() {
    let cases = [
        (
            "not TOML",
            "collectors = [\"copying\"\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        ("a key twice", format!("{HEAD}repeat = 1\nrepeat = 2\n")),
        ("an empty file", String::new()),
        ("no workloads", "collectors = [\"copying\"]\n".to_owned()),
        ("an unknown key", format!("{HEAD}repeats = 3\n")),
        (
            "an unknown key of a workload",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"hash_churn\", arg = [1] }]\n".to_owned(),
        ),
        (
            "a workload without a name",
            "collectors = [\"copying\"]\nworkloads = [{ args = [1] }]\n".to_owned(),
        ),
        (
            "a string for an array",
            "collectors = \"copying\"\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        (
            "a number for a name",
            "collectors = [1]\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        (
            "an empty list",
            "collectors = []\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        ("no rounds", format!("{HEAD}repeat = 0\n")),
        ("a fraction of a round", format!("{HEAD}repeat = 1.5\n")),
        (
            "a precision that is not a share",
            format!("{HEAD}precision = \"two\"\n"),
        ),
        ("a precision of nothing", format!("{HEAD}precision = \"0%\"\n")),
        ("a negative seed", format!("{HEAD}seed = -1\n")),
        ("a wrong duration", format!("{HEAD}timeout = \"soon\"\n")),
        ("no time at all", format!("{HEAD}timeout = \"0s\"\n")),
        ("flags that are not a table", format!("{HEAD}flags = [\"-A1m\"]\n")),
        ("an empty axis", format!("{HEAD}[sweep]\nA = []\n")),
        ("an axis that is not an array", format!("{HEAD}[sweep]\nA = \"1m\"\n")),
        ("sweeps that are not tables", format!("{HEAD}sweep = [\"A\"]\n")),
        (
            "one of several sweeps is not a table",
            format!("{HEAD}sweep = [{{ A = [\"1m\"] }}, 3]\n"),
        ),
        (
            "an empty axis of the second sweep",
            format!("{HEAD}[[sweep]]\nF = [2]\n[[sweep]]\nA = []\n"),
        ),
        ("a list as a value", format!("{HEAD}[flags]\nA = [\"1m\"]\n")),
        ("a heap that is not a list", format!("{HEAD}heap = 2\n")),
        ("no heaps", format!("{HEAD}heap = []\n")),
        ("a size for a multiple", format!("{HEAD}heap = [1.5, \"64m\"]\n")),
        ("a heap of nothing", format!("{HEAD}heap = [0]\n")),
        ("less than nothing", format!("{HEAD}heap = [2, -1.5]\n")),
        ("no number", format!("{HEAD}heap = [nan]\n")),
        ("more than anybody has", format!("{HEAD}heap = [1e9]\n")),
        ("a multiple twice", format!("{HEAD}heap = [1.5, 2, 1.50]\n")),
        ("a heap and -M", format!("{HEAD}heap = [2]\n[flags]\nM = \"64m\"\n")),
        (
            "a heap and a sweep over -M",
            format!("{HEAD}heap = [2]\n[sweep]\nM = [\"64m\", \"128m\"]\n"),
        ),
        ("a heap and -H", format!("{HEAD}heap = [2]\n[flags]\nH = \"64m\"\n")),
    ];
    insta::assert_snapshot!(all(&cases));
}

#[test]
fn wrong_meanings() {
    let cases = [
        (
            "an unknown collector",
            "collectors = [\"copying\", \"coyping\"]\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        (
            "a collector twice",
            "collectors = [\"copying\", \"copying\"]\nworkloads = [\"binary_trees\"]\n".to_owned(),
        ),
        (
            "an unknown workload",
            "collectors = [\"copying\"]\nworkloads = [\"binary-tree\"]\n".to_owned(),
        ),
        (
            "a workload twice",
            "collectors = [\"copying\"]\nworkloads = [\"binary_trees\", { name = \"binary_trees\" }]\n".to_owned(),
        ),
        (
            "an argument out of range",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"hash_churn\", args = [64, 4096] }]\n".to_owned(),
        ),
        (
            "an argument too many",
            "collectors = [\"copying\"]\nworkloads = [{ name = \"binary_trees\", args = [8, 9] }]\n".to_owned(),
        ),
        ("an unknown flag", format!("{HEAD}[flags]\nK = \"1m\"\n")),
        ("a flag by its dash", format!("{HEAD}[flags]\n-A = \"1m\"\n")),
        ("a flag of GHC's", format!("{HEAD}[flags]\nw = true\n")),
        ("a flag of the command line", format!("{HEAD}[flags]\ns = true\n")),
        ("a bad size", format!("{HEAD}[sweep]\nA = [\"1m\", \"1 megabyte\"]\n")),
        ("a size out of range", format!("{HEAD}[flags]\nA = \"1\"\n")),
        ("a factor below one", format!("{HEAD}[sweep]\nF = [0.5, 2]\n")),
        (
            "a value twice",
            format!("{HEAD}[sweep]\nA = [\"1m\", \"2m\", \"1024k\"]\n"),
        ),
        (
            "fixed and swept",
            format!("{HEAD}[flags]\nA = \"1m\"\n\n[sweep]\nA = [\"2m\"]\n"),
        ),
        (
            "fixed and swept by the second sweep",
            format!("{HEAD}[flags]\nA = \"1m\"\n\n[[sweep]]\nF = [2]\n[[sweep]]\nA = [\"2m\"]\n"),
        ),
        (
            "a flag that one collector does not honour",
            format!("{HEAD}[sweep]\nA = [\"1m\"]\nO = [\"1m\", \"2m\"]\n"),
        ),
        (
            "generations that one collector cannot have",
            format!("{HEAD}[flags]\nG = 2\n"),
        ),
        ("a contradiction", format!("{HEAD}[flags]\nM = \"10m\"\nH = \"20m\"\n")),
        (
            "too many runs",
            format!("{HEAD}repeat = 99999\n[sweep]\nF = [1.5, 2, 2.5, 3, 3.5, 4, 4.5]\n"),
        ),
    ];
    insta::assert_snapshot!(all(&cases));
    let many = "F = [1.5, 2, 2.5, 3, 3.5]\n";
    let sum = message(&format!("{HEAD}repeat = 60000\n[[sweep]]\n{many}[[sweep]]\n{many}"));
    assert!(sum.contains("this sweep has 1200000 runs"), "sweeps add up: {sum}");
}

fn all(cases: &[(&str, String)]) -> String {
    cases
        .iter()
        .map(|(name, text)| format!("== {name}\n{}\n\n", message(text)))
        .collect()
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| {
        let path = folder.path().join(name);
        let text = load(&path, None, &registry()).unwrap_err().render(false);
        text.replace(&folder.path().display().to_string(), "FOLDER")
    };
    std::fs::write(
        folder.path().join("latin1.toml"),
        b"question = \"wozu?\"\ncollectors = [\"k\xf6pierend\"]\n",
    )
    .unwrap();
    let foreign = message("latin1.toml");
    for part in [
        "latin1.toml is not UTF-8",
        "2 │ collectors = [\"k\u{fffd}pierend\"]",
        "byte 0xf6",
        "help: save the file as UTF-8; TOML allows nothing else",
    ] {
        assert!(foreign.contains(part), "{part}: {foreign}");
    }
    assert_eq!(
        message("latin.toml"),
        "error: experiment file FOLDER/latin.toml: does not exist\n │\n ╰ help: experiment files there: FOLDER/latin1.toml"
    );
    assert_eq!(
        message(""),
        "error: experiment file FOLDER/: is a folder\n │\n ╰ help: experiment files there: FOLDER/latin1.toml"
    );
}
