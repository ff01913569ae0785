//! `gclab inspect`: a map of the heap as text, as JSON and as a page.

use crate::support::Bench;
use serde_json::Value;

const GCBENCH: [&str; 5] = ["inspect", "gcbench", "10", "8", "5000"];

/// The text with addresses relative to the first one, and without times.
fn steady(text: &str) -> String {
    let mut base = None;
    let mut steady = String::new();
    for line in text.lines() {
        let words = line.split_inclusive(' ').map(|word| {
            let digits = word.trim_end();
            if digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let address = u64::from_str_radix(digits, 16).unwrap();
                let offset = address - *base.get_or_insert(address);
                return word.replace(digits, &format!("+{offset:011x}"));
            }
            word.to_owned()
        });
        let line: String = words.collect();
        match (line.find(", "), line.find(" s after the start")) {
            (Some(from), Some(to)) if from < to => {
                steady += &format!("{}, T{}", &line[..from], &line[to..]);
            }
            _ => steady += &line,
        }
        steady.push('\n');
    }
    steady
}

fn text(words: &[&str]) -> String {
    steady(&Bench::new().gclab(words).exits(0).stdout)
}

#[test]
fn a_map_as_text() {
    let copying = [
        &GCBENCH[..],
        &["--at", "5", "--show", "use,occupancy,age,holes", "+RTS", "-A64k"],
    ]
    .concat();
    insta::assert_snapshot!(text(&copying));
}

#[test]
fn a_map_of_large_objects_as_text() {
    let words = [
        "inspect",
        "mut_array",
        "2000",
        "20000",
        "--collector",
        "two-space",
        "--at",
        "2",
        "+RTS",
        "-A64k",
    ];
    insta::assert_snapshot!(text(&words));
}

#[test]
fn one_is_singular() {
    let words = [
        "inspect",
        "mut_array",
        "2000",
        "20000",
        "--collector",
        "two-space",
        "--at",
        "1",
    ];
    let text = text(&[&words[..], &["+RTS", "-A64k"]].concat());
    assert!(text.contains(", survived 1 collection\n"), "{text}");
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&Bench::new().gclab(words).exits(0).stdout).unwrap()
}

/// Without `--at` the map is of the last collection in the measured phase, not of the one at the
/// end of the run, when nothing is alive.
#[test]
fn the_map_is_of_the_last_collection() {
    let last = json(&[&GCBENCH[..], &["--json", "+RTS", "-A64k"]].concat());
    let number = last["moment"]["collection"].as_u64().unwrap();
    assert!(number > 5, "{last}");
    let next = (number + 1).to_string();
    let words = [&GCBENCH[..], &["--json", "--at", &next, "+RTS", "-A64k"]].concat();
    assert_eq!(json(&words)["moment"]["cause"], "final");
    assert!(last["totals"]["live"].as_u64().unwrap() > 0);
    let shown = text(&[&GCBENCH[..], &["--at", &next, "+RTS", "-A64k"]].concat());
    let head = shown.lines().nth(1).unwrap();
    assert!(
        head.ends_with(": generation 1, major, the collection at the end of the run"),
        "{head}"
    );
}

#[test]
fn a_map_at_a_marker() {
    let words = [
        "inspect",
        "word_index",
        "-",
        "20",
        "200",
        "--json",
        "--at",
        "answers",
        "+RTS",
        "-A64k",
    ];
    let map = json(&words);
    assert_eq!(map["moment"]["marker"], "answers");
    assert!(map["tiles"].as_array().unwrap().len() > 100);
}

#[test]
fn every_error_is_one_message() {
    let mut messages = String::new();
    for words in [
        &["inspect"][..],
        &["inspect", "gcbnch"],
        &["inspect", "gcbench", "10", "8", "5000", "--at", "0"],
        &["inspect", "gcbench", "10", "8", "5000", "--at", ""],
        &["inspect", "gcbench", "10", "8", "5000", "--at", "1000"],
        &["inspect", "gcbench", "10", "8", "5000", "--at", "noon"],
        &["inspect", "word_index", "-", "20", "200", "--at", "noon"],
        &["inspect", "gcbench", "10", "8", "5000", "+RTS", "-A64m"],
        &[
            "inspect", "gcbench", "10", "8", "5000", "--html", "map.html", "+RTS", "-A64m",
        ],
        &["inspect", "gcbench", "--html", "."],
        &["inspect", "gcbench", "10", "8", "5000", "--html", "no/such.html"],
        &["inspect", "gcbench", "--json", "--html", "map.html"],
        &["inspect", "gcbench", "-A1m"],
    ] {
        let bench = Bench::new();
        let done = bench.gclab(words).exits(2);
        assert_eq!(done.stdout, "", "{words:?}");
        assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), 0, "{words:?}");
        messages += &format!("gclab {}\n{}\n", words.join(" "), done.stderr.trim_end());
    }
    insta::assert_snapshot!(messages);
}

