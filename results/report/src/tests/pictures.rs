//! Charts apart from the page: SVG files, Vega-Lite, the marks that lead to runs, and long tables.

use super::synthetic::{self, fixture, small, small_runs, write};
use crate::folder::Results;
use crate::{html, svg_files, vega};
use serde_json::Value;
use tempfile::tempdir;

#[test]
fn every_chart_is_a_file_that_stands_alone() {
    let files = svg_files(&[fixture()]);
    // As many as on the page.
    assert_eq!(files.len(), 20);
    let names: std::collections::BTreeSet<&String> = files.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), files.len(), "{names:?}");
    assert!(
        files[1].0.starts_with("002-") && files[1].0.ends_with(".svg"),
        "{}",
        files[1].0
    );
    for (name, svg) in &files {
        for page_only in ["var(", "currentColor", "system-ui", "http:", "<script"] {
            let svg = svg.replace("http://www.w3.org/2000/svg", "");
            assert!(!svg.contains(page_only), "{name} has {page_only}");
        }
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count(), "{name}");
    }
    let legends = files
        .iter()
        .filter(|(_, svg)| svg.contains(">two-space</text>"))
        .count();
    assert!(legends >= 10, "{legends} charts name their lines");
    assert!(
        files
            .iter()
            .any(|(_, svg)| svg.contains("binary_trees 14: Total time, ms"))
    );
}

#[test]
fn vega_has_every_point_with_its_collector() {
    let spec: Value = serde_json::from_str(&vega(&[fixture()])).expect("JSON");
    assert_eq!(spec["$schema"], "https://vega.github.io/schema/vega-lite/v5.json");
    let charts = spec["concat"].as_array().expect("charts");
    assert_eq!(charts.len(), 20);
    let title = |chart: &&Value| chart["title"] == "hash_churn 4096 8192: Total time, ms";
    let chart = charts.iter().find(title).expect("the chart");
    let rows = chart["data"]["values"].as_array().expect("rows");
    assert_eq!(rows.len(), 6, "two collectors, three values of -A");
    let missing: Vec<&Value> = rows.iter().filter(|row| row["y"].is_null()).collect();
    assert_eq!(missing.len(), 1, "one configuration has no good run");
    assert_eq!(
        (&missing[0]["series"], &missing[0]["tick"]),
        (&"two-space".into(), &"16m".into())
    );
    assert_eq!(
        chart["encoding"]["color"]["scale"]["domain"],
        serde_json::json!(["copying", "two-space"])
    );
    for layer in chart["layer"].as_array().expect("layers") {
        assert!(
            layer["mark"]["type"].is_string() && layer["encoding"].is_object(),
            "{layer}"
        );
    }
}

/// The first block of data of a page: that of the runs.
fn data(page: &str) -> Value {
    let (_, after) = page.split_once("<script type=\"application/json\">").expect("data");
    let (json, _) = after.split_once("</script>").expect("an end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn marks_lead_to_runs_and_their_commands() {
    let dirs = [fixture()];
    let page = html(&dirs);
    let data = data(&page);
    assert_eq!(data["rows"], 36);
    let words = |of: &Value| of["words"].as_array().expect("words").clone();
    assert_eq!(words(&data["cells"]).len(), 12, "configurations");
    assert_eq!(words(&data["commands"]).len(), 12);
    let command = words(&data["commands"])[0].as_str().expect("text").to_owned();
    assert!(command.starts_with("gclab exec "), "{command}");
    for cell in words(&data["cells"]) {
        let mark = format!("data-cells=\"{}\"", cell.as_str().expect("an id"));
        assert!(page.contains(&mark), "no chart has {mark}");
    }
    assert!(
        page.contains("data-run=\"0\""),
        "the chart of the order of runs has each run"
    );
}

/// 1000 runs: the page has a few rows and the data of all. The chart of their order has one path.
#[test]
fn a_long_table_is_data() {
    let parent = tempdir().expect("a temporary folder");
    let mut experiment = small();
    experiment.repeat = 84;
    let dir: Results = write(
        parent.path(),
        synthetic::manifest(&experiment),
        &synthetic::runs(&experiment),
    );
    assert_eq!(dir.runs().len(), 1008);
    let page = html(std::slice::from_ref(&dir));
    assert!(
        page.matches("<tr").count() < 400,
        "{} rows",
        page.matches("<tr").count()
    );
    assert_eq!(data(&page)["rows"], 1008);
    assert!(page.contains("These are the first 20 of 1008 rows."));
    let (_, after) = page.split_once("data-runs=\"").expect("a path of dots");
    let (places, _) = after.split_once('"').expect("an end");
    let good = dir.runs().iter().filter(|run| run.outcome().is_ok()).count();
    assert_eq!(places.split(' ').count(), good);
    // A short one is markup, as it was.
    let short = html(&[fixture()]);
    assert_eq!(small_runs().len(), 36);
    assert!(!short.contains("These are the first"));
}
