//! `gclab heap analyse`: what is large in the heap of another program.

use super::{cells, json, postcss};
use crate::docs::root;
use crate::support::Bench;
use serde_json::Value;
use std::fs;

#[test]
fn the_largest_of_a_snapshot_are_those_that_another_program_found() {
    let expected = fs::read_to_string(root().join("experiments/tests/it/fixtures/postcss.retained.json")).unwrap();
    let Value::Array(expected) = json(&expected) else {
        panic!("no array")
    };
    for top in [50, 7, 1] {
        let done = Bench::new()
            .gclab(&[
                "heap",
                "analyse",
                &postcss(),
                "--top",
                &top.to_string(),
                "--json",
                "--synthetic",
            ])
            .exits(0);
        let report = json(&done.stdout);
        let retained = report["retained"].as_array().unwrap();
        assert_eq!(retained.len(), top);
        for (found, expected) in retained.iter().zip(&expected) {
            for key in ["id", "type", "self_size", "retained_size"] {
                assert_eq!(found[key], expected[key], "{key} of {found}");
            }
            assert!(found["name"].is_string());
        }
        // Known facts about the file.
        let counts = ["nodes", "edges", "strong_edges", "reached", "self_size", "reached_size"]
            .map(|key| report[key].as_u64().unwrap());
        assert_eq!(counts, [76_142, 321_259, 314_221, 76_142, 5_683_202, 5_683_202]);
        let strings = report["types"]
            .as_array()
            .unwrap()
            .iter()
            .find(|count| count["name"] == "string")
            .unwrap();
        assert_eq!(
            (&strings["count"], &strings["self_size"]),
            (&16_109.into(), &1_027_784.into())
        );
        assert!(report["names"].as_array().unwrap().len() <= top);
        // The style sheet being processed is the only one that is the program's.
        let suspects = report["suspects"].as_array().unwrap();
        assert_eq!((suspects.len(), &suspects[0]["id"]), (1, &6215.into()));
    }
}

/// Another program found the first sixty classes, by definition. It takes all plain objects and all
/// scopes as one class, and closures by the names of their functions.
#[test]
fn the_largest_classes_of_a_snapshot_are_those_that_another_program_found() {
    let expected = fs::read_to_string(root().join("experiments/tests/it/fixtures/postcss.classes.json")).unwrap();
    let others = |classes: &Value| -> Vec<Value> {
        let is_other = |class: &&Value| {
            let name = class["name"].as_str().unwrap();
            let is_split = name.starts_with('{') || name.starts_with("scope of ") || name.starts_with("call of ");
            class["type"] != "closure" && !["Object", "system / Context", "Generator"].contains(&name) && !is_split
        };
        classes.as_array().unwrap().iter().filter(is_other).cloned().collect()
    };
    let expected = others(&json(&expected));
    for top in [60, 3] {
        let top_text = top.to_string();
        let words = [
            "heap",
            "analyse",
            &postcss(),
            "--top",
            &top_text,
            "--json",
            "--synthetic",
        ];
        let report = json(&Bench::new().gclab(&words).exits(0).stdout);
        assert_eq!(report["classes"].as_array().unwrap().len(), top);
        let found = others(&report["classes"]);
        assert!(found.len() > top / 2);
        let known = found.len().min(expected.len());
        assert_eq!(found[..known], expected[..known]);
    }
}

#[test]
fn nodes_that_are_not_objects_are_listed_only_if_asked_for() {
    let bench = Bench::new();
    let words = ["heap", "analyse", &postcss(), "--top", "5"];
    let text = bench.gclab(&words).exits(0).stdout;
    assert!(text.contains("1.82 MB   32.0  the rest, in smaller parts"), "{text}");
    assert!(
        !text.contains("synthetic @") && !text.contains("synthetic (GC roots)"),
        "{text}"
    );
    let all = bench.gclab(&[&words[..], &["--synthetic"]].concat()).exits(0).stdout;
    assert!(all.contains("synthetic (GC roots)"), "{all}");
}

