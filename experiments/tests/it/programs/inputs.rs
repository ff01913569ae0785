//! The standard input of a program: results for two inputs are never mixed.

use super::{results, runs, with_script};

/// The file keeps its name, but its content changes.
#[test]
fn another_input_of_the_same_name_is_another_plan() {
    let bench = with_script("wc -c");
    bench.write("input", "four");
    bench.write(
        "in.toml",
        "repeat = 2\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nstdin = \"input\"\nexpect = { pattern = '([0-9]+)' }\n",
    );
    bench.gclab(&["run", "in.toml"]).exits(0);
    let first = results(&bench, "in");
    let hash = first.manifest().programs[0].input.clone().expect("a hash of the input");
    bench.gclab(&["run", "in.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 1, "the same input is the same plan");
    bench.write("input", "longer");
    bench.gclab(&["run", "in.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2, "results of two inputs are never mixed");
    let second = results(&bench, "in");
    assert_ne!(second.manifest().programs[0].input, Some(hash));
    assert_ne!(second.runs()[0].id, first.runs()[0].id);
    let lengths: Vec<_> = runs(&bench, "in").into_iter().map(|run| run.checksum).collect();
    assert_eq!(lengths, [Some("6".to_owned()), Some("6".to_owned())]);
}

/// A path with an argument's placeholder names several files.
#[test]
fn each_value_of_an_argument_has_the_hash_of_its_own_input() {
    let bench = with_script("cat");
    bench.write("a.txt", "one");
    bench.write("b.txt", "two");
    bench.write(
        "in.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nstdin = \"{which}.txt\"\n\
         sweep = { \"args.which\" = [\"a\", \"b\"] }\n",
    );
    bench.gclab(&["run", "in.toml"]).exits(0);
    let before = results(&bench, "in").manifest().programs.clone();
    assert!(before.iter().all(|program| program.input.is_some()));
    assert_ne!(before[0].input, before[1].input);
    bench.write("b.txt", "three");
    bench.gclab(&["run", "in.toml"]).exits(0);
    assert_eq!(bench.folders().len(), 2);
    let after = results(&bench, "in").manifest().programs.clone();
    assert_eq!(after[0].id, before[0].id, "this one's input is the same");
    assert_ne!(after[1].id, before[1].id);
}

/// A device may be endless, and reading a pipe would wait for its writer.
#[test]
fn an_input_without_end_is_not_hashed() {
    let bench = with_script("head -c 3 | wc -c");
    bench.write(
        "zero.toml",
        "repeat = 1\n[[program]]\nname = \"p\"\ncommand = [\"./prog\"]\nstdin = \"/dev/zero\"\n",
    );
    bench.gclab(&["run", "zero.toml"]).exits(0);
    assert_eq!(results(&bench, "zero").manifest().programs[0].input, None);
}
