//! Flags are read back as they were written: as words of a command line, and as keys of experiment
//! files.

use crate::parse;
use gclab_core::config::{Compact, HeapHint, OcamlLetter};
use gclab_core::words::Bytes;
use gclab_flags::{FLAGS, Flags, Kind};

/// For each flag, legal words, including both ends of its range.
pub(crate) fn legal_words() -> Vec<String> {
    let (mut words, mut words_of_two) = (Vec::new(), Vec::new());
    for spec in FLAGS {
        if let Kind::Ocaml { min, max, .. } = spec.kind {
            let values = [min.to_string(), format!("{max:#x}")];
            words.extend(values.iter().map(|value| format!("-{}={value}", spec.name)));
            continue;
        }
        let mut values = match spec.kind {
            Kind::Size { zero: true, .. } => vec!["0", "8k", "5000w", "8t"],
            Kind::Size { max, .. } if max < Bytes(8 << 40) => vec!["2m", "2561k", "0.3g", "1t"],
            Kind::Size { .. } => vec!["2m", "2561k", "0.3g", "8t"],
            Kind::Number { .. } | Kind::Percent { .. } => vec!["1", "2.5", "99.25"],
            Kind::Count { .. } => vec!["1", "3", "12"],
            Kind::Address => vec!["4200000000", "7fffffffffff"],
            Kind::GenerationOrOff { auto: false, .. } => vec!["", "0", "1", "11"],
            Kind::GenerationOrOff { auto: true, .. } => vec!["", "0", "1", "11", "=auto"],
            Kind::Switch | Kind::SwitchOff => vec![""],
            Kind::Output => vec!["", "some.file"],
            Kind::File => vec!["some.file"],
            Kind::Classes => vec!["", "-ag", "a"],
            Kind::Debug => vec!["s", "sgbp"],
            Kind::Closure => vec!["1", "1000", "0x4200001000"],
            // `fixed` needs a heap size, and is tested separately.
            Kind::Choice { names, .. } => names.iter().copied().filter(|name| *name != "fixed").collect(),
            Kind::Names { .. } if spec.name == "hb" => vec!["", "void", "lag,drag"],
            Kind::Names { bare: true } => vec!["", "Node", "Node,Tree"],
            Kind::Own => vec!["=period=4", "=period=4,eager=1"],
            // They restrict another flag's bands.
            Kind::Names { bare: false } | Kind::Ocaml { .. } => vec![],
        };
        // The constant is only legal with its policy.
        if spec.name == "-membalancer-c" {
            let words = ["0.05", "0.125", "1000"].map(|c| format!("--sizing=membalancer --membalancer-c={c}"));
            words_of_two.extend(words);
            continue;
        }
        if spec.kind.placeholder().starts_with('[') {
            values.push("");
        }
        let is_long = spec.name.starts_with('-');
        let joint = if matches!(spec.kind, Kind::Choice { .. } | Kind::Number { .. } if is_long) {
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
        // Flags that are for the command line only have no key.
        let mut read = Flags::default();
        read.stats.clone_from(&flags.stats);
        (read.info, read.help, read.leave_signals) = (flags.info, flags.help, flags.leave_signals);
        (read.bell, read.config.time_profile) = (flags.bell, flags.config.time_profile);
        read.profile_stem.clone_from(&flags.profile_stem);
        read.log.clone_from(&flags.log);
        read.debug = flags.debug;
        read.config.follow_closure = flags.config.follow_closure;
        let messages = flags.config.ocaml.given(OcamlLetter::Verbose);
        read.config.ocaml.set(OcamlLetter::Verbose, messages);
        for (key, value) in flags.as_toml() {
            read.set(key, value.text()).unwrap_or_else(|e| panic!("{word}: {e}"));
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
