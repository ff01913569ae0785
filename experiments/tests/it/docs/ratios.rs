//! Tables of ratios in `docs/`: a collector over another runtime, or over another collector, from the
//! runs of `workloads/peers` in `results/reference`.
//!
//! A cell has the geometric mean over the programs and the largest ratio of one program.

use std::collections::BTreeSet;

use gclab_results::inference::{Effect, Order};
use gclab_results::{ResultsDir, RunRecord};

use super::generated::part_holds;
use super::reference::provenance;
use super::root;

type Figure = fn(&RunRecord) -> Option<f64>;

/// A column: its heading, and what is compared.
struct Column {
    head: &'static str,
    figure: Figure,
    /// The program on the other side, if it is not the row's.
    against: Option<&'static str>,
}

/// A row; several, if the state of pages is an axis.
struct Row {
    name: &'static str,
    folder: &'static str,
    collector: &'static str,
    against: &'static str,
    /// The values of the flags in [`SWEPT`] that the collector's runs have, and those of a runtime
    /// that takes GHC's flags.
    flags: &'static [(&'static str, &'static str)],
}

const SWEPT: [&str; 4] = ["A", "G", "c", "sizing"];

const fn row(
    name: &'static str,
    folder: &'static str,
    collector: &'static str,
    against: &'static str,
    flags: &'static [(&'static str, &'static str)],
) -> Row {
    Row {
        name,
        folder,
        collector,
        against,
        flags,
    }
}

const fn column(head: &'static str, figure: Figure) -> Column {
    Column {
        head,
        figure,
        against: None,
    }
}

impl Row {
    fn cell(&self, dir: &ResultsDir, pages: Option<&str>, column: &Column) -> String {
        let against = column.against.unwrap_or(self.against);
        let values = |workload: &str, collector: &str| -> Vec<(u32, f64)> {
            let runs = dir.runs().iter().filter(|run| {
                let swept = run.flags.iter().filter(|(name, _)| SWEPT.contains(&name.as_str()));
                let mut swept = swept.map(|(name, value)| (name.as_str(), value.as_str())).peekable();
                run.workload == workload
                    && run.collector == collector
                    && run.settings.get("env.PAGES").map(String::as_str) == pages
                    && (swept.peek().is_none() || swept.eq(self.flags.iter().copied()))
            });
            runs.filter_map(|run| Some((run.round, (column.figure)(run)?)))
                .collect()
        };
        let workloads: BTreeSet<&str> = dir.runs().iter().map(|run| run.workload.as_str()).collect();
        let effects = workloads.into_iter().filter_map(|workload| {
            let (base, new) = (values(workload, against), values(workload, self.collector));
            Some((Effect::of(&base, &new, Order::Interleaved)?, workload))
        });
        let (effects, workloads): (Vec<Effect>, Vec<&str>) = effects.unzip();
        let worst = effects.iter().zip(workloads);
        match worst.max_by(|(a, _), (b, _)| a.ratio().total_cmp(&b.ratio())) {
            Some((only, _)) if effects.len() == 1 => format!("{:.2}", only.ratio()),
            Some((worst, workload)) => {
                let mean = Effect::mean(&effects).expect("an effect");
                format!("{:.2} ({:.2} {workload})", mean.ratio(), worst.ratio())
            }
            None => String::new(),
        }
    }
}

