//! OCaml's letters: lists of them, their environment variable, and GHC's flags with the same
//! meaning.

use crate::{line, parse};
use gclab_core::collector::Description;
use gclab_core::config::{Config, OcamlLetter, Parameter};
use gclab_flags::{FLAGS, FlagValue, Flags, Given, RtsOpts, Sources};

static OCAML: Description = Description {
    name: "ocaml",
    summary: "",
    moves: true,
    parallel: false,
    honours: &[&[
        Parameter::AllocationArea,
        Parameter::OldFactor,
        Parameter::Ocaml(OcamlLetter::MinorHeap),
        Parameter::Ocaml(OcamlLetter::SpaceOverhead),
        Parameter::Ocaml(OcamlLetter::InitialHeap),
    ]],
    generations: (2, 2),
};

fn error(word: &str) -> String {
    Flags::parse_words(&[word]).expect_err(word).to_string()
}

fn fitted(words: &str) -> Result<Config, String> {
    let mut flags = parse(words);
    flags.fit(&OCAML, &[&OCAML]).map_err(|error| error.to_string())?;
    Ok(flags.config)
}

#[test]
fn a_list_sets_several_letters() {
    let flags = parse("--ocaml=s=64k,o=80,v=0x400 --ocaml=o=200");
    let given = OcamlLetter::ALL.map(|letter| flags.config.ocaml.given(letter));
    let expected = |letter| match letter {
        OcamlLetter::MinorHeap => Some(65_536),
        OcamlLetter::SpaceOverhead => Some(200),
        OcamlLetter::Verbose => Some(0x400),
        _ => None,
    };
    assert_eq!(given, OcamlLetter::ALL.map(expected));
    assert_eq!(
        flags.to_words().join(" "),
        "--ocaml=s=65536 --ocaml=o=200 --ocaml=v=1024"
    );
    let from_key = FlagValue::read("ocaml.s", "64k").unwrap();
    assert_eq!(from_key.meaning(), ["--ocaml=s=65536"]);
}

#[test]
fn what_ocaml_would_ignore_is_refused() {
    let letters = "s, i, o, O, a, w, h, v, M, m and n";
    let form = format!("write some of {letters}, as in --ocaml=s=64k,o=80");
    assert_eq!(
        error("--ocaml=x=5"),
        format!("--ocaml: \"x=5\" is not a letter with a value: {form}")
    );
    assert_eq!(
        error("--ocaml=space=80"),
        format!("--ocaml: \"space=80\" is not a letter with a value: {form}")
    );
    assert_eq!(
        error("--ocaml=o=lots"),
        "--ocaml=o: lots is not a whole number: write a whole number, with k, M or G after it or 0x before it, as in --ocaml=o=120"
    );
    assert!(error("--ocaml=o").starts_with("--ocaml=o: a value is missing: write a whole number"));
    assert_eq!(error("--ocaml=w=51"), "--ocaml=w: 51 is out of range: expected 1 to 50");
    assert_eq!(
        error("--ocaml=s=1k"),
        "--ocaml=s: 1k is out of range: expected 4096 to 268435456"
    );
    assert_eq!(
        error("--ocaml=s=64k,l=1M"),
        "--ocaml: l=1M: l has no effect here; in OCaml it controls the stack of byte code: programs here have the stack of their thread"
    );
    assert!(error("--ocaml=b").starts_with("--ocaml: b: b has no effect here"));
}

/// The example in a message used to be out of range for some letters.
#[test]
fn each_letter_has_a_valid_example() {
    for spec in FLAGS.iter().filter(|spec| spec.name.starts_with("-ocaml=")) {
        for wrong in ["lots", ""] {
            let message = error(&format!("-{}={wrong}", spec.name));
            let (_, example) = message.split_once("as in ").expect("an example");
            assert!(Flags::parse_words(&[example]).is_ok(), "{message}");
        }
    }
}

#[test]
fn a_flag_without_letters_shows_their_form() {
    for word in ["--ocaml", "--ocaml=", "--ocamls=64k"] {
        assert_eq!(
            error(word),
            format!("{word}: the letters are missing: write --ocaml=s=64k,o=80")
        );
    }
}