/// A list used to fill the list of holders, cell by cell.
#[test]
fn a_list_is_one_line() {
    let bench = Bench::new();
    let dump = [
        "heap",
        "dump",
        "long_list",
        "5000",
        "20000",
        "-o",
        "list.heapsnapshot",
        "+RTS",
        "-A256k",
    ];
    bench.gclab(&dump).exits(0);
    let text = bench.gclab(&["heap", "analyse", "list.heapsnapshot"]).exits(0).stdout;
    assert!(
        text.starts_with("120 kB (100 % of 120 kB): a list of 5,000 Cell\n"),
        "{text}"
    );
    let suspect = "    120 kB   99.8  5,000 × Cell in a list from @13";
    assert_eq!(text.lines().filter(|other| *other == suspect).count(), 1, "{text}");
}

/// Each object of the list refers to the list's owner.
#[test]
fn references_from_deep_in_a_list_do_not_take_quadratic_time() {
    const LINKS: u32 = 60_000;
    let meta = r#"{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["synthetic","object"],"","","",""],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element","property"],"",""]}"#;
    let nodes: String = (0..LINKS).map(|link| format!(",1,2,{},16,2", 2 * link + 5)).collect();
    let edges = (0..LINKS).map(|link| format!(",1,3,{},1,4,5", 5 * (link + 3).min(LINKS + 1)));
    let bench = Bench::new();
    bench.write(
        "owned.heapsnapshot",
        &format!(
            r#"{{"snapshot":{{"meta":{meta},"node_count":{},"edge_count":{}}},
            "nodes":[0,0,1,0,1,1,1,3,16,1{nodes}],"edges":[0,0,5,1,3,10{}],
            "strings":["","Owner","Link","next","owner"]}}"#,
            LINKS + 2,
            2 * LINKS + 2,
            edges.collect::<String>()
        ),
    );
    let text = bench.gclab(&["heap", "analyse", "owned.heapsnapshot"]).exits(0).stdout;
    let expected = "960 kB (100 % of 960 kB): Owner @3 holds 60,000 Link\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("  Owner @3\n"), "{text}");
}

#[test]
fn a_jvm_dump_in_text() {
    let bench = Bench::new();
    fs::copy(cells(), bench.path().join("cells.hprof.gz")).unwrap();
    let words = [
        "heap",
        "analyse",
        "cells.hprof.gz",
        "--top",
        "6",
        "--path-to",
        "30146341144",
    ];
    insta::assert_snapshot!(bench.gclab(&words).exits(0).stdout);
}

/// HotSpot writes roots last, so a dump that is cut off has none.
#[test]
fn without_roots_classes_hold_the_memory() {
    let bench = Bench::new();
    let dump = fs::read(cells()).unwrap();
    fs::write(bench.path().join("cut.hprof.gz"), &dump[..600_000]).unwrap();
    let done = bench.gclab(&["heap", "analyse", "cut.hprof.gz"]).exits(0);
    assert!(
        done.stderr.contains("no roots: classes count as such"),
        "{}",
        done.stderr
    );
    assert!(
        done.stdout.starts_with("nothing holds 5 % of 8.14 kB;"),
        "{}",
        done.stdout
    );
}

#[test]
fn paths_lead_from_the_root_to_the_object() {
    let bench = Bench::new();
    for id in ["6215", "@6215", "0x1847"] {
        let done = bench
            .gclab(&["heap", "analyse", &postcss(), "--json", "--path-to", id])
            .exits(0);
        let report = json(&done.stdout);
        let path = report["path"].as_array().unwrap();
        assert_eq!((&path[0]["id"], &path[0]["edge"]), (&1.into(), &Value::Null));
        let last = path.last().unwrap();
        assert_eq!((&last["id"], &last["name"]), (&6215.into(), &"Root".into()));
        assert!(
            path[1..]
                .iter()
                .all(|step| step["edge"]["type"].is_string() && step["edge"]["name"].is_string())
        );
    }
}

