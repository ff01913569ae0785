//! Flags as their user meets them: command lines, keys of experiment files, messages, help.

mod sources;

use std::collections::BTreeSet;

use gclab_core::collector::Description;
use gclab_core::config::{
    AREA, Breakdown, COMPACTION, Compact, FromGeneration, GENERATIONS, HeapHint, Parameter, Restrictions, SHARING,
    SIZING,
};
use gclab_core::words::Bytes;
use gclab_flags::{FLAGS, Flags, Kind, Scope, help, honours, markdown, split};
use gclab_stats::StatsLevel;

const MIB: usize = 1 << 20;

fn line(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn parse(text: &str) -> Flags {
    Flags::parse_words(&line(text)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn message(text: &str) -> String {
    match Flags::parse_words(&line(text)) {
        Ok(flags) => panic!("{text} was taken: {flags:?}"),
        Err(error) => format!("{text:24} {error}"),
    }
}

#[test]
fn command_lines_are_split_as_ghc_does() {
    let cases = [
        ("-f +RTS -H32m -S -RTS -h foo bar", "-f -h foo bar", "-H32m -S"),
        ("hls -ltr /usr/etc +RTS -A5m", "hls -ltr /usr/etc", "-A5m"),
        ("a +RTS -A1m -RTS b +RTS -s -RTS c", "a b c", "-A1m -s"),
        ("a +RTS -A1m --RTS +RTS -s -RTS", "a -- +RTS -s -RTS", "-A1m"),
        ("a 6 --RTS --collector b", "a 6 -- --collector b", ""),
        ("a -- +RTS -s", "a -- +RTS -s", ""),
        ("a +RTS -s -- -RTS b", "a -- -RTS b", "-s"),
        ("-RTS a", "a", ""),
        ("", "", ""),
    ];
    for (all, program, rts) in cases {
        let split = split(line(all));
        assert_eq!((split.program, split.rts), (line(program), line(rts)), "{all}");
    }
}

#[test]
fn values_reach_their_fields() {
    let f = parse(
        "-A64m -n0.5m -AL2m -F1.5 -O512k -G3 -H100m -M1g -m5% -c40 -N4 -qg1 -qb -qn2 -DS -DZ7 -xr4g --no-huge-pages",
    );
    assert_eq!(f.config.allocation_area, Bytes(64 * MIB));
    assert_eq!(f.config.chunk, Some(Bytes(MIB / 2)));
    assert_eq!(
        (f.config.large_area, f.config.large_limit()),
        (Some(Bytes(2 * MIB)), Bytes(2 * MIB))
    );
    assert_eq!(
        (f.config.old_factor, f.config.old_min, f.config.generations),
        (1.5, Bytes(MIB / 2), 3)
    );
    assert_eq!(
        (f.config.heap_hint, f.config.max_heap, f.config.min_free),
        (HeapHint::Size(Bytes(100 * MIB)), Some(Bytes(1 << 30)), 5.0)
    );
    assert_eq!(
        (f.config.compact, f.config.capabilities, f.config.gc_threads),
        (Compact::Above(40.0), 4, 2)
    );
    assert_eq!(
        (f.config.parallel_gc, f.config.load_balance),
        (FromGeneration::From(1), Some(FromGeneration::Off))
    );
    assert_eq!(
        (f.sanity, f.config.stress, f.config.reserve, f.config.huge_pages),
        (true, Some(7), Bytes(4 << 30), false)
    );
    let given: Vec<_> = "A n AL F O G H M m c N qg qb qn DS DZ xr -no-huge-pages"
        .split(' ')
        .collect();
    assert_eq!(f.given, given.into_iter().collect::<BTreeSet<_>>());
}

#[test]
fn bare_flags_mean_what_they_mean_in_ghc() {
    let f = parse("-H -c -N -qg -qb");
    assert_eq!(
        (f.config.heap_hint, f.config.compact),
        (HeapHint::Auto, Compact::Always)
    );
    assert_eq!(
        (f.config.parallel_gc, f.config.load_balance),
        (FromGeneration::Off, Some(FromGeneration::Off))
    );
    assert_eq!(f.config.capabilities as usize, num_cpus::get());
}

#[test]
fn load_is_balanced_by_the_work_at_hand_unless_a_generation_is_given() {
    for auto in ["", "-A64m", "-qb1 -qb=auto"] {
        let config = parse(auto).config;
        assert_eq!(
            (config.load_balance, config.balance_from()),
            (None, FromGeneration::From(0)),
            "{auto}"
        );
    }
    assert_eq!(parse("-qb2").config.balance_from(), FromGeneration::From(2));
    assert_eq!(parse("-qb").config.balance_from(), FromGeneration::Off);
}

#[test]
fn flags_imply_what_they_imply_in_ghc() {
    assert_eq!(parse("").config.chunk_size(), None);
    assert_eq!(parse("-A16m").config.chunk_size(), Some(Bytes(4 * MIB)));
    assert_eq!(parse("-A15m").config.chunk_size(), None);
    assert_eq!(parse("-A64m -n1m").config.chunk_size(), Some(Bytes(MIB)));
    assert_eq!(parse("-A64m -n0").config.chunk_size(), None);
    assert_eq!(parse("-A32m -qb1").config.balance_from(), FromGeneration::From(1));
    assert_eq!(parse("-M1g").config.compaction(), Compact::Above(30.0));
    assert_eq!(parse("-M1g -c").config.compaction(), Compact::Always);
    assert_eq!(parse("").config.compaction(), Compact::Never);
    assert_eq!(parse("-A64m -M8m").config.allocation_area, Bytes(8 * MIB));
}

#[test]
fn one_flag_of_a_heap_profile_shows_and_others_restrict() {
    let of = |text: &str| {
        let profile = parse(text).config.profile;
        (profile.breakdown, profile.only)
    };
    let names = |list: &str| line(&list.replace(',', " "));
    let only = |types: &str, descriptions: &str, retainers: &str| Restrictions {
        types: names(types),
        descriptions: names(descriptions),
        retainers: names(retainers),
        ..Restrictions::default()
    };
    assert_eq!(of(""), (None, only("", "", "")));
    assert_eq!(of("-h"), (Some(Breakdown::ClosureType), only("", "", "")));
    assert_eq!(
        of("-hT -hyNode,Tree"),
        (Some(Breakdown::ClosureType), only("Node,Tree", "", ""))
    );
    assert_eq!(of("-hy{Node,Tree}"), (Some(Breakdown::Type), only("Node,Tree", "", "")));
    assert_eq!(of("-hrmain -hy"), (Some(Breakdown::Type), only("", "", "main")));
    assert_eq!(
        of("-hbdrag,void"),
        (
            Some(Breakdown::Biography),
            Restrictions {
                biographies: names("drag,void"),
                ..Restrictions::default()
            }
        )
    );
    let sides = |text: &str| {
        let profile = parse(text).config.profile;
        (profile.follows_uses(), profile.follows_allocation())
    };
    assert_eq!(
        [
            "-hy",
            "-hr",
            "-hc",
            "-hb",
            "-hbuse -hy",
            "-hy -hCmain",
            "-hT -hcmain",
            "-ho"
        ]
        .map(sides),
        [
            (false, false),
            (false, true),
            (false, true),
            (true, false),
            (true, false),
            (false, true),
            (false, true),
            (false, false),
        ]
    );
    for several in [
        "-hcmain -hCmake -hbdrag -hb",
        "-hy -hyNode -hdCons",
        "-hy -hy",
        "-ho -hdCons",
    ] {
        let flags = parse(several);
        assert_eq!(
            parse(&flags.to_words().join(" ")).config.profile,
            flags.config.profile,
            "{several}"
        );
    }
    let profile = parse("-hr -i0 -R0 -L60").config.profile;
    assert_eq!((profile.interval, profile.retainers, profile.name_length), (0.0, 0, 60));
    let refused = [
        "-hT -hy",
        "-hyNode -hdCons",
        "-ho -hrCell",
        "-hyNode,",
        "-hTNode",
        "-hq",
        "-hbdrags",
        "-hb -hr",
        "-hbdrag -hrmain",
        "-hb -ho",
        "-hC",
        "-hCmain",
        "-i-1",
    ];
    insta::assert_snapshot!(refused.map(message).join("\n"));
}

#[test]
fn the_last_of_the_statistics_flags_wins() {
    let f = parse("-sa.txt -S -t");
    assert_eq!((f.stats.level, f.stats.file), (StatsLevel::OneLine, None));
    let f = parse("-T -Sdir/out.txt --machine-readable");
    assert_eq!((f.stats.level, f.stats.machine_readable), (StatsLevel::Each, true));
    assert_eq!(f.stats.file.as_deref(), Some("dir/out.txt".as_ref()));
}

#[test]
fn the_command_line_overrides_the_environment() {
    let f = Flags::parse(Some("  -A1m -G3 "), &["-A2m"]).unwrap();
    assert_eq!((f.config.allocation_area, f.config.generations), (Bytes(2 * MIB), 3));
    let error = Flags::parse(Some("-Aq"), &["-A2m"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "GCLABRTS: -A: q is not a size: write a number with k, m, g, t or w, as in -A4m"
    );
}

/// For each flag: words that are legal, at both ends of the range too.
fn legal_words() -> Vec<String> {
    let (mut words, mut words_of_two) = (Vec::new(), Vec::new());
    for spec in FLAGS {
        let mut values = match spec.kind {
            Kind::Size { zero: true, .. } => vec!["0", "8k", "5000w", "8t"],
            Kind::Size { max, .. } if max < Bytes(8 << 40) => vec!["2m", "2561k", "0.3g", "1t"],
            Kind::Size { .. } => vec!["2m", "2561k", "0.3g", "8t"],
            Kind::Number { .. } | Kind::Percent { .. } => vec!["1", "2.5", "99.25"],
            Kind::Count { .. } => vec!["1", "3", "12"],
            Kind::GenerationOrOff { auto: false, .. } => vec!["", "0", "1", "11"],
            Kind::GenerationOrOff { auto: true, .. } => vec!["", "0", "1", "11", "=auto"],
            Kind::Switch | Kind::SwitchOff => vec![""],
            Kind::Output => vec!["", "some.file"],
            // A heap of fixed size needs one: its test is another.
            Kind::Choice { names, .. } => names.iter().copied().filter(|name| *name != "fixed").collect(),
            Kind::Names { .. } if spec.name == "hb" => vec!["", "void", "lag,drag"],
            Kind::Names { bare: true } => vec!["", "Node", "Node,Tree"],
            // They restrict the bands of another flag.
            Kind::Names { bare: false } => vec![],
        };
        // The constant of a policy is for that policy.
        if spec.name == "-membalancer-c" {
            let words = ["0.05", "0.125", "1000"].map(|c| format!("--sizing=membalancer --membalancer-c={c}"));
            words_of_two.extend(words);
            continue;
        }
        if spec.kind.placeholder().starts_with('[') {
            values.push("");
        }
        let joint = if matches!(spec.kind, Kind::Choice { .. }) {
            "="
        } else {
            ""
        };
        words.extend(values.iter().map(|value| format!("-{}{joint}{value}", spec.name)));
    }
    words.extend(words_of_two);
    words
}

#[test]
fn words_written_for_flags_give_the_same_flags() {
    let settings = |mut f: Flags| {
        f.given.clear();
        f
    };
    assert_eq!(Flags::default().to_words(), Vec::<String>::new());
    for word in legal_words() {
        let flags = parse(&word);
        let words = flags.to_words();
        assert_eq!(
            settings(parse(&words.join(" "))),
            settings(flags.clone()),
            "{word} became {words:?}"
        );
        assert_eq!(
            words.is_empty(),
            settings(flags) == Flags::default(),
            "{word} became {words:?}"
        );
    }
    let sized = "-M1g --sizing=fixed";
    assert_eq!(parse(sized).to_words().join(" "), sized);
    let all =
        "-A64m -n0 -F1.5 -G3 -H -M1g -c40 -N4 -qg -qb0 -qn2 -sout.txt -hT -hdNode -i0.02 -R0 -DS -DZ7 --no-huge-pages";
    assert_eq!(parse(all).to_words().join(" "), all);
}

#[test]
fn values_written_for_keys_give_the_same_flags() {
    for word in legal_words() {
        let flags = parse(&word);
        // Flags of the command line have no key.
        let mut read = Flags::default();
        read.stats.clone_from(&flags.stats);
        (read.info, read.help) = (flags.info, flags.help);
        for (key, value) in flags.as_toml() {
            read.set(&key, &value).unwrap_or_else(|e| panic!("{word}: {e}"));
        }
        read.settle().expect("they went together before");
        let settings = |mut f: Flags| {
            f.given.clear();
            f
        };
        assert_eq!(settings(read), settings(flags), "{word}");
    }
    assert_eq!(Flags::default().as_toml(), Default::default());
}

#[test]
fn keys_of_experiment_files() {
    let mut f = Flags::default();
    for (key, value) in [
        ("A", "64m"),
        ("n", "0"),
        ("F", "1.5"),
        ("G", "3"),
        ("qg", "false"),
        ("qb", "0"),
        ("c", "true"),
        ("H", "true"),
        ("DS", "true"),
        ("huge_pages", "false"),
        ("M", "1g"),
        ("sizing", "membalancer"),
        ("sizing", "factor"),
        ("membalancer_c", "0.1"),
        ("membalancer_c", "0.05"),
    ] {
        f.set(key, value).unwrap_or_else(|e| panic!("{key} = {value}: {e}"));
    }
    assert_eq!(
        f.to_words().join(" "),
        "-A64m -n0 -F1.5 -G3 -H -M1g -c -qg -qb0 -DS --no-huge-pages"
    );
    for key in ["n", "qg", "qb", "c", "H", "DS", "M", "AL", "DZ"] {
        f.set(key, "false").unwrap_or_else(|e| panic!("{key} = false: {e}"));
    }
    f.set("huge_pages", "true").unwrap();
    assert_eq!(f.to_words().join(" "), "-A64m -n0 -F1.5 -G3 -qg -qb");
    assert_eq!(
        (f.config.compact, f.config.heap_hint, f.sanity, f.config.max_heap),
        (Compact::Never, HeapHint::None, false, None)
    );
}

#[test]
fn messages_of_keys() {
    let of =
        |(key, value): (&str, &str)| format!("{key} = {value}: {}\n", Flags::default().set(key, value).unwrap_err());
    let cases = [
        ("A", "12q"),
        ("A", "true"),
        ("A", ""),
        ("A", "1k"),
        ("a", "1m"),
        ("huge-pages", "true"),
        ("hugepages", "true"),
        ("DS", "1"),
        ("F", "x"),
        ("qg", "maybe"),
        ("s", "true"),
        ("machine_readable", "true"),
        ("hi", "true"),
        ("hC", "true"),
        ("K", "1m"),
        ("wombat", "3"),
        ("sizing", "true"),
        ("sizing", "fix"),
        ("membalancer-c", "0.1"),
        ("membalancer_c", "2000"),
    ];
    insta::assert_snapshot!(cases.into_iter().map(of).collect::<String>());
}

#[test]
fn messages_of_words() {
    let words = [
        "-A",
        "-A12q",
        "-A-1m",
        "-A1k",
        "-A9t",
        "-n1",
        "-F0.5",
        "-F",
        "-F2%",
        "-Iw1",
        "-G0",
        "-G13",
        "-G99999999999999999999",
        "-Gx",
        "-M1k",
        "-m101",
        "-c101",
        "-cx",
        "-N0",
        "-N5000",
        "-qg12",
        "-qgx",
        "-qx",
        "-q",
        "-Q",
        "-a4m",
        "-DSi",
        "-DZ",
        "-DZ0",
        "-Ds",
        "-hi",
        "-hx",
        "-xm0x1000",
        "-e100",
        "-v",
        "--no-q",
        "-l",
        "-xn",
        "-T4",
        "-?x",
        "--inof",
        "--info-x",
        "--machine-readible",
        "--no-hugepages",
        "--numa=3",
        "--numature",
        "--copying-gc",
        "-Mgrace=1m",
        "-Iw3",
        "A4m",
        "foo",
        "-",
        "--",
        "-M4m -H100m",
        "--sizing",
        "--sizing=",
        "--sizing=membalencer",
        "--sizing=Fixed",
        "--sizing=wombat",
        "--sizingfactor",
        "--sizings=factor",
        "--sizing=fixed",
        "--sizing=fixed -H",
        "--sizing=fixed -M1g -F3",
        "--sizing=membalancer -F2",
        "--membalancer-c=1",
        "--sizing=membalancer --membalancer-c=0",
        "--sizing=membalancer --membalancer-c0.1",
        "--sizing=membalancer --membalancer-c=x",
        "-é",
        "-A4é",
    ];
    insta::assert_snapshot!(words.map(message).join("\n"));
}

const fn collector(name: &'static str, honours: &'static [&'static [Parameter]]) -> Description {
    Description {
        name,
        summary: "",
        moves: true,
        parallel: false,
        honours,
        generations: (2, 12),
    }
}

static COPYING: Description = collector(
    "copying",
    &[
        &[Parameter::OldFactor, Parameter::AllocationArea],
        &[Parameter::Generations, Parameter::OldMin],
    ],
);
static COMPACTING: Description = collector("compacting", &[COMPACTION, &[Parameter::HeapHint]]);
static PARALLEL: Description = collector("parallel", &[GENERATIONS]);
static TWO_SPACE: Description = Description {
    generations: (1, 1),
    ..collector("two-space", &[&[Parameter::Generations]])
};

/// Fits the flags of `text` to a collector.
fn fitted(text: &str, collector: &Description) -> Result<Flags, String> {
    let mut flags = parse(text);
    flags
        .fit(collector, &[&COPYING, &COMPACTING, &PARALLEL])
        .map(|()| flags)
        .map_err(|e| e.to_string())
}

#[test]
fn flags_that_a_collector_does_not_honour_are_refused() {
    let check = |text: &str| fitted(text, &COPYING).map(drop);
    // Flags that are not given, that the heap honours, that turn something off.
    for fine in ["", "-A1m -F3", "-M1g -N2 -DS -s --no-huge-pages", "-qg", "-qb", "-n0"] {
        assert_eq!(check(fine), Ok(()), "{fine}");
    }
    assert_eq!(
        check("-c"),
        Err("-c: the copying collector does not honour this flag; compacting does".to_owned())
    );
    assert_eq!(
        check("-H"),
        Err("-H: the copying collector does not honour this flag; compacting and parallel do".to_owned())
    );
    assert_eq!(
        check("-qg1"),
        Err("-qg1: the copying collector does not honour this flag; nor does any other yet; of the flags for collectors, copying honours -A, -F, -O and -G".to_owned())
    );
    // Given, though the value is the default.
    assert!(check("-m3").is_err());
}

#[test]
fn generations_that_a_collector_cannot_have_are_refused_if_they_are_given() {
    let generations = |text: &str, collector| fitted(text, collector).map(|flags| flags.config.generations);
    assert_eq!(generations("", &COPYING), Ok(2));
    assert_eq!(generations("-G3", &COPYING), Ok(3));
    assert_eq!(generations("", &TWO_SPACE), Ok(1));
    assert_eq!(generations("-G1", &TWO_SPACE), Ok(1));
    assert_eq!(
        generations("-G2", &TWO_SPACE),
        Err("-G2 is not for the two-space collector: its number of generations is 1".to_owned())
    );
    assert_eq!(
        generations("-G1", &COPYING),
        Err("-G1 is not for the copying collector: its number of generations is 2 to 12".to_owned())
    );
}

#[test]
fn each_parameter_of_collectors_has_one_flag() {
    let groups = [AREA, SIZING, GENERATIONS, COMPACTION, SHARING].concat();
    for parameter in &groups {
        let flags = FLAGS.iter().filter(|spec| spec.parameter() == Some(*parameter));
        assert_eq!(flags.count(), 1, "{parameter:?}");
    }
    let of_collectors = FLAGS.iter().filter(|spec| spec.parameter().is_some());
    assert_eq!(of_collectors.count(), groups.len(), "each parameter is in one group");
    let all = collector("all", &[SHARING, AREA]);
    let names: Vec<_> = honours(&all).map(|spec| spec.name).collect();
    assert_eq!(names, ["A", "n", "AL", "qg", "qb", "qn"], "in the order of the table");
}

#[test]
fn the_table_is_consistent() {
    let names: BTreeSet<_> = FLAGS.iter().map(|s| s.name).collect();
    let keys: BTreeSet<_> = FLAGS.iter().filter_map(|s| s.toml).collect();
    assert_eq!(names.len(), FLAGS.len());
    assert_eq!(keys.len(), FLAGS.iter().filter(|s| s.toml.is_some()).count());
    // Every flag that decides anything in the heap can be swept; those of profiles are for runs of
    // their own.
    let mut others = FLAGS.iter().filter(|s| s.scope != Scope::Profile);
    assert!(others.all(|s| s.toml.is_some() == (s.scope != Scope::Program)));
}

#[test]
fn help_text() {
    insta::assert_snapshot!(help());
}

/// `docs/flags.md` is the table of flags. `GCLAB_WRITE_DOCS=1 cargo test -p gclab-flags` writes it
/// anew.
#[test]
fn the_page_of_flags_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/flags.md");
    if std::env::var_os("GCLAB_WRITE_DOCS").is_some() {
        std::fs::write(path, markdown()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == markdown(),
        "docs/flags.md is not what the table says: GCLAB_WRITE_DOCS=1 cargo test -p gclab-flags"
    );
}
