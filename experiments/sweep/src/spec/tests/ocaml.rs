//! OCaml's letters in experiment files: fixed, swept, and wrong.

use gclab_core::collector::Description;
use gclab_core::config::{OcamlLetter, Parameter};

use super::super::*;
use super::registry;
use crate::plan::{Shard, plan};
use crate::run::describe;
use crate::runtime::Value;

static OCAML: Description = Description {
    name: "ocaml",
    summary: "",
    moves: true,
    parallel: false,
    honours: &[&[
        Parameter::Ocaml(OcamlLetter::MinorHeap),
        Parameter::Ocaml(OcamlLetter::SpaceOverhead),
        Parameter::Ocaml(OcamlLetter::Policy),
    ]],
    generations: (2, 2),
};

fn read(text: &str) -> Result<Experiment, Box<SpecError>> {
    let mut registry = registry();
    registry.collectors.push(&OCAML);
    let text = format!("collectors = [\"ocaml\"]\nworkloads = [\"binary_trees\"]\nrepeat = 1\n{text}");
    let source = Source {
        name: "x.toml".into(),
        text,
    };
    from_source("x".into(), source, None, &registry)
}

#[test]
fn letters_are_fixed_by_a_table_and_swept_like_any_flag() {
    let spec = read("[ocaml]\ns = \"64k\"\n[sweep]\nocaml.o = [40, 0x50]\nocaml.a = [0, 2]\n").expect("legal");
    let fixed: Vec<_> = spec.entries[0].flags.values().map(Value::meaning).collect();
    assert_eq!(fixed, ["--ocaml=s=65536"]);
    let mut runs: Vec<String> = plan(&spec, &[], Shard::default())
        .iter()
        .map(|run| describe(&run.planned))
        .collect();
    runs.sort();
    assert_eq!(
        runs,
        [
            "ocaml binary_trees ocaml.a=0 ocaml.o=40 ocaml.s=64k",
            "ocaml binary_trees ocaml.a=0 ocaml.o=80 ocaml.s=64k",
            "ocaml binary_trees ocaml.a=2 ocaml.o=40 ocaml.s=64k",
            "ocaml binary_trees ocaml.a=2 ocaml.o=80 ocaml.s=64k",
        ]
    );
    let others = "[flags]\nocaml.s = \"8k\"\n[sweep]\npoints = [{ ocaml.o = 40 }, { ocaml = { o = 80, a = 1 } }]\n";
    assert_eq!(plan(&read(others).expect("legal"), &[], Shard::default()).len(), 2);
}

#[test]
fn wrong_letters_are_refused() {
    let error = |text: &str| read(text).expect_err(text).render(false);
    let starts = [
        ("[ocaml]\nx = 1\n", "ocaml.x: no such flag"),
        ("[ocaml]\no = \"lots\"\n", "ocaml.o: lots is not a whole number"),
        ("[ocaml]\na = 3\n", "ocaml.a: 3 is out of range: expected 0 to 2"),
        ("ocaml = \"o=80\"\n", "expected a table, not a string"),
        ("[sweep]\nocaml = [\"o=80\"]\n", "`ocaml` of a sweep is a table"),
        (
            "[ocaml]\no = 80\n[sweep]\nocaml.o = [40]\n",
            "`ocaml.o` is both in [ocaml] and in [sweep]",
        ),
        ("ocaml.o = 80\n[sweep.ocaml]\no = [40]\n", "fixed in [ocaml]"),
        (
            "[flags]\nocaml.o = 80\n[ocaml]\na = 1\n[sweep]\npoints = [{ ocaml = { o = 40 } }]\n",
            "`ocaml.o` is both in [flags] and in [sweep]",
        ),
        (
            "[ocaml]\nb = 1\n",
            "ocaml.b: b has no effect here; in OCaml it controls backtraces",
        ),
        (
            "[sweep]\nocaml.v = [0, 1]\n",
            "ocaml.v: --ocaml=v is for the command line, not for experiment files",
        ),
        ("[sweep]\nocaml.o = [40, 0x28]\n", "`ocaml.o` has 40 twice"),
        (
            "[sweep]\nenv.GCLAB_OCAMLRUNPARAM = [\"o=80\"]\n",
            "`env`: GCLAB_OCAMLRUNPARAM would bring flags past the plan",
        ),
    ];
    for (text, start) in starts {
        let error = error(text);
        assert!(error.contains(start), "{error}");
    }
}
