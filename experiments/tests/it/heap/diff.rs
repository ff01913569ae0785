//! `gclab heap diff`: why a heap grows.

use super::{cells, json};
use crate::docs::{pages, root};
use crate::support::Bench;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;

/// Snapshots of the page's program: each has forty listeners more than the one before.
fn leak(number: u32) -> String {
    root()
        .join(format!("workloads/fixtures/leak-{number}.heapsnapshot.gz"))
        .display()
        .to_string()
}

fn report(words: &[&str]) -> Value {
    json(
        &Bench::new()
            .gclab(&[&["heap", "diff", "--json"], words].concat())
            .exits(0)
            .stdout,
    )
}

/// The class in a report whose name starts with this.
fn class<'r>(report: &'r Value, name: &str) -> &'r Value {
    let classes = report["classes"].as_array().unwrap();
    classes
        .iter()
        .find(|class| class["name"].as_str().unwrap().starts_with(name))
        .unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[test]
fn the_holder_of_new_objects_is_named_with_its_path() {
    let report = report(&[&leak(1), &leak(2), &leak(3)]);
    assert_eq!((&report["leak"], &report["by_id"]), (&true.into(), &true.into()));
    let holder = &report["holders"][0];
    assert_eq!(
        (&holder["id"], &holder["name"]),
        (&77535.into(), &"EventEmitter".into())
    );
    assert_eq!(
        holder["path"],
        ".bus EventEmitter @77535 > ._events > .config-changed Array"
    );
    assert_eq!(
        (&holder["parts"][0]["count"], &holder["parts"][0]["name"]),
        (&80.into(), &"onConfigChanged server.js:13:52".into())
    );
    // Each step is half of it, except for the growth of the array of listeners.
    let steps: Vec<u64> = holder["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step.as_u64().unwrap())
        .collect();
    assert_eq!(steps.iter().sum::<u64>(), holder["bytes"].as_u64().unwrap());
    assert!(steps[0].abs_diff(steps[1]) < 2000, "{steps:?}");
    for name in ["onConfigChanged server.js:13:52", "Session"] {
        let class = class(&report, name);
        assert_eq!(
            (&class["new"], &class["gone"], &class["steps"]),
            (&80.into(), &0.into(), &vec![40, 40].into()),
            "{name}"
        );
    }
}

#[test]
fn two_files_leave_open_whether_it_goes_on() {
    let files = [leak(1), leak(2), leak(3)];
    let told = |count: usize| {
        let words = ["heap", "diff"]
            .into_iter()
            .chain(files[..count].iter().map(String::as_str));
        let text = Bench::new().gclab(&words.collect::<Vec<_>>()).exits(0).stdout;
        text.contains("\nTwo files do not tell a leak from a cache that still fills: add a third\n")
    };
    assert_eq!([2, 3].map(told), [true, false]);
}

/// Each collection of GHC moves closures, so cores are compared by class and path.
#[test]
fn the_list_that_grows_in_a_haskell_program_is_named_from_two_cores() {
    let bench = Bench::new();
    for name in ["short", "long"] {
        let packed = root().join(format!("core/snapshot/tests/corpus/core/{name}.gz"));
        let mut whole = Vec::new();
        GzDecoder::new(fs::File::open(packed).unwrap())
            .read_to_end(&mut whole)
            .unwrap();
        // The program comes after its core.
        let program = whole.windows(4).rposition(|start| start == b"\x7fELF").unwrap();
        fs::write(bench.path().join(name), &whole[..program]).unwrap();
        fs::write(bench.path().join("program"), &whole[program..]).unwrap();
    }
    let words = ["heap", "diff", "--json", "--exe", "program", "short", "long"];
    let report = json(&bench.gclab(&words).exits(0).stdout);
    assert_eq!((&report["leak"], &report["by_id"]), (&true.into(), &false.into()));
    let class = class(&report, "M.Node");
    assert_eq!((&class["new"], &class["bytes"]), (&100.into(), &3200.into()));
    let path = report["holders"][0]["path"].as_str().unwrap();
    let is_thread = path.starts_with("TSO @") && path.ends_with(" \"thread 5\" > .stack STACK");
    assert!(is_thread, "{path}");
}

/// In reverse, everything is gone; and a file compared with itself shows no change.
#[test]
fn a_heap_that_does_not_grow_has_no_leak() {
    let gone = report(&[&leak(3), &leak(1)]);
    assert_eq!(
        (&gone["leak"], &class(&gone, "Session")["gone"]),
        (&false.into(), &80.into())
    );
    assert!(gone["growth"].as_i64().unwrap() < 0);
    let bench = Bench::new();
    let same = bench.gclab(&["heap", "diff", &leak(2), &leak(2)]).exits(0).stdout;
    assert!(
        same.starts_with("No leak: 42.5 kB -> 42.5 kB; nothing holds 1 % more than before\n"),
        "{same}"
    );
    bench
        .gclab(&["heap", "diff", &leak(2), &leak(2), "--fail-above", "0"])
        .exits(0);
}

/// `--top` limits the tables, not the answer.
#[test]
fn the_answer_is_there_without_tables() {
    let answer = |top: &[&str]| {
        let (one, two) = (leak(1), leak(2));
        let words = [&["heap", "diff", &one, &two], top].concat();
        let shown = Bench::new().gclab(&words).exits(0).stdout;
        shown.lines().next().map(str::to_owned)
    };
    assert_eq!(answer(&["--top", "0"]), answer(&[]));
}

/// "No leak" was the answer where one object grew.
#[test]
fn an_object_that_grows_is_its_own_holder() {
    let bench = Bench::new();
    for size in [100_000, 200_000, 300_000] {
        let meta = r#"{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["synthetic","object"],"","","",""],
            "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element"],"",""]}"#;
        bench.write(
            &format!("{size}.heapsnapshot"),
            &format!(
                r#"{{"snapshot":{{"meta":{meta},"node_count":2,"edge_count":1}},
                "nodes":[0,0,1,0,1,1,1,3,{size},0],"edges":[0,0,5],"strings":["","Row\nof text"]}}"#
            ),
        );
    }
    let files = ["100000.heapsnapshot", "200000.heapsnapshot", "300000.heapsnapshot"];
    let said = bench.gclab(&[&["heap", "diff"], &files[..]].concat()).exits(0).stdout;
    let expected = "200 kB new, 100 kB a step: Row of text @3\n";
    assert!(said.starts_with(expected), "{said}");
    // What an old object grew by is new, too.
    assert!(said.contains("\n    200 kB        0 "), "{said}");
}

