//! `gclab profile show`: pictures of heap profiles, GHC's and ours.

use std::fs;

use crate::docs::root;
use crate::support::Bench;

fn ghc(name: &str) -> String {
    root()
        .join("core/eventlog/tests/it/fixtures")
        .join(name)
        .display()
        .to_string()
}

/// The page of a profile, and the sentence on standard output as one line.
fn shown(bench: &Bench, file: &str, page: &str) -> (String, String) {
    let line = bench.gclab(&["profile", "show", file]).exits(0).stdout;
    assert!(line.lines().all(|line| line.chars().count() <= 80), "{line}");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n";
    (fs::read_to_string(bench.path().join(page)).unwrap(), line)
}

/// The page loads nothing, and is complete.
#[track_caller]
fn check(page: &str) {
    for from_outside in ["src=", "href=", "@import", "url(", "fetch("] {
        assert!(!page.contains(from_outside), "{from_outside}");
    }
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for tag in ["svg", "g", "rect", "title", "table", "tr", "td", "section", "details"] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        let empty = page
            .matches(&format!("<{tag} "))
            .count()
            .min(page.matches("/>").count());
        let closed = page.matches(&format!("</{tag}>")).count();
        assert!(opened == closed || tag == "rect" && opened <= closed + empty, "{tag}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn profiles_of_ghc_are_drawn() {
    let bench = Bench::new();
    let (page, line) = shown(&bench, &ghc("ghc-retainers.hp"), "ghc-retainers.hp.html");
    check(&page);
    assert_eq!(
        line,
        "ghc-retainers.hp.html: 5 censuses, at most 2.6 MiB after 34.232 ms: (89)main 39.3 %, (94)indexB 24.6 %, (95)main,indexB \
         19.4 %, 10 more\n"
    );
    let (_, answer) = line.trim_end().split_once(": ").unwrap();
    assert!(page.contains(&format!("<h1>{answer}</h1>")), "{answer}");
    assert!(page.contains(">retain.p 12000 +RTS -hr -i0.02 -V0.005 -l -s -olretain-hr.eventlog · "));
    // The value under the pointer, and nine bands: of thirty, hp2ps drops twenty-one.
    assert!(
        page.contains("<title>(89)main: 1.0 MiB (39.3 % of 2.6 MiB) at 34.232 milliseconds</title>"),
        "{page}"
    );
    assert_eq!(page.matches("class=\"band\"").count(), 9);
    // Two more views: shares of the heap, and a line for each band.
    assert!(
        page.contains("<summary>Shares</summary>") && page.contains("<polyline"),
        "{page}"
    );
    assert!(
        page.contains("21 bands with less than 1 % together are not drawn"),
        "{page}"
    );
    let order = ["(89)main", "(2)SYSTEM", "(94)indexB", "(92)indexB", "(5)main"];
    let places: Vec<usize> = order
        .iter()
        .map(|name| page.find(&format!("<td class=\"full\">{name}</td>")).unwrap())
        .collect();
    assert!(places.is_sorted(), "the largest band comes first");
    let (types, _) = shown(&bench, &ghc("ghc-closure-types.hp"), "ghc-closure-types.hp.html");
    check(&types);
    // The legend has full names.
    assert!(types.contains("<td class=\"full\">containers-0.6.4.1:Data.Map.Internal.Bin</td>"));
    let (life, _) = shown(&bench, &ghc("ghc-biography.hp"), "ghc-biography.hp.html");
    check(&life);
}

#[test]
fn our_own_profiles_are_drawn() {
    let bench = Bench::new();
    let restricted = ["exec", "hsc_env", "+RTS", "-ho", "-hdNone", "-i0"];
    bench.gclab(&restricted).exits(0);
    let (_, line) = shown(&bench, "hsc_env.hp", "hsc_env.hp.html");
    assert!(
        line.contains("nothing to draw: none of 4 censuses counted a byte"),
        "{line}"
    );
    // GHC's file from a run without a census.
    let head = "JOB \"leak\"\nDATE \"now\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n";
    let sample = |at: &str| format!("BEGIN_SAMPLE {at}\nEND_SAMPLE {at}\n");
    bench.write(
        "leak.hp",
        &format!("{head}{}{}", sample("0.000000"), sample("0.012000")),
    );
    let none = bench.gclab(&["profile", "show", "leak.hp"]).exits(0).stdout;
    assert!(none.contains("the run ended before the first was"), "{none}");
    bench.gclab(&["exec", "hsc_env", "+RTS", "-hy", "-i0"]).exits(0);
    let (page, line) = shown(&bench, "hsc_env.hp", "hsc_env.hp.html");
    check(&page);
    assert!(
        line.starts_with("hsc_env.hp.html: ") && line.contains("censuses, at most"),
        "{line}"
    );
    bench
        .gclab(&["profile", "show", "hsc_env.hp", "-o", "other.html"])
        .exits(0);
    assert_eq!(fs::read_to_string(bench.path().join("other.html")).unwrap(), page);
}

#[test]
fn a_profile_that_cannot_be_drawn_is_one_message() {
    let bench = Bench::new();
    bench.write("x.hp", "hello\n");
    let says = |words: &[&str], expected: &str| assert_eq!(bench.gclab(words).exits(2).stderr, expected);
    says(&["profile", "show", "no.hp"], "gclab: no.hp: no such file\n");
    says(
        &["profile", "show", "x.hp"],
        "gclab: x.hp: line 1: not a heap profile: expected `JOB \"...\"`, found \"hello\"\n",
    );
    assert!(!bench.path().join("x.hp.html").exists());
    says(
        &["profile", "show", "-", "-"],
        "gclab: both profiles are standard input, expected a file for one of them\n",
    );
    // The program was killed during a census.
    let whole = fs::read_to_string(ghc("ghc-biography.hp")).unwrap();
    bench.write("x.hp", &whole[..whole.len() - 100]);
    let (page, line) = shown(&bench, "x.hp", "x.hp.html");
    assert!(
        line.ends_with("; the file ends within a census, which is left out\n"),
        "{line}"
    );
    assert!(page.contains("The file ends within a census"));
}

#[test]
fn a_profile_that_is_cut_within_its_first_census_is_cut() {
    let bench = Bench::new();
    let whole = fs::read_to_string(ghc("ghc-biography.hp")).unwrap();
    let cut = whole.match_indices("BEGIN_SAMPLE").nth(1).unwrap().0 + 40;
    bench.write("x.hp", &whole[..cut]);
    let (_, line) = shown(&bench, "x.hp", "x.hp.html");
    assert_eq!(line, "x.hp.html: 0 censuses, so nothing to draw: the file is cut off\n");
}

#[test]
fn two_profiles_are_compared() {
    let bench = Bench::new();
    let (a, b) = (ghc("ghc-retainers.hp"), ghc("ghc-closure-types.hp"));
    let same = bench.gclab(&["profile", "show", &a, &a]).exits(0).stdout;
    assert!(same.starts_with("B peaks as high as A: 2.6 MiB.\n"), "{same}");
    let other = bench.gclab(&["profile", "show", &a, &b]).exits(0).stdout;
    assert!(other.contains("share no band"), "{other}");
    assert_eq!(fs::read_dir(bench.path()).unwrap().count(), 0, "no page is written");
    bench.gclab(&["profile", "show", &a, &b, "-o", "x.html"]).exits(2);
}