#[test]
fn keys_of_letters_that_do_not_exist_say_which_do() {
    let error = |key| FlagValue::read(key, "1").expect_err(key).to_string();
    assert_eq!(
        error("ocaml.b"),
        "ocaml.b: b has no effect here; in OCaml it controls backtraces of exceptions: RUST_BACKTRACE=1 prints them for panics"
    );
    assert_eq!(
        error("ocaml.v"),
        "ocaml.v: --ocaml=v is for the command line, not for experiment files"
    );
    assert!(
        error("ocaml.x")
            .starts_with("ocaml.x: no such flag; did you mean one of the letters s, i, o, O, a, w, h, M, m and n?"),
        "{}",
        error("ocaml.x")
    );
}

#[test]
fn the_environment_is_weaker_than_flags_and_its_errors_name_it() {
    let given = |ocaml, environment, words: &str, allowed| {
        Given::read(&Sources {
            ocaml_environment: Some(ocaml),
            environment: Some(environment),
            words: &line(words),
            allowed,
            ..Sources::default()
        })
    };
    let all = given("o=40,w=3", "--ocaml=o=50", "--ocaml=s=8k", RtsOpts::All).unwrap();
    assert_eq!(
        all.flags().to_words().join(" "),
        "--ocaml=s=8192 --ocaml=o=50 --ocaml=w=3"
    );
    let fault = given("o=40,q=3", "", "", RtsOpts::All).unwrap_err().to_string();
    assert!(
        fault.starts_with("GCLAB_OCAMLRUNPARAM: --ocaml: \"q=3\" is not a letter"),
        "{fault}"
    );
    let none = given("o=40", "", "", RtsOpts::None).unwrap();
    assert_eq!(none.flags().to_words(), Vec::<String>::new());
    assert_eq!(
        none.notes(),
        ["GCLAB_OCAMLRUNPARAM is ignored: this program takes no such flags"]
    );
    // If another flag means the same to the collector, the one on the command line wins.
    let (flags, notes) = given("o=40", "", "-F3", RtsOpts::All)
        .unwrap()
        .fit(&OCAML, &[&OCAML])
        .unwrap();
    assert_eq!(flags.config.ocaml.given(OcamlLetter::SpaceOverhead), None);
    assert_eq!(
        notes,
        ["--ocaml=o=40 of GCLAB_OCAMLRUNPARAM is overridden by a later flag or choice"]
    );
}

#[test]
fn the_initial_major_heap_fits_into_the_whole_heap() {
    let initial = |words: &str| fitted(words).map(|config| config.ocaml.given(OcamlLetter::InitialHeap));
    assert_eq!(initial("--ocaml=h=1M -M8m"), Ok(Some(1 << 20)));
    assert_eq!(initial("--ocaml=h=1M"), Ok(Some(1 << 20)));
    assert_eq!(initial("-M2m"), Ok(None));
    assert_eq!(
        initial("--ocaml=h=0x100001 -M8m"),
        Err("--ocaml=h=0x100001 is more words than the 1048576 of -M8m: lower h or raise -M".to_owned())
    );
    assert_eq!(
        initial("--ocaml=h=4M -M8192k").unwrap_err(),
        "--ocaml=h=4M is more words than the 1048576 of -M8192k: lower h or raise -M"
    );
}

#[test]
fn a_letter_and_ghcs_flag_for_it_exclude_each_other() {
    let letters = |config: Config| {
        let given = |letter| config.ocaml.given(letter);
        (given(OcamlLetter::MinorHeap), given(OcamlLetter::SpaceOverhead))
    };
    assert_eq!(fitted("").map(letters), Ok((Some(262_144), Some(120))));
    assert_eq!(fitted("-A1m").map(letters), Ok((None, Some(120))));
    assert_eq!(fitted("-F3 --ocaml=s=8k").map(letters), Ok((Some(8192), None)));
    assert_eq!(
        fitted("-A1m --ocaml=s=8k").map(letters),
        Err("--ocaml=s=8k is another name for -A, and -A1m is given too: leave one of them out".to_owned())
    );
    assert_eq!(
        fitted("-F3 --ocaml=o=80").map(letters),
        Err("--ocaml=o=80 is another name for -F, and -F3 is given too: leave one of them out".to_owned())
    );
    assert_eq!(
        fitted("--ocaml=w=0x3").map(letters),
        Err("--ocaml=w=0x3: the ocaml collector does not honour this flag; nor does any other yet; of the flags for collectors, ocaml honours -A, -F, --ocaml=s, --ocaml=o and --ocaml=h".to_owned())
    );
}