#[test]
fn growth_that_nothing_holds_is_told_with_the_class_that_grew_most() {
    let bench = Bench::new();
    for more in [0, 100] {
        let meta = r#"{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["synthetic","object"],"","","",""],
            "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element"],"",""]}"#;
        let size = |kind: u32| 60 + if kind == 77 { 2 * more } else { more };
        let nodes: String = (1..=200)
            .map(|kind| format!(",1,{kind},{},{},0", 2 * kind + 1, size(kind)))
            .collect();
        let edges: Vec<String> = (1..=200).map(|kind| format!("0,{kind},{}", 5 * kind)).collect();
        let names: String = (1..=200).map(|kind| format!(r#","com.example.Kind{kind}""#)).collect();
        bench.write(
            &format!("{more}.heapsnapshot"),
            &format!(
                r#"{{"snapshot":{{"meta":{meta},"node_count":201,"edge_count":200}},
                "nodes":[0,0,1,0,200{nodes}],"edges":[{}],"strings":[""{names}]}}"#,
                edges.join(",")
            ),
        );
    }
    let words = ["heap", "diff", "0.heapsnapshot", "100.heapsnapshot"];
    let text = bench.gclab(&words).exits(0).stdout;
    let expected = "The heap grew by 20.1 kB, but no holder was found; mostly Kind77\n";
    assert!(text.starts_with(expected), "{text}");
}

