//! Heap profiles in reports: their section, and that they enter no other section.

use super::synthetic::{self, fail, opened, profiled, small, small_runs, write};
use crate::analysis::answers::{answers, headline};
use crate::analysis::pauses::pause_rows;
use crate::analysis::profiles::profiled as profiled_runs;
use crate::folder::Results;
use crate::render::terminal_within;
use crate::summary::Summary;
use crate::{compare, comparison, csv, html, markdown, untimed_disagreements};
use gclab_results::{HeapProfile, RunRecord, Status};
use tempfile::{TempDir, tempdir};

fn folder(runs: &[RunRecord]) -> (TempDir, Results) {
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), profiled().0, runs);
    (parent, dir)
}

/// The folder with profiles, and the same without.
fn with_and_without() -> (TempDir, Results, TempDir, Results) {
    let (with_parent, with) = folder(&profiled().1);
    let without_parent = tempdir().expect("a temporary folder");
    let without = write(without_parent.path(), synthetic::manifest(&small()), &small_runs());
    (with_parent, with, without_parent, without)
}

/// The part of a page between two texts.
fn section<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let begin = page.find(from).unwrap_or_else(|| panic!("no {from}"));
    let end = page[begin..].find(to).unwrap_or_else(|| panic!("no {to}"));
    &page[begin..begin + end]
}

/// The profiled runs of the model take a hundred times as long. No figure may show that.
/// The ids of the timed runs.
fn ids(dir: &Results) -> Vec<String> {
    dir.runs().iter().map(|run| run.id().expect("a name")).collect()
}