/// A thread used to be just a number among others of its class.
#[test]
fn a_jvm_thread_is_identified_by_its_name() {
    let report = json(
        &Bench::new()
            .gclab(&["heap", "analyse", &cells(), "--json", "--top", "2000"])
            .exits(0)
            .stdout,
    );
    let retained = report["retained"].as_array().unwrap();
    let thread = retained
        .iter()
        .find(|object| object["text"] == "main")
        .expect("the main thread");
    assert_eq!(thread["name"], "java.lang.Thread");
    let id = thread["id"].to_string();
    let text = Bench::new()
        .gclab(&["heap", "analyse", &cells(), "--path-to", &id])
        .exits(0)
        .stdout;
    assert!(
        text.contains(&format!("object java.lang.Thread @{id} \"main\"")),
        "{text}"
    );
}

/// One query: the objects of a class, and what refers to one of them.
/// V8 hides them among its own objects.
#[test]
fn proxies_are_a_class() {
    let nodes: String = (0..20).map(|node| format!(",2,2,{},100,0", 2 * node + 5)).collect();
    let edges: String = (0..20).map(|node| format!(",0,{node},{}", 5 * node + 10)).collect();
    let bench = Bench::new();
    bench.write(
        "proxies.heapsnapshot",
        &format!(
            r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
            "node_types":[["synthetic","object","hidden"],"","","",""],"edge_fields":["type","name_or_index","to_node"],
            "edge_types":[["element"],"",""]}},"node_count":22,"edge_count":21}},
            "nodes":[0,0,1,0,1,1,1,3,16,20{nodes}],"edges":[0,0,5{edges}],"strings":["","Store","system / JSProxy"]}}"#
        ),
    );
    let text = bench
        .gclab(&["heap", "analyse", "proxies.heapsnapshot"])
        .exits(0)
        .stdout;
    assert!(text.contains(": Store @3 holds 20 system / JSProxy\n"), "{text}");
}

/// The roots hold two large arrays, and many others.
#[test]
fn each_large_object_among_many_of_its_class_is_told() {
    const SMALL: usize = 50;
    let sizes = [400, 200].into_iter().chain([0; SMALL]);
    let (mut nodes, mut edges) = (format!("0,0,1,0,{}", sizes.clone().count()), String::new());
    let mut next = 1;
    for (at, size) in sizes.clone().enumerate() {
        edges += &format!("0,{at},{},", 5 * next);
        next += size + 1;
    }
    next = 1;
    for (at, size) in (0..).zip(sizes) {
        nodes += &format!(",1,1,{},16,{size}", 2 * next + 1);
        for element in 0..size {
            next += 1;
            nodes += &format!(",1,{},{},100,0", 2 + at, 2 * next + 1);
            edges += &format!("0,{element},{},", 5 * next);
        }
        next += 1;
    }
    let bench = Bench::new();
    let count = edges.matches(',').count() / 3;
    bench.write(
        "arrays.heapsnapshot",
        &format!(
            r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
            "node_types":[["synthetic","object"],"","","",""],"edge_fields":["type","name_or_index","to_node"],
            "edge_types":[["element"],"",""]}},"node_count":{next},"edge_count":{count}}},
            "nodes":[{nodes}],"edges":[{}],"strings":["","Array","Order","Quote"]}}"#,
            edges.trim_end_matches(',')
        ),
    );
    let report = json(
        &bench
            .gclab(&["heap", "analyse", "arrays.heapsnapshot", "--json"])
            .exits(0)
            .stdout,
    );
    let suspects = report["suspects"].as_array().unwrap();
    let told = suspects
        .iter()
        .map(|own| (own["id"].as_u64().unwrap(), own["parts"][0]["name"].as_str().unwrap()));
    assert_eq!(told.collect::<Vec<_>>(), [(3, "Order"), (805, "Quote")]);
}

