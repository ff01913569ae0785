//! Synthetic records: a simple model of a copying collector, with seeded noise. The same input
//! gives the same records on every machine, so that `fixtures/small` can be checked against it.

use gclab_results::{
    Axis, Collections, Configuration, Generation, Manifest, PlannedRun, ResultsDir, RunRecord, RunStats, Status,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An experiment to make records for.
pub(crate) struct Experiment {
    pub name: &'static str,
    pub question: &'static str,
    pub collectors: Vec<&'static str>,
    /// Name, arguments, megabytes allocated, megabytes live.
    pub workloads: Vec<(&'static str, Vec<&'static str>, f64, f64)>,
    pub sweep: Vec<(&'static str, Vec<&'static str>)>,
    pub repeat: u32,
    pub seed: u64,
}

/// The experiment of `fixtures/small`: two collectors, two workloads, three sizes of `-A`, three
/// rounds.
pub(crate) fn small() -> Experiment {
    Experiment {
        name: "small",
        question: "How large should the allocation area be?",
        collectors: vec!["copying", "two-space"],
        workloads: vec![
            ("binary_trees", vec!["14"], 24.0, 4.0),
            ("hash_churn", vec!["4096", "8192"], 12.0, 2.5),
        ],
        sweep: vec![("A", vec!["1m", "4m", "16m"])],
        repeat: 3,
        seed: 7,
    }
}

/// A linear congruential generator (Knuth's MMIX constants), good enough for noise.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// Uniform in 0..1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, skewed to the right like times.
    fn factor(&mut self, amount: f64) -> f64 {
        let u = self.next();
        1.0 + amount * (u + u * u * u - 0.6)
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// `256k` and `1m` in bytes.
fn size(text: &str) -> Option<f64> {
    let (digits, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "k" => 1024.0,
        "m" => f64::from(1 << 20),
        _ => return None,
    };
    Some(digits.parse::<f64>().ok()? * unit)
}

pub(crate) fn configurations(experiment: &Experiment) -> Vec<Configuration> {
    let mut all = vec![Configuration::default()];
    for (flag, values) in &experiment.sweep {
        let with = |c: &Configuration| {
            let with = values.iter().map(|value| {
                let mut c = c.clone();
                c.flags.insert((*flag).to_owned(), (*value).to_owned());
                c
            });
            with.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let mut whole = Vec::new();
    for (workload, args, ..) in &experiment.workloads {
        for collector in &experiment.collectors {
            whole.extend(all.iter().map(|c| Configuration {
                workload: (*workload).to_owned(),
                args: strings(args),
                collector: (*collector).to_owned(),
                ..c.clone()
            }));
        }
    }
    whole
}

pub(crate) fn manifest(experiment: &Experiment) -> Manifest {
    let mut manifest = Manifest::new(experiment.name);
    manifest.gclab = "0.1.0".to_owned();
    manifest.question = Some(experiment.question.to_owned());
    manifest.seed = experiment.seed;
    manifest.repeat = experiment.repeat;
    let axis = |(flag, values): &(&str, Vec<&str>)| Axis {
        flag: (*flag).to_owned(),
        values: strings(values),
    };
    manifest.sweep = experiment.sweep.iter().map(axis).collect();
    manifest.experiment = text(experiment);
    manifest.machine.cpu = Some("Imaginary 3000 at 3.0 GHz".to_owned());
    manifest.machine.cores = Some(2);
    manifest.machine.logical_cpus = Some(4);
    manifest.machine.caches = strings(&["L1 data 32 KiB", "L2 unified 2 MiB", "L3 unified 32 MiB"]);
    manifest.machine.memory_bytes = Some(16 << 30);
    manifest.machine.kernel = Some("Linux 6.1.0".to_owned());
    manifest.machine.transparent_huge_pages = Some("madvise".to_owned());
    manifest.machine.virtualisation = Some("none".to_owned());
    manifest.build.git_commit = Some("0123456789abcdef".to_owned());
    manifest.build.git_dirty = Some(false);
    manifest.build.rustc = Some("rustc 1.95.0".to_owned());
    manifest.build.profile = Some("release".to_owned());
    manifest.started = "2026-01-31T12:00:00Z".to_owned();
    manifest.command = strings(&["gclab", "run", "experiments/small.toml", "--fresh"]);
    manifest.command[2] = format!("experiments/{}.toml", experiment.name);
    let mut noise = Noise::new(experiment.seed);
    for round in 0..experiment.repeat {
        let mut block = configurations(experiment);
        while !block.is_empty() {
            let at = (noise.next() * block.len() as f64) as usize;
            let position = manifest.plan.len() as u32;
            manifest
                .plan
                .push(PlannedRun::new(block.swap_remove(at), round, position));
        }
    }
    manifest
}

fn text(experiment: &Experiment) -> String {
    let works: Vec<String> = experiment
        .workloads
        .iter()
        .map(|(name, args, ..)| format!("{{ name = {name:?}, args = {args:?} }}"))
        .collect();
    let mut text = format!(
        "question   = {:?}\ncollectors = {:?}\nworkloads  = [{}]\nrepeat     = {}\nseed       = {}\n",
        experiment.question,
        experiment.collectors,
        works.join(", "),
        experiment.repeat,
        experiment.seed
    );
    if !experiment.sweep.is_empty() {
        text.push_str("\n[sweep]\n");
        experiment
            .sweep
            .iter()
            .for_each(|(flag, values)| text.push_str(&format!("{flag} = {values:?}\n")));
    }
    text
}

/// All runs of an experiment, in the order of the plan.
pub(crate) fn runs(experiment: &Experiment) -> Vec<RunRecord> {
    manifest(experiment)
        .plan
        .iter()
        .map(|planned| run(experiment, planned))
        .collect()
}

pub(crate) fn run(experiment: &Experiment, planned: &PlannedRun) -> RunRecord {
    let mut noise = Noise::new(u64::from(planned.position) * 7919 + experiment.seed);
    let (.., allocated, live) = experiment
        .workloads
        .iter()
        .find(|w| w.0 == planned.workload)
        .expect("a workload of this experiment");
    let mib = f64::from(1 << 20);
    let area = planned.flags.get("A").and_then(|area| size(area)).unwrap_or(4.0 * mib);
    let two_space = planned.collector == "two-space";
    let (stats, mut collections) = stats(allocated * mib, live * mib, area, two_space, &mut noise);
    collections.id.clone_from(&planned.id);
    let total = stats.total_elapsed_seconds.unwrap_or_default();
    let mut run = RunRecord::planned(planned, experiment.seed);
    run.gclab = "0.1.0".to_owned();
    run.command = strings(&["gclab", "exec", &planned.workload]);
    run.command.extend(planned.args.iter().cloned());
    run.command
        .extend(strings(&["--collector", &planned.collector, "+RTS"]));
    run.command
        .extend(planned.flags.iter().map(|(flag, value)| format!("-{flag}{value}")));
    run.started = Some(format!(
        "2026-01-31T12:{:02}:{:02}Z",
        planned.position / 60 % 60,
        planned.position % 60
    ));
    run.load_average = Some(0.25);
    run.voluntary_context_switches = Some(3);
    run.involuntary_context_switches = Some((noise.next() * 9.0) as u64);
    run.minor_page_faults = Some(stats.peak_in_use_bytes.unwrap_or(0) / 4096 + 311);
    run.major_page_faults = Some(0);
    run.checksum = Some(format!("{}", 1_000_003 * planned.workload.len() + planned.args.len()));
    run.wall_seconds = Some(rounded(total + 0.004 * noise.factor(0.3)));
    run.user_seconds = Some(rounded(total * 0.96));
    run.system_seconds = Some(rounded(total * 0.05));
    run.max_rss_bytes = stats.peak_in_use_bytes.map(|b| b + (3 << 20));
    run.stats = Some(stats);
    run.collections = Some(collections);
    run
}

/// Seconds rounded to microseconds, like those of a clock.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// The model: after every `area` bytes a collection copies the survivors, at 1 GiB/s. A larger area
/// costs the mutator cache misses.
fn stats(allocated: f64, live: f64, area: f64, two_space: bool, noise: &mut Noise) -> (RunStats, Collections) {
    let collections = (allocated / if two_space { area.max(live) } else { area }).ceil() as u64;
    let disturbance = noise.factor(0.08);
    let mut_seconds = allocated / 2.2e9 * (1.0 + (area / 3e7).min(0.25)) * disturbance;
    let mut pauses = Collections::default();
    let (mut promoted_in_all, mut remembered) = (0, 0);
    let (mut now, mut copied_total, mut promoted) = (1_200_000.0, 0u64, 0.0);
    for k in 0..collections {
        // As with -F2: the old generation may double before it is collected.
        let major = two_space || promoted > live;
        let survivors = if major { live } else { (0.12 * area).min(live * 0.5) };
        let copied = survivors * noise.factor(0.5).max(0.2);
        now += mut_seconds * 1e9 / collections as f64;
        let elapsed = (12_000.0 + copied / 1.07) * disturbance;
        promoted = if major { 0.0 } else { promoted + copied * 0.6 };
        copied_total += copied as u64;
        pauses.generation.push(if two_space { 0 } else { u32::from(major) });
        pauses.major.push(major.into());
        pauses.start_ns.push(now as u64);
        pauses.sync_ns.push(900);
        pauses.elapsed_ns.push(elapsed as u64);
        pauses.copied_bytes.push(copied as u64);
        pauses.live_bytes.push(live as u64);
        pauses.in_use_bytes.push((live + area) as u64);
        promoted_in_all += (copied * 0.6) as u64;
        remembered += k * 3;
        now += elapsed;
    }
    let gc: f64 = pauses.elapsed_ns.iter().map(|ns| (ns + 900) as f64 * 1e-9).sum();
    let peak = if two_space {
        2.0 * live.max(area) + live
    } else {
        3.0 * live + area
    };
    let peak = (peak / f64::from(1 << 20)).ceil() as u64 * (1 << 20);
    let of = |major: bool| {
        let all = pauses.major.iter().zip(&pauses.elapsed_ns);
        all.filter(move |(of, _)| **of == u8::from(major)).map(|(_, ns)| *ns)
    };
    let generation = |major: bool| Generation {
        collections: of(major).count() as u64,
        par_collections: Some(0),
        max_pause_seconds: of(major).max().map(|ns| rounded(ns as f64 * 1e-9)),
        ..Generation::default()
    };
    let stats = RunStats {
        allocated_bytes: Some(allocated as u64),
        copied_bytes: Some(copied_total),
        max_live_bytes: Some(live as u64),
        max_slop_bytes: Some(40_960),
        peak_in_use_bytes: Some(peak),
        fragmentation_bytes: Some(0),
        init_cpu_seconds: Some(0.001),
        init_elapsed_seconds: Some(0.0012),
        mut_cpu_seconds: Some(rounded(mut_seconds * 0.995)),
        mut_elapsed_seconds: Some(rounded(mut_seconds)),
        gc_cpu_seconds: Some(rounded(gc * 0.99)),
        gc_elapsed_seconds: Some(rounded(gc)),
        exit_cpu_seconds: Some(0.0),
        exit_elapsed_seconds: Some(0.0002),
        total_cpu_seconds: Some(rounded(mut_seconds * 0.995 + gc * 0.99 + 0.001)),
        total_elapsed_seconds: Some(rounded(mut_seconds + gc + 0.0014)),
        gcs: Some(collections),
        major_gcs: Some(of(true).count() as u64),
        generations: if two_space {
            vec![generation(true)]
        } else {
            vec![generation(false), generation(true)]
        },
        promoted_bytes: (!two_space).then_some(promoted_in_all),
        remembered: (!two_space).then_some(remembered),
        metadata: BTreeMap::from([("heap".to_owned(), "imaginary".to_owned())]),
        ..RunStats::default()
    };
    (stats, pauses)
}

/// Makes a run fail, without the values that it would have written at its end.
pub(crate) fn fail(run: &mut RunRecord, outcome: Status, said: &str) {
    run.outcome = outcome;
    run.checksum = None;
    (run.stats, run.collections) = (None, None);
    run.stderr_tail = Some(said.to_owned());
}

/// The runs of `fixtures/small`: all runs of the plan, one with an exhausted heap and one that
/// crashed.
pub(crate) fn small_runs() -> Vec<RunRecord> {
    let mut runs = runs(&small());
    for run in &mut runs {
        let a = run.flags["A"].as_str();
        match (run.workload.as_str(), run.collector.as_str(), a, run.round) {
            ("hash_churn", "two-space", "16m", _) => fail(run, Status::HeapExhausted, "gclab: heap exhausted: -M32m"),
            ("binary_trees", "copying", "1m", 1) => {
                let crash = Status::Crash {
                    exit_code: None,
                    signal: Some(11),
                };
                fail(run, crash, "thread 'main' panicked at <somewhere>");
            }
            _ => {}
        }
    }
    runs
}

/// Writes a folder below `parent`.
pub(crate) fn write(parent: &Path, manifest: Manifest, runs: &[RunRecord]) -> ResultsDir {
    let path: PathBuf = parent.join(&manifest.name);
    let mut dir = ResultsDir::create(path, manifest).expect("a new folder");
    runs.iter().for_each(|run| dir.append_run(run.clone()).expect("a line"));
    dir
}
