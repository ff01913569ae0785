//! Axes, `exclude` and `builds` in experiment files, and the message for each wrong one.

use super::super::*;
use super::{HEAD, message, spec};
use crate::plan::{Shard, plan};
use crate::run::describe;

/// The configurations of a file, sorted.
fn runs(text: &str) -> Vec<String> {
    let spec = spec(text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let spec = Experiment { repeat: 1, ..spec };
    let mut runs: Vec<String> = plan(&spec, &[], Shard::default())
        .iter()
        .map(|run| describe(&run.planned))
        .collect();
    runs.sort();
    runs
}

const COPYING_HEAD: &str = "collectors = [\"copying\"]\nworkloads = [\"binary_trees\"]\n";

#[test]
fn points_are_an_axis_of_a_sweep() {
    let points = "[sweep]\nF = [2, 3]\npoints = [{ A = \"1m\", n = \"0\" }, { A = \"4m\", env.LANG = \"C\" }]\n";
    assert_eq!(
        runs(&format!("{COPYING_HEAD}{points}")),
        [
            "copying binary_trees A=1m F=2 n=0",
            "copying binary_trees A=1m F=3 n=0",
            "copying binary_trees A=4m F=2 env.LANG=C",
            "copying binary_trees A=4m F=3 env.LANG=C"
        ]
    );
}

#[test]
fn a_sweep_may_be_for_some_names_alone() {
    // two-space does not honour -n.
    let sweeps = "heap = [1.5, 3.0]\n[[sweep]]\ncollector = [\"copying\"]\nheap = [1.50]\nn = [\"0\", \"1m\"]\n[[sweep]]\nA = [\"1m\"]\n";
    assert_eq!(
        runs(&format!("{HEAD}{sweeps}")),
        [
            "copying binary_trees A=1m (1.5×)",
            "copying binary_trees A=1m (3×)",
            "copying binary_trees n=0 (1.5×)",
            "copying binary_trees n=1m (1.5×)",
            "two-space binary_trees A=1m (1.5×)",
            "two-space binary_trees A=1m (3×)",
        ]
    );
}

#[test]
fn swept_arguments_make_works() {
    let text = r#"
        collectors = ["copying"]
        workloads  = [{ name = "hash_churn", args = ["-", 7] }, { name = "binary_trees", profiles = ["-hT"] }]
        [[sweep]]
        workload = ["hash_churn"]
        args.B   = [8, 16]
        A        = ["1m"]
        [[sweep]]
        workload = ["binary_trees"]
        args.N   = [3]
        "#;
    assert_eq!(
        runs(text),
        [
            "copying binary_trees 3",
            "copying binary_trees 3 -hT",
            "copying hash_churn 16 7 A=1m",
            "copying hash_churn 8 7 A=1m"
        ]
    );
}

#[test]
fn excluded_runs_need_no_legal_flags() {
    let text = format!(
        "exclude = [{{ collector = \"two-space\", n = \"1024k\" }}, {{ F = 3, n = \"1m\" }}]\n{HEAD}[[sweep]]\nn = [\"1m\"]\nF = [2, 3]\n[[sweep]]\nA = [\"1m\"]\n"
    );
    assert_eq!(
        runs(&text),
        [
            "copying binary_trees A=1m",
            "copying binary_trees F=2 n=1m",
            "two-space binary_trees A=1m"
        ]
    );
}

#[test]
fn programs_have_arguments_and_variables_of_their_own() {
    let text = r#"
        exclude = [{ program = "other", env.T = 2 }]
        [sweep]
        env.T = [1, 2]
        [[program]]
        name = "prog"
        command = ["sh", "{n}-{m}", "{n}"]
        stdin = "{m}.txt"
        sweep = { args.n = [10, 20], args.m = ["x"] }
        [[program]]
        name = "other"
        command = ["sh", "{n}"]
        "#;
    assert_eq!(
        runs(text),
        ["other env.T=1", "prog args.m=x args.n=10", "prog args.m=x args.n=20"]
    );
    let spec = spec(text).unwrap();
    let programs = crate::plan::programs_of(&spec.entries[0]);
    let words: Vec<&[String]> = programs
        .iter()
        .map(|program| &program.description.command[..])
        .collect();
    assert_eq!(words, [["sh", "10-x", "10"], ["sh", "20-x", "20"]]);
    assert_eq!(programs[0].description.stdin.as_deref(), Some("x.txt"));
    let other = crate::plan::programs_of(&spec.entries[1]);
    assert_eq!(other[0].description.command, ["sh", "{n}"], "no argument of this one");
    assert_eq!(other[1].description.env["T"], "2");
}

/// `.ci/instructions` counts how much each of them takes.
#[test]
fn a_large_product_has_a_line_for_each_of_its_runs() {
    let list = |count: u32| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!(
        "repeat = 1\n{COPYING_HEAD}[sweep]\nF = [{}]\nA = [{}]\nO = [{}]\nn = [{}]\n",
        list(10),
        (1..=10).map(|n| format!("\"{n}m\"")).collect::<Vec<_>>().join(", "),
        (1..=20).map(|n| format!("\"{n}m\"")).collect::<Vec<_>>().join(", "),
        (1..=50).map(|n| format!("\"{n}m\"")).collect::<Vec<_>>().join(", "),
    );
    let spec = spec(&text).unwrap();
    let plan = crate::plan::Plan::new(&spec, &[], Shard::default());
    assert_eq!(plan.runs.len(), 100_000);
    let lines = plan.lines(&spec);
    assert_eq!(lines.lines().filter(|line| !line.starts_with('#')).count(), 100_000);
}

#[test]
fn wrong_axes() {
    let sweeps = [
        "points = { A = \"1m\" }",
        "points = []",
        "points = [{}]",
        "points = [\"A\"]",
        "points = [{ A = [\"1m\"] }]",
        "points = [{ A = \"1m\" }, { A = \"1024k\" }]",
        "point = [{ A = \"1m\" }]",
        "A = [\"1m\"]\npoints = [{ A = \"4m\" }]",
        "pair = [1]",
        "env = [\"LANG\"]",
        "env.LANG = \"C\"",
        "env.LANG = []",
        "env.\"A=B\" = [\"C\"]",
        "env.GCLABRTS = [\"-A1m\"]",
        "args.M = [1]",
        "args.N = [1, 99]",
        "collectors = [\"copying\"]",
        "collector = [\"two-space\"]",
        "collector = []",
        "workload = [\"gcbench\"]",
        "build = [\"new\"]",
        "heap = [2]",
        "heap = []",
    ];
    let mut texts: Vec<String> = sweeps
        .iter()
        .map(|sweep| format!("{COPYING_HEAD}[sweep]\n{sweep}\n"))
        .collect();
    let top = [
        "exclude = { A = \"1m\" }",
        "exclude = [\"A\"]",
        "exclude = [{ A = \"16m\" }]",
        "exclude = [{ AA = \"1m\" }]",
        "exclude = [{ F = 2 }]",
        "exclude = [{ collector = \"copyng\" }]",
        "excludes = [{ A = \"1m\" }]",
        "builds = \"gclab\"",
        "builds = []",
        "builds = [7]",
        "builds = [\"no/such/gclab\"]",
        "builds = [{ name = \"x\" }]",
        "builds = [{ path = \"x\" }]",
        "builds = [\"/dev/null\", \"/dev/null\"]",
        "build = [\"gclab\"]",
    ];
    texts.extend(
        top.iter()
            .map(|key| format!("{key}\n{COPYING_HEAD}[sweep]\nA = [\"1m\"]\n")),
    );
    texts.push(format!("{HEAD}[sweep]\ncollector = [\"copying\"]\nA = [\"1m\"]\n"));
    texts.push("[[program]]\nname = \"p\"\ncommand = [\"sh\"]\nsweep = { args.size = [1] }\n".to_owned());
    texts.push("builds = [\"/bin/sh\"]\n[[program]]\nname = \"p\"\ncommand = [\"sh\"]\n".to_owned());
    texts.push(
        "collectors = [\"copying\"]\nworkloads = [{ name = \"binary_trees\", args = [3] }]\n[sweep]\nargs.N = [4]\n"
            .to_owned(),
    );
    texts.push(
        "collectors = [\"copying\"]\nworkloads = [\"binary_trees\", { name = \"binary_trees\", args = [18] }]\n"
            .to_owned(),
    );
    let messages: Vec<String> = texts.iter().map(|text| message(text)).collect();
    insta::assert_snapshot!(messages.join("\n\n"));
}

/// A program's file reveals its runtime. `runtime` is for programs whose file does not.
#[test]
fn the_runtime_of_a_program_is_that_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prog");
    let of = |contents: &str, key: &str| {
        std::fs::write(&file, contents).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
        let text = format!(
            "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [{:?}]\n{key}",
            file.to_str().unwrap()
        );
        spec(&text).unwrap().entries[0].program.runtime.name()
    };
    assert_eq!(of("an executable of GHC RTS and more", ""), "ghc");
    assert_eq!(of("an executable of GHC RTS and more", "runtime = \"none\"\n"), "none");
    assert_eq!(of("an executable with OCAMLRUNPARAM", ""), "ocaml");
    assert_eq!(of("an executable of something else", ""), "none");
}