/// Nothing but the roots holds the threads, and two have their own values of one variable.
#[test]
fn the_values_of_threads_variables_are_told_with_the_variable() {
    const THREADS: usize = 13;
    let map = "java.lang.ThreadLocal$ThreadLocalMap";
    let classes = [
        "java.lang.Thread",
        map,
        &format!("{map}$Entry[]"),
        &format!("{map}$Entry"),
        "shop.Context",
        "Server",
        "java.lang.ThreadLocal",
    ];
    let strings = ["", "threadLocals", "table", "value", "referent", "CONTEXT"]
        .into_iter()
        .chain(classes);
    let strings: Vec<&str> = strings.collect();
    // The root, the class, its variable, and five objects of each thread.
    let mut nodes = format!("0,0,1,0,{},1,11,3,8,1,1,12,5,8,0", THREADS + 1);
    let mut edges = "0,0,5".to_owned();
    (0..THREADS).for_each(|thread| edges += &format!(",0,0,{}", 5 * (3 + 5 * thread)));
    edges += ",1,5,10";
    for thread in 0..THREADS {
        let first = 3 + 5 * thread;
        for (at, way) in (0..).zip(["1", "2", "0", "3", ""]) {
            let own = first + at;
            let count = [1, 1, 1, 2, 0][at];
            nodes += &format!(
                ",1,{},{},{},{count}",
                6 + at,
                2 * own + 1,
                if at == 4 { 1000 } else { 16 }
            );
            edges += &if at == 3 { ",2,4,10".to_owned() } else { String::new() };
            let kind = if at == 3 && thread >= 2 { 2 } else { 0 };
            edges += &if count > 0 {
                format!(",{kind},{way},{}", 5 * (own + 1))
            } else {
                String::new()
            };
        }
    }
    let bench = Bench::new();
    bench.write(
        "threads.heapsnapshot",
        &format!(
            r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
            "node_types":[["synthetic","object"],"","","",""],"edge_fields":["type","name_or_index","to_node"],
            "edge_types":[["field","static","weak"],"",""]}},"node_count":{},"edge_count":{}}},
            "nodes":[{nodes}],"edges":[{edges}],"strings":{strings:?}}}"#,
            3 + 5 * THREADS,
            2 + 6 * THREADS
        ),
    );
    let text = bench
        .gclab(&["heap", "analyse", "threads.heapsnapshot"])
        .exits(0)
        .stdout;
    assert!(text.contains(": 2 shop.Context by Thread > .threadLocals\n"), "{text}");
    assert!(
        text.contains("  2 × java.lang.Thread that no single object holds\n"),
        "{text}"
    );
    assert!(
        text.contains("ThreadLocal$ThreadLocalMap$Entry of Server.CONTEXT\n"),
        "{text}"
    );
    assert!(
        text.contains("\n                   2 × shop.Context: 2.00 kB\n"),
        "{text}"
    );
}

#[test]
fn objects_are_found_by_class_name_and_size() {
    let bench = Bench::new();
    let ask = |words: &[&str]| {
        json(
            &bench
                .gclab(&[&["heap", "analyse", "--json"], words].concat())
                .exits(0)
                .stdout,
        )
    };
    let all = ask(&[&postcss(), "--objects", "Declaration", "--top", "3"]);
    assert_eq!((&all["count"], &all["self_size"]), (&1712.into(), &150_656.into()));
    let objects = all["objects"].as_array().unwrap();
    assert_eq!((objects.len(), &objects[0]["id"]), (3, &52353.into()));
    let large = ask(&[&postcss(), "--objects", "*", "--above", "1m"]);
    let names: Vec<_> = large["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| &object["name"])
        .collect();
    assert_eq!(names, ["Root", "Array"]);
    // A JVM's thread by its name, and a class as in its source, also without its package.
    assert_eq!(
        ask(&[&cells(), "--objects", "main"])["objects"][0]["name"],
        "java.lang.Thread"
    );
    let cells_of = |name: &str| ask(&[&cells(), "--objects", name])["count"].clone();
    let all = ["Cells$Cell", "Cells.Cell", "Cell"].map(cells_of);
    assert_eq!(all.map(|count| count.as_u64()), [Some(1000); 3]);
    // The class itself and its name are found, too.
    assert!(cells_of("Cells$C*").as_u64() > Some(1000));
    let none = bench
        .gclab(&["heap", "analyse", &cells(), "--objects", "no such"])
        .exits(2);
    assert!(none.stderr.contains("no object is called `no such`"), "{}", none.stderr);
}

/// It used to be possible to ask only for one path.
#[test]
fn an_object_is_shown_with_its_fields_and_all_that_refers_to_it() {
    let bench = Bench::new();
    let ask = |words: &[&str]| {
        json(
            &bench
                .gclab(&[&["heap", "analyse", "--json"], words].concat())
                .exits(0)
                .stdout,
        )
    };
    let about = ask(&[&postcss(), "--about", "6215"]);
    assert_eq!(about["object"]["name"], "Root");
    let named = |key: &str, name: &str| {
        about[key]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["edge"]["name"] == name)
            .count()
    };
    // Each of the 543 rules, 26 at-rules and 24 comments refers to its parent.
    assert_eq!((named("fields", "nodes"), named("referrers", "parent")), (1, 593));
    assert_eq!(about["roots"], serde_json::json!(["(Stack roots)"]));
    let text = bench
        .gclab(&["heap", "analyse", &postcss(), "--about", "6215", "--top", "2"])
        .exits(0)
        .stdout;
    assert!(
        text.starts_with("1.52 MB retained, 160 B itself: object Root @6215\n"),
        "{text}"
    );
    assert!(
        text.contains("more: --top N")
            && text
                .lines()
                .all(|line| line.chars().count() <= 80 || line.starts_with("next: ")),
        "{text}"
    );
    bench.gclab(&["heap", "analyse", &postcss(), "--about", "2"]).exits(2);
}