/// A table, and where its figures come from.
fn table(head: &str, rows: &[Row], columns: &[Column], pages: &[Option<&str>]) -> String {
    let mut heads = vec![head];
    heads.extend(pages[0].map(|_| "pages"));
    heads.extend(columns.iter().map(|column| column.head));
    let mut text = format!("| {} |\n{} |\n", heads.join(" | "), "|---".repeat(heads.len()));
    let mut sources = BTreeSet::new();
    for row in rows {
        let dir = ResultsDir::open(root().join("results/reference").join(row.folder)).unwrap();
        for pages in pages {
            let mut cells = vec![row.name.to_owned()];
            cells.extend(pages.map(str::to_owned));
            cells.extend(columns.iter().map(|column| row.cell(&dir, *pages, column)));
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        sources.insert(format!("\n`results/reference/{}`: {}\n", row.folder, provenance(&dir)));
    }
    text.extend(sources);
    text.trim_end().to_owned()
}

const PAGES: &[Option<&str>] = &[Some("warm"), Some("cold")];

const FACTOR: &[(&str, &str)] = &[("A", "4m"), ("sizing", "factor")];
const FIXED: &[(&str, &str)] = &[("A", "4m"), ("sizing", "fixed")];

const COLUMNS: &[Column] = &[
    column("GC CPU", |run| run.stats.as_ref()?.gc_cpu_seconds),
    column("total CPU", total_cpu),
    column("peak heap", |run| Some(run.stats.as_ref()?.peak_in_use_bytes? as f64)),
];

/// The CPU time of the whole process.
fn total_cpu(run: &RunRecord) -> Option<f64> {
    Some(run.user_seconds? + run.system_seconds?)
}

#[test]
fn ratios_to_other_runtimes_are_those_of_the_reference_data() {
    let rows = [
        row("GHC 9.0.2 `-A4m`", "ghc", "copying", "GHC", &[("A", "4m")]),
        row("GHC `-A1m`", "ghc", "copying", "GHC", &[("A", "1m")]),
        row("GHC `-A64m`", "ghc", "copying", "GHC", &[("A", "64m")]),
        row("GHC `-G1`", "ghc", "two-space", "GHC", &[("G", "1")]),
        row(
            "GHC `-c -A4m`",
            "ghc",
            "compacting",
            "GHC",
            &[("A", "4m"), ("c", "true")],
        ),
        row(
            "GHC `-A16m`, heaps of 0.4 and 1.5 GB",
            "ghc_large",
            "copying",
            "GHC",
            &[("A", "16m")],
        ),
        row("GHC `-N2 -A4m`", "ghc_threads", "parallel", "GHC", &[("A", "4m")]),
        row(
            "GHC `-N2 -A4m -qg`",
            "ghc_threads",
            "parallel",
            "GHC -qg",
            &[("A", "4m")],
        ),
        row("MMTk GenImmix", "mmtk", "gen-immix", "MMTk GenImmix", FACTOR),
        row("MMTk StickyImmix", "mmtk", "sticky-immix", "MMTk StickyImmix", FACTOR),
        row(
            "OCaml 4.13, minor heap of 4 MiB",
            "languages",
            "copying",
            "OCaml",
            &[("A", "4m")],
        ),
        row(
            "Java 17, serial collector",
            "languages",
            "copying",
            "JVM",
            &[("A", "4m")],
        ),
    ];
    part_holds(
        "docs/performance.md",
        "ratios to other runtimes",
        &table("gclab over", &rows, COLUMNS, PAGES),
    );
}

#[test]
fn ratios_to_copying_are_those_of_the_reference_data() {
    let rows = [
        row("`sticky-immix`", "mmtk", "sticky-immix", "copying", FACTOR),
        row("`gen-immix`", "mmtk", "gen-immix", "copying", FACTOR),
        row("`mark-sweep`", "mmtk", "mark-sweep", "copying", FACTOR),
        row("`immix --sizing=fixed`", "mmtk", "immix", "copying", FIXED),
        row("`mark-sweep --sizing=fixed`", "mmtk", "mark-sweep", "copying", FIXED),
        row("MMTk StickyImmix", "mmtk", "MMTk StickyImmix", "copying", FIXED),
        row("MMTk GenImmix", "mmtk", "MMTk GenImmix", "copying", FIXED),
    ];
    part_holds(
        "docs/performance.md",
        "ratios to copying",
        &table("over `copying`", &rows, COLUMNS, PAGES),
    );
}

/// The CPU time in a heap of so many tenths of the live data.
fn cpu_in<const TENTHS: u32>(run: &RunRecord) -> Option<f64> {
    let axis = ["args.TIMES", "env.TIMES"]
        .iter()
        .find_map(|axis| run.settings.get(*axis));
    // An axis of a workload's argument is among its arguments.
    let times = axis.or(run.args.last());
    total_cpu(run).filter(|_| times.is_some_and(|times| *times == TENTHS.to_string()))
}

#[test]
fn ratios_to_whippet_are_those_of_the_reference_data() {
    let row = |name, collector, against| row(name, "whippet", collector, against, FIXED);
    let rows = [
        row("`two-space`, `semi`", "two-space", "whippet semi"),
        row("`copying`, `generational-pcc`", "copying", "whippet generational-pcc"),
        row("`immix`, `mmc`", "immix", "whippet mmc"),
        row("`mark-sweep`, `mmc`", "mark-sweep", "whippet mmc"),
        row(
            "`sticky-immix`, `generational-mmc`",
            "sticky-immix",
            "whippet generational-mmc",
        ),
        row(
            "`gen-immix`, `generational-mmc`",
            "gen-immix",
            "whippet generational-mmc",
        ),
    ];
    let columns = [
        column("1.5 ×", cpu_in::<15>),
        column("2 ×", cpu_in::<20>),
        column("3 ×", cpu_in::<30>),
        column("resident", |run| Some(run.max_rss_bytes? as f64)),
    ];
    let table = table("over whippet's", &rows, &columns, &[None]);
    part_holds("docs/performance.md", "ratios to whippet", &table);
}

/// CPU time of the last collection of `ocaml`, after the end of the program: OCaml has none.
fn last_collection(run: &RunRecord) -> Option<f64> {
    match &run.stats.as_ref()?.phases {
        Some(phases) => phases.exit.gc_cpu_seconds,
        None => Some(0.0),
    }
}

/// The peak of the heap. OCaml's own figure is without the minor heap.
fn whole_heap(run: &RunRecord) -> Option<f64> {
    let minor_words = match &run.runtime {
        Some(_) => run.flags["s"].strip_suffix('k')?.parse::<f64>().ok()? * 1024.0,
        None => 0.0,
    };
    Some(run.stats.as_ref()?.peak_in_use_bytes? as f64 + 8.0 * minor_words)
}

#[test]
fn ratios_to_ocaml_are_those_of_the_reference_data() {
    // OCaml's instrumented runtime reports collections, and takes longer.
    let of_events = |column| Column {
        against: Some("OCaml events"),
        ..column
    };
    let rows = [row(
        "OCaml 4.13.1 `s=256k,o=80,a=2`",
        "ocaml_speed",
        "ocaml",
        "OCaml",
        &[],
    )];
    let columns = [
        of_events(column("GC CPU", |run| {
            Some(run.stats.as_ref()?.gc_cpu_seconds? - last_collection(run)?)
        })),
        column("total CPU", |run| Some(total_cpu(run)? - last_collection(run)?)),
        column("peak heap", whole_heap),
        of_events(column("longest slice", |run| run.stats.as_ref()?.max_slice_seconds)),
    ];
    part_holds(
        "docs/ocaml.md",
        "ratios to OCaml",
        &table("`ocaml` over", &rows, &columns, PAGES),
    );
}

#[test]
fn ratios_of_heap_analyses_are_those_of_the_reference_data() {
    let row = |name, against| row(name, "heap", "gclab heap analyse", against, &[]);
    let rows = [row("`JSON.parse`", "JSON.parse"), row("memlab", "memlab")];
    let columns = [
        column("elapsed time", |run| run.wall_seconds),
        column("CPU time", total_cpu),
        column("memory", |run| Some(run.max_rss_bytes? as f64)),
    ];
    let table = table("`heap analyse` over", &rows, &columns, &[None]);
    part_holds("docs/heap-analysis.md", "ratios of heap analyses", &table);
}