/// Three files in which some registries have the same 100, 300 and 500 listeners.
fn listeners(registry: &str, listener: &str, registries: u32) -> Bench {
    let bench = Bench::new();
    for count in [100, 300, 500] {
        let meta = r#"{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["synthetic","object"],"","","",""],
            "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element"],"",""]}"#;
        let all = registries + 1..registries + 1 + count;
        let each = |row: &dyn Fn(u32) -> String| (1..=registries).map(row).collect::<String>();
        let listeners: String = all.clone().map(|node| format!(",1,2,{},100,0", 2 * node + 1)).collect();
        let held: String = all.map(|node| format!(",0,{node},{}", 5 * node)).collect();
        bench.write(
            &format!("{count}.heapsnapshot"),
            &format!(
                r#"{{"snapshot":{{"meta":{meta},"node_count":{},"edge_count":{}}},
                "nodes":[0,0,1,0,{registries}{}{listeners}],"edges":[{}{}],
                "strings":["","{registry}","{listener}"]}}"#,
                registries + 1 + count,
                registries * (count + 1),
                each(&|node| format!(",1,1,{},16,{count}", 2 * node + 1)),
                each(&|node| format!(",0,0,{}", 5 * node)).trim_start_matches(','),
                each(&|_| held.clone()),
            ),
        );
    }
    bench
}

/// Nothing but the root holds them.
#[test]
fn variables_that_several_objects_hold_are_told() {
    let bench = listeners("Map", "scope of open app.js:1:1", 2);
    let text = bench.gclab(&["heap", "analyse", "500.heapsnapshot"]).exits(0).stdout;
    let expected = "500 × scope of open app.js:1:1 that no single object holds\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_first_line_has_room_for_what_grew_whatever_its_package() {
    let package = "com.example.platform.registry.internal";
    let bench = listeners(
        &format!("{package}.ListenerRegistry"),
        &format!("{package}.SessionListener"),
        1,
    );
    let said = |words: &[&str]| bench.gclab(&[&["heap"], words].concat()).exits(0).stdout;
    let text = said(&["diff", "100.heapsnapshot", "300.heapsnapshot", "500.heapsnapshot"]);
    let expected = "40.0 kB new, 20.0 kB a step: ListenerRegistry @3 holds 400 SessionListener\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("        0  SessionListener\n"), "{text}");
    let text = said(&["analyse", "500.heapsnapshot"]);
    let expected = "50.0 kB (100 % of 50.0 kB): ListenerRegistry @3 holds 500 SessionListener\n";
    assert!(text.starts_with(expected), "{text}");
    // The line below has room for the bytes, and the one above for the whole name.
    assert!(text.contains("500 × SessionListener: 50.0 kB\n"), "{text}");
    assert!(text.contains(&format!("  {package}.ListenerRegistry @3\n")), "{text}");
}

/// The next command has the id, too.
#[test]
fn the_first_line_leaves_out_an_id_rather_than_what_grew() {
    let bench = listeners("java.lang.ApplicationShutdownHooks", "shop.SessionListener", 1);
    let text = bench
        .gclab(&[
            "heap",
            "diff",
            "100.heapsnapshot",
            "300.heapsnapshot",
            "500.heapsnapshot",
        ])
        .exits(0)
        .stdout;
    let expected = "40.0 kB new, 20.0 kB a step: ApplicationShutdownHooks holds 400 SessionListener\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("\nnext: gclab heap analyse 500.heapsnapshot --path-to 3\n"),
        "{text}"
    );
}

#[test]
fn a_build_fails_if_the_heap_grows_by_more_than_is_allowed() {
    let bench = Bench::new();
    let words = ["heap", "diff", &leak(1), &leak(3), "--fail-above"];
    let failed = bench.gclab(&[&words[..], &["40KB"]].concat()).exits(1);
    assert!(
        failed
            .stderr
            .contains("the heap grew by 41.8 kB, more than --fail-above allows"),
        "{}",
        failed.stderr
    );
    bench.gclab(&[&words[..], &["1MB"]].concat()).exits(0);
    let wrong = bench.gclab(&[&words[..], &["much"]].concat()).exits(2);
    assert!(
        wrong.stderr.contains("expected a size, as in 1MB, 500k or 0"),
        "{}",
        wrong.stderr
    );
    bench.gclab(&["heap", "diff", &leak(1)]).exits(2);
    let missing = bench.gclab(&["heap", "diff", &leak(1), "none"]).exits(2);
    assert!(missing.stderr.contains("none: no such file"), "{}", missing.stderr);
}

