//! Arguments that do not fit their declaration are rejected in one sentence. Lists find their
//! members.

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use gclab_workloads::{
    ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription, WorkloadList, WorkloadVisitor,
};

const SAMPLE: WorkloadDescription = WorkloadDescription {
    name: "sample",
    summary: "takes one of each kind",
    args: &[
        ArgSpec::file("INPUT", "the file to read", None),
        ArgSpec::number("N", "the number of rounds", 18, 1..=40),
        ArgSpec::file("TEXT", "another file to read", Some("the built-in text")),
    ],
    checksum: None,
    test: TestSize {
        args: &["Cargo.toml", "3"],
        checksum: None,
    },
    bench: &["Cargo.toml"],
    stress: StressSize {
        args: &["Cargo.toml"],
        every: 1,
        parallel: &["Cargo.toml"],
    },
};

fn error(given: &[&str]) -> String {
    Args::parse(&SAMPLE, given).unwrap_err().to_string()
}

#[test]
fn given_arguments_replace_defaults() {
    let args = SAMPLE.test_args().unwrap();
    assert_eq!(
        (args.file("INPUT"), args.number("N"), args.file("TEXT")),
        (Some("Cargo.toml".as_ref()), 3, None)
    );
    let args = Args::parse(&SAMPLE, &["Cargo.toml", "-", "src/lib.rs"]).unwrap();
    assert_eq!((args.number("N"), args.file("TEXT")), (18, Some("src/lib.rs".as_ref())));
    assert_eq!(SAMPLE.usage(), "sample INPUT [N] [TEXT]");
}

#[test]
fn declared_sizes_fit_the_declared_arguments() {
    for description in gclab_workloads::All::descriptions() {
        let stress = &description.stress;
        for size in [description.test.args, description.bench, stress.args, stress.parallel] {
            Args::parse(description, size).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn too_few_and_too_many_are_refused() {
    assert_eq!(
        error(&[]),
        "sample: INPUT is missing, expected a file that can be read: the file to read"
    );
    assert_eq!(error(&["-"]), error(&[]));
    assert_eq!(
        error(&["Cargo.toml", "1", "-", "5", "6"]),
        "sample: 5 arguments given (`5` is one too many), expected at most 3: sample INPUT [N] [TEXT]"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    for given in ["0", "41", "-1", "+2", "1.5", "many", "", "99999999999999999999"] {
        let expected = format!("sample: N is `{given}`, expected a whole number from 1 to 40 (or - for 18)");
        assert_eq!(error(&["Cargo.toml", given]), expected);
    }
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let message = error(&["no/such/file"]);
    assert!(
        message.starts_with("sample: INPUT is `no/such/file`, expected a file that can be read: No such file"),
        "{message}"
    );
    let message = error(&["Cargo.toml", "1", "src"]);
    assert!(
        message.starts_with("sample: TEXT is `src`, expected a file that can be read (or - for the built-in text): "),
        "{message}"
    );
}

#[derive(Default)]
struct Mine;

impl Workload for Mine {
    const DESCRIPTION: WorkloadDescription = SAMPLE;

    fn run<M: MutatorKind>(&self, _: &World<M>, _: &Args) -> Result<u64, RunError> {
        Ok(0)
    }
}

struct Name;

impl WorkloadVisitor for Name {
    type Output = &'static str;
    fn visit<W: Workload>(self, _: &W) -> &'static str {
        W::DESCRIPTION.name
    }
}

#[test]
fn an_extended_list_finds_its_members() {
    type Longer = (Mine, gclab_workloads::All);
    assert_eq!(Longer::with("sample", Name), Some("sample"));
    assert_eq!(Longer::with("simple", Name), None);
    assert_eq!(Longer::descriptions()[0].name, "sample");
    assert_eq!(
        Longer::descriptions().len(),
        gclab_workloads::All::descriptions().len() + 1
    );
}