#[test]
fn profiled_runs_are_in_no_statistic() {
    let (_a, with, _b, without) = with_and_without();
    assert_eq!((with.runs().len(), with.profiled().len(), with.done()), (36, 3, 39));
    // Read again from the disk.
    let with = opened(with.path());
    assert_eq!((ids(&with), with.profiled().len()), (ids(&without), 3));
    assert_eq!((with.done(), with.planned()), (39, 39));
    assert_eq!(with.strays().expect("no record is read"), None);

    let (one, other) = (Summary::of(&with), Summary::of(&without));
    assert_eq!(headline(&one, &answers(&one)), headline(&other, &answers(&other)));
    for (work, same) in one.works.iter().zip(&other.works) {
        let counts = |work| {
            pause_rows(work)
                .iter()
                .map(|row| (row.count, row.sorted.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(work), counts(same));
    }
    let text = terminal_within(&with, None);
    let is_of_profile = |line: &&str| line.contains(": at most ");
    let of_profiles: Vec<&str> = text.lines().filter(is_of_profile).collect();
    assert_eq!(of_profiles.len(), 3, "{text}");
    let (tables, answer) = text.split_once("\nAnswer").expect("an answer");
    let others = terminal_within(&without, None);
    assert_eq!(
        Some((tables, true)),
        others.split_once("\nAnswer").map(|(same, _)| (same, true))
    );
    assert!(answer.contains("copying A=1m, -hy -i0: at most"), "{answer}");
    assert_eq!(csv(std::slice::from_ref(&with)), csv(std::slice::from_ref(&without)));
    let pages = [&with, &without].map(|dir| html(std::slice::from_ref(dir)));
    for (from, to) in [
        ("<h3 id=\"the-best-configurations\"", "</section>"),
        ("<h2>Pauses", "</section>"),
        ("<h2>All configurations", "</section>"),
    ] {
        let [a, b] = [&pages[0], &pages[1]].map(|page| section(page, from, to));
        assert_eq!(a, b, "{from}");
    }
    let against = compare(&without, &with, 0.03, None);
    assert!(
        !against.regressed() && against.only_new.is_empty(),
        "{}",
        comparison(&against)
    );
    let markdown = markdown(std::slice::from_ref(&with));
    let (before, rest) = markdown.split_once("\n### Heap profiles\n").expect("a part of its own");
    let others = crate::markdown(std::slice::from_ref(&without));
    let tables = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with('|'))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(tables(before), tables(&others));
    insta::assert_snapshot!(&rest[..rest.find("\nProcessor:").expect("the machine")]);
    insta::assert_snapshot!(of_profiles.join("\n"));
}

#[test]
fn a_chart_and_a_table_for_each() {
    let (_parent, dir) = folder(&profiled().1);
    let page = html(std::slice::from_ref(&dir));
    let part = section(&page, "<h2>Heap profiles", "</section>");
    assert_eq!(
        part.matches(r#"<svg class="chart""#).count(),
        9,
        "the bytes, the shares and the lines of each"
    );
    for view in [": shares</title>", ": a line for each band</title>"] {
        assert_eq!(part.matches(view).count(), 3, "{view}");
    }
    // 16 types: twelve have colours, the rest is one band; and the same in the table.
    assert_eq!(
        part.matches("(4 more)").count(),
        33,
        "description, band, legend and its tip, in three views; table, and 20 places"
    );
    for wanted in [
        "<h3>binary_trees 14</h3>",
        "Heap by type, copying A=1m, -hy -i0",
        "CPU time of the mutators, seconds",
        "CPU time of the mutators, milliseconds",
        "half built",
        "0.5 MiB",
        "Tree&lt;Node&gt;",
        "table.Entry, core.MUT_ARR_PTRS, a.B, c.D, and 1 more",
        "20 censuses in 0.0125 s of CPU time",
        "1 census in 0.000100 s of CPU time",
    ] {
        assert!(part.contains(wanted), "{wanted}: {part}");
    }
    assert!(!part.contains("NaN") && !part.contains("Tree<Node>"));
    for run in dir.profiled() {
        assert!(part.contains(&format!("profiles/{}.hp", run.record.file_stem())));
    }
    assert!(page.contains(" · 3 heap profiles · "));
    // A folder of an older gclab has files named by ids alone.
    let old = &dir.profiled()[0].record.id;
    std::fs::create_dir_all(dir.path().join("profiles")).expect("a folder");
    std::fs::write(dir.profile_file(old, "hp"), "").expect("a file");
    assert!(html(std::slice::from_ref(&dir)).contains(&format!("profiles/{old}.hp")));
}

/// The figures at a place are under the pointer, and a set has the names of its members: its number
/// differs from run to run.
#[test]
fn a_picture_tells_its_figures_and_names() {
    let (_parent, dir) = folder(&profiled().1);
    let page = html(std::slice::from_ref(&dir));
    let part = section(&page, "<h2>Heap profiles", "</section>");
    let at = "pointer-events=\"all\"><title>0.25: ";
    let tip = section(&part[part.find(at).expect("a strip")..], "<title>", "</title>");
    assert!(tip.contains("ByteArray 293.0 KiB, Tree&lt;Node&gt; 39.1 KiB"), "{tip}");
    let line = terminal_within(&dir, None)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        line.contains("Entry,MUT_ARR_PTRS 96.2") && !line.contains("(2)Entry"),
        "{line}"
    );
    assert!(
        part.contains("<title>table.Entry, core.MUT_ARR_PTRS, a.B, c.D, e.F</title>"),
        "{part}"
    );
}

/// The order does not depend on the sizes. It goes upwards in the picture, downwards in the table.
#[test]
fn a_biography_is_in_the_order_of_a_life() {
    let (_parent, dir) = folder(&profiled().1);
    let summary = Summary::of(&dir);
    let works = profiled_runs(&dir, &summary);
    let life = works
        .iter()
        .flat_map(|(_, runs)| runs)
        .find(|run| run.label.ends_with("-hb"))
        .expect("one");
    let order = ["VOID", "LAG", "USE", "INHERENT_USE", "DRAG"];
    let chart = life.chart().expect("two censuses");
    assert!(chart.bands.iter().map(|band| band.name.as_str()).eq(order));
    let (peak, rows) = life.peak().expect("a peak");
    assert!(
        rows.iter()
            .map(|row| row.name.as_str())
            .eq(order.into_iter().chain(["sum"]))
    );
    assert_eq!((peak.seconds, peak.bytes()), (1.0, 167 << 10));
}

#[test]
fn failures_and_profiles_of_nothing() {
    let (_, mut runs) = profiled();
    let last = runs.len() - 1;
    fail(&mut runs[last], Status::HeapExhausted, "none left");
    runs[last - 1].profile = Some(HeapProfile {
        breakdown: "type".to_owned(),
        ..HeapProfile::default()
    });
    fail(&mut runs[last - 2], Status::Timeout, "late");
    runs[last - 2].profile = None;
    let (_parent, dir) = folder(&runs);
    let dirs = [dir];
    let page = html(&dirs);
    let part = section(&page, "<h2>Heap profiles", "</section>");
    for said in [
        "the run ended as heap exhausted; 2 censuses in 0.250 s of CPU time",
        "no census: the run ended before the first was due",
        "the run ended as timeout; no profile was recorded",
    ] {
        assert!(part.contains(said), "{said}: {part}");
        assert!(
            markdown(&dirs).contains(&said.replace('<', "&lt;").replace('>', "&gt;")),
            "{said}"
        );
    }
    assert_eq!(part.matches(r#"<svg class="chart""#).count(), 3, "of one profile");
    // Of the timed runs four failed, as without profiles; and here two more.
    assert!(page.contains("6 of 39 runs did not end well"));
    let failed = section(&page, "<h2>Failed runs", "</section>");
    assert!(
        failed.contains("<td>-hb</td>") && failed.contains("<td>-hy -i0</td>"),
        "{failed}"
    );
}

/// One part of a sweep may have the profiles, and another one the timed runs. The profiles then
/// answer by themselves, and name the settings in which they differ.
#[test]
fn a_part_with_profiles_alone_answers_and_names_settings() {
    let (manifest, runs) = profiled();
    let mut runs: Vec<RunRecord> = runs.into_iter().filter(|run| run.profile.is_some()).collect();
    for (run, area) in runs.iter_mut().zip(["1m", "4m", "16m"]) {
        run.flags.insert("A".to_owned(), area.to_owned());
    }
    let parent = tempdir().expect("a temporary folder");
    let dir = write(parent.path(), manifest, &runs);
    assert_eq!((dir.runs().len(), dir.profiled().len()), (0, 3));
    let text = terminal_within(&dir, None);
    let answer = text.split_once("\nAnswer\n").expect("an answer").1;
    for label in [
        "A=1m, -hy -i0: at most ",
        "A=4m, -hr -R0 -i0: at most ",
        "A=16m, -hb: at most ",
    ] {
        assert!(answer.contains(label), "{label}: {text}");
    }
    assert!(!text.contains("no answer"), "{text}");
    let page = html(std::slice::from_ref(&dir));
    assert!(
        section(&page, "<h2>Heap profiles", "</section>").contains("A=16m, -hb"),
        "{page}"
    );
    assert!(!page.contains("so there is no answer"), "{page}");
}

#[test]
fn a_profile_that_changes_the_program_is_told_first() {
    let (_, mut runs) = profiled();
    let last = runs.len() - 1;
    runs[last].checksum = Some("666".to_owned());
    let (_parent, dir) = folder(&runs);
    assert_eq!(
        untimed_disagreements(&dir),
        ["hash_churn 4096 8192 under copying with -hb: checksum 666, but another one without the profile"]
    );
    let page = html(std::slice::from_ref(&dir));
    assert!(page.contains("Wrong results: hash_churn 4096 8192 under copying with -hb"));
    // This is not the fault of a collector.
    assert!(Summary::of(&dir).works.iter().all(|work| work.disagreement().is_none()));
}

/// The name of a type or a marker must not get markup or scripts into the page.
#[test]
fn hostile_names_stay_text() {
    let hostile = format!("</script><img src=x onerror='alert(2)'>\"&amp;|`\n{}", "x".repeat(4000));
    let (_, mut runs) = profiled();
    for run in runs.iter_mut().filter(|run| run.profile_flags.is_some()) {
        run.profile_flags = Some(hostile.clone());
        let profile = run.profile.as_mut().expect("a profile");
        profile.breakdown.clone_from(&hostile);
        for census in &mut profile.censuses {
            census.marker = Some(hostile.clone());
            census.bands.insert(hostile.clone(), 1 << 40);
        }
    }
    let (_parent, dir) = folder(&runs);
    let page = html(std::slice::from_ref(&dir));
    assert!(!page.contains("<img") && page.matches("</script").count() == 2);
    let markdown = markdown(std::slice::from_ref(&dir));
    assert!(!markdown.contains("<img"));
    let table = terminal_within(&dir, None);
    assert!(table.contains("</script>"), "{table}");
}