#[test]
fn heaps_of_different_programs_of_one_runtime_are_refused() {
    let other = root().join("workloads/fixtures/leak-1.hprof.gz").display().to_string();
    let done = Bench::new().gclab(&["heap", "diff", &cells(), &other]).exits(2);
    assert_eq!(done.stdout, "");
    assert!(
        done.stderr.contains("leak-1.hprof.gz: a heap of another program than ") && done.stderr.lines().count() == 1,
        "{}",
        done.stderr
    );
}

/// A JVM's dump of these classes, of which the first is the main one if it is told.
fn classes(names: &[&str], is_told: bool) -> Vec<u8> {
    let mut dump = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0".to_vec();
    let mut record = |tag: u8, parts: &[&[u8]]| {
        let whole = parts.concat();
        dump.extend([&[tag, 0, 0, 0, 0], &(whole.len() as u32).to_be_bytes()[..], &whole].concat());
    };
    let mut entries: Vec<u8> = Vec::new();
    let field = 99_u64.to_be_bytes();
    record(1, &[&field, b"appClass"]);
    let launcher = is_told.then_some("sun/launcher/LauncherHelper");
    for (at, class) in (1_u64..).zip(names.iter().copied().chain(launcher)) {
        let (id, name) = ((16 * at).to_be_bytes(), (100 + at).to_be_bytes());
        record(1, &[&name, class.as_bytes()]);
        record(2, &[&(at as u32).to_be_bytes(), &id, &[0; 4], &name]);
        // The superclass, loader and others, the size, constants, static fields and fields.
        entries.extend([&[0x20], &id[..], &[0; 4 + 6 * 8 + 4 + 2 + 2]].concat());
        if Some(class) == launcher {
            let end = entries.len() - 1;
            entries[end] = 1;
            entries.extend([&field[..], &[2], &16_u64.to_be_bytes()].concat());
        }
        entries.extend([0; 2]);
    }
    record(0x1c, &[&entries]);
    record(0x2c, &[]);
    dump
}

/// Any class that two small programs shared was enough to compare them.
#[test]
fn heaps_of_small_programs_with_few_classes_in_common_are_refused() {
    let bench = Bench::new();
    for (name, names, is_told) in [
        ("one", &["One", "Session", "Dump"][..], false),
        ("later", &["One", "Session", "Dump", "Task"], false),
        ("other", &["Two", "Order", "Dump"], false),
        ("main-one", &["One", "Dump", "Log", "Pool"], true),
        ("main-two", &["Two", "Dump", "Log", "Pool"], true),
    ] {
        fs::write(bench.path().join(name), classes(names, is_told)).unwrap();
    }
    let refused = |files: [&str; 2]| {
        let done = bench.gclab(&[&["heap", "diff"], &files[..]].concat());
        let message = format!(
            "{}: a heap of another program than {}: it has other classes\n",
            files[1], files[0]
        );
        done.stderr.ends_with(&message)
    };
    let pairs = [
        ["one", "later"],
        ["one", "other"],
        ["main-one", "main-two"],
        ["main-one", "main-one"],
    ];
    assert_eq!(pairs.map(refused), [false, true, true, false]);
}

/// Our dumps renumber objects, so they are compared by class and path.
#[test]
fn heaps_without_stable_ids_are_compared_by_class_and_path() {
    let bench = Bench::new();
    for cells in ["1000", "3000"] {
        let name = format!("{cells}.heapsnapshot");
        bench
            .gclab(&[
                "heap",
                "dump",
                "long_list",
                cells,
                "20000",
                "-o",
                &name,
                "+RTS",
                "-A64k",
            ])
            .exits(0);
    }
    let text = bench
        .gclab(&["heap", "diff", "1000.heapsnapshot", "3000.heapsnapshot", "--json"])
        .exits(0)
        .stdout;
    let report = json(&text);
    assert_eq!((&report["by_id"], &report["leak"]), (&false.into(), &true.into()));
    assert_eq!(
        (&class(&report, "Cell")["new"], &report["holders"][0]["bytes"]),
        (&2000.into(), &48_000.into())
    );
}