/// The map before the end shows what filled the heap.
#[test]
fn an_exhausted_run_has_the_map_of_its_last_collection() {
    let bench = Bench::new();
    let run = ["inspect", "long_list", "200000", "10"];
    let exhausted = |more: &[&str]| {
        let done = bench
            .gclab(&[&run[..], more, &["+RTS", "-A64k", "-M2m"]].concat())
            .exits(251);
        assert!(done.stderr.starts_with("gclab: Heap exhausted"), "{}", done.all());
        done
    };
    let last: Value = serde_json::from_str(&exhausted(&["--json"]).stdout).unwrap();
    let number = last["moment"]["collection"].as_u64().unwrap();
    assert!(number > 1 && last["totals"]["live"].as_u64() > Some(50_000), "{last}");
    let shown = exhausted(&[]).stdout;
    assert!(shown.contains(&format!("as collection {number} left it")), "{shown}");
    exhausted(&["--html", "map.html"]);
    let page = std::fs::read_to_string(bench.path().join("map.html")).unwrap();
    assert!(page.contains(&format!("\"collection\":{number}")));
    assert!(!page.contains(&format!("\"collection\":{}", number + 1)));
}

#[test]
fn an_exhausted_run_has_no_map_of_a_moment_that_did_not_come() {
    let bench = Bench::new();
    for (more, problem) in [
        (&["--at", "1000", "+RTS", "-M2m"][..], "--at asks for number 1000"),
        (&["--html", "map.html", "+RTS", "-DF3"], "refused on purpose"),
    ] {
        let words = [&["inspect", "long_list", "200000", "10"][..], more].concat();
        let done = bench.gclab(&words).exits(251);
        assert!(
            done.stderr.contains(problem) && done.stderr.contains("Heap exhausted"),
            "{}",
            done.all()
        );
        assert!(done.stdout.is_empty() && !bench.path().join("map.html").exists());
    }
}

/// The page is one file, and has the maps of all collections.
#[test]
fn a_page_of_all_collections() {
    let bench = Bench::new();
    let words = [
        &GCBENCH[..],
        &[
            "--html",
            "map.html",
            "--at",
            "4",
            "--collector",
            "compacting",
            "+RTS",
            "-A64k",
        ],
    ]
    .concat();
    let said = bench.gclab(&words).exits(0).stdout;
    assert!(said.starts_with("map.html: ") && said.contains("collections"), "{said}");
    let page = std::fs::read_to_string(bench.path().join("map.html")).unwrap();
    assert!(
        !page.contains("http") && !page.contains(" src="),
        "the page loads something"
    );
    let data = page
        .split("id=\"data\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let frames = data["frames"].as_array().unwrap();
    assert!(frames.len() > 5, "{} maps", frames.len());
    assert_eq!(data["open"], 3);
    let at_four = json(
        &[
            &GCBENCH[..],
            &["--json", "--at", "4", "--collector", "compacting", "+RTS", "-A64k"],
        ]
        .concat(),
    );
    assert_eq!(frames[3]["live"], at_four["totals"]["live"]);
    assert_eq!(frames[3]["moment"]["collection"], 4);
    let title = frames[3]["title"].as_str().unwrap();
    assert!(
        title.starts_with("Collection 4, ")
            && title.ends_with(" s after the start: generation 0, caused by allocation"),
        "{title}"
    );
}

/// These collectors used to show the step names of copying collectors.
#[test]
fn collectors_name_their_own_steps() {
    for (collector, legend, large) in [
        ("mark-sweep", "  c cells, L large object", "large"),
        ("immix", "  l lines, L large object", "large"),
        ("sticky-immix", "o old, L large object", "large, old"),
        ("gen-immix", "o old, L large object", "large, old"),
        ("concurrent", "o old, L large object", "large, old"),
        ("nonmoving", "c cells, L large object", "large, cells"),
        ("ocaml", "a major heap, L large object", "large, major heap"),
        ("copying", "1 generation 1, L large object", "large, generation 1"),
    ] {
        let words = [&GCBENCH[..], &["--at", "5", "--collector", collector, "+RTS", "-A64k"]].concat();
        let shown = text(&words);
        assert!(shown.contains(legend), "{collector}: {shown}");
        assert!(
            shown.lines().any(|line| line.starts_with(&format!("{large}  "))),
            "{collector}: {shown}"
        );
        assert!(!shown.contains("from  to"), "{collector}: {shown}");
        assert!(
            collector != "gen-immix" || shown.contains("from nursery to old"),
            "{shown}"
        );
        assert!(
            collector == "copying" || !shown.contains("aged"),
            "{collector}: {shown}"
        );
    }
}