#[test]
fn equal_strings_and_empty_collections_are_reported_with_what_they_waste() {
    let bench = Bench::new();
    let ask = |words: &[&str]| {
        json(
            &bench
                .gclab(&[&["heap", "analyse", "--json"], words].concat())
                .exits(0)
                .stdout,
        )
    };
    for file in [postcss(), cells()] {
        let report = ask(&[&file, "--strings", "--top", "1000000"]);
        let strings = report["strings"].as_array().unwrap();
        let wasted: u64 = strings.iter().map(|equal| equal["wasted"].as_u64().unwrap()).sum();
        assert!(wasted > 0 && report["wasted"] == wasted, "{wasted}");
        assert!(strings.iter().all(|equal| equal["count"].as_u64() > Some(1)));
    }
    let report = ask(&[&cells(), "--collections"]);
    let maps = report["collections"]
        .as_array()
        .unwrap()
        .iter()
        .find(|own| own["name"] == "java.util.HashMap")
        .unwrap();
    let [count, empty, mostly] = ["count", "empty", "mostly_empty"].map(|key| maps[key].as_u64().unwrap());
    assert!(count > mostly && mostly >= empty && empty > 0, "{maps}");
    let none = bench.gclab(&["heap", "analyse", &postcss(), "--collections"]).exits(2);
    assert!(
        none.stderr.contains("only a JVM's dump tells how full collections are"),
        "{}",
        none.stderr
    );
    bench
        .gclab(&["heap", "analyse", &cells(), "--collections", "--strings"])
        .exits(2);
}

/// A dump from a pipe used to be read as if its middle were its start. It cannot be read again.
#[test]
fn a_dump_of_a_jvm_is_read_from_a_pipe() {
    let said = |question: &str| {
        let output = std::process::Command::new("sh")
            .args([
                "-c",
                "cat \"$0\" | \"$1\" heap analyse - --objects Cells\\$Cell $2",
                &cells(),
                env!("CARGO_BIN_EXE_gclab"),
                question,
            ])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(json(&said("--json"))["count"], 1000);
    assert!(!said("").contains("next: "), "{}", said(""));
}

/// V8 has a text that was put together as two strings.
#[test]
fn texts_are_found_across_the_parts_of_a_string() {
    let bench = Bench::new();
    let count = |text: &str| {
        let words = ["heap", "analyse", &postcss(), "--objects", text];
        let text = bench.gclab(&words).exits(0).stdout;
        assert!(text.contains(" \"text of 17builtins\"\n"), "{text}");
        text.split(' ').next().unwrap().to_owned()
    };
    assert_eq!(["*of 17builtins", "text of 17builtins"].map(count), ["1", "1"]);
}

/// It was ignored.
#[test]
fn the_number_of_a_heap_dump_is_for_a_jvm() {
    let bench = Bench::new();
    let done = bench.gclab(&["heap", "analyse", &postcss(), "--dump", "2"]).exits(2);
    let expected = ": --dump is for a JVM's heap dumps, and this is none\n";
    assert!(done.stderr.ends_with(expected) && done.stdout.is_empty(), "{done:?}");
}