#[test]
fn no_line_wraps_and_the_first_is_the_answer() {
    let bench = Bench::new();
    let (one, last) = (leak(1), leak(3));
    let files = [leak(1), leak(2), leak(3)];
    for words in [
        vec!["diff", &files[0], &files[1], &files[2]],
        vec!["diff", &one, &last],
        vec!["analyse", &last, "--path-to", "77535"],
    ] {
        let text = bench.gclab(&[&["heap"], &words[..]].concat()).exits(0).stdout;
        let first = text.lines().next().unwrap();
        assert!(
            first.contains("EventEmitter @77535 holds") && first.contains("onConfigChanged"),
            "{first}"
        );
        // The name of a file may have any length.
        for line in text.lines().filter(|line| !line.starts_with("next: ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

/// The page on finding a leak shows what its commands print.
#[test]
fn the_page_on_leaks_shows_what_its_commands_print() {
    let page = pages()
        .into_iter()
        .find(|page| page.name() == "docs/heap-leaks.md")
        .unwrap();
    let bench = Bench::new();
    fs::create_dir_all(bench.path().join("workloads/fixtures")).unwrap();
    for (number, ending) in (1..=3).flat_map(|number| ["heapsnapshot", "hprof"].map(|ending| (number, ending))) {
        let file = format!("workloads/fixtures/leak-{number}.{ending}.gz");
        fs::copy(root().join(&file), bench.path().join(&file)).unwrap();
    }
    let blocks = page.blocks().into_iter().filter(|block| block.language == "console");
    let mut commands = 0;
    for block in blocks {
        let (command, output) = block.text.trim_end().split_once('\n').expect("output");
        let words: Vec<&str> = command.strip_prefix("$ gclab ").unwrap().split(' ').collect();
        assert_eq!(bench.gclab(&words).exits(0).stdout.trim_end(), output, "{command}");
        commands += 1;
    }
    assert_eq!(commands, 4);
}

/// Two heap dumps in one file are compared with each other.
#[test]
fn the_heap_dumps_of_one_file_are_compared() {
    let read = |number: u32| {
        let file = root().join(format!("workloads/fixtures/leak-{number}.hprof.gz"));
        let mut bytes = Vec::new();
        let mut packed = GzDecoder::new(fs::File::open(file).unwrap());
        packed.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let (mut both, later) = (read(1), read(3));
    // The second without the header of its file: a text that ends with 0, 4 bytes and 8 bytes.
    let header = later.iter().position(|&byte| byte == 0).unwrap() + 13;
    both.extend(&later[header..]);
    let bench = Bench::new();
    fs::write(bench.path().join("both.hprof"), both).unwrap();
    let growth = |words: &[&str]| {
        let done = bench.gclab(&[&["heap", "diff", "--json"], words].concat()).exits(0);
        (json(&done.stdout)["growth"].clone(), done.stderr)
    };
    let [first, last] = [1, 3].map(|number| {
        root()
            .join(format!("workloads/fixtures/leak-{number}.hprof.gz"))
            .display()
            .to_string()
    });
    let (expected, _) = growth(&[&first, &last]);
    assert_ne!(expected, 0);
    let apart = growth(&["--dump", "1,2", "both.hprof", "both.hprof"]);
    assert_eq!(apart, (expected, String::new()));
    assert_eq!(growth(&["--dump=1", "both.hprof", "both.hprof"]).0, 0);
    let done = bench
        .gclab(&["heap", "diff", "--dump=1,2,1", "both.hprof", "both.hprof"])
        .exits(2);
    assert!(done.stderr.contains("--dump: 3 numbers for 2 files"), "{done:?}");
    let words = ["heap", "analyse", "--dump=1", "both.hprof"];
    let text = bench.gclab(&words).exits(0).stdout;
    assert!(
        text.contains("\nnext: gclab heap analyse both.hprof --dump 1 --path-to "),
        "{text}"
    );
}
