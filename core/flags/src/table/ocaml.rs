//! The letters of `OCAMLRUNPARAM`, as flags: `--ocaml=s=64k`.

use crate::kind::Kind;
use crate::spec::{FlagSpec, Scope};
use crate::value::Value;
use gclab_core::config::{OcamlLetter, Parameter};

/// The flag of a letter.
macro_rules! letter {
    ($name:literal, $letter:ident, $default:literal, $meaning:literal) => {
        FlagSpec {
            toml: Some(concat!("ocaml.", $name)),
            ..letter!(without a key, $name, $letter, $default, $default, $meaning)
        }
    };
    (without a key, $name:literal, $letter:ident, $default:literal, $example:literal, $meaning:literal) => {
        FlagSpec {
            name: concat!("-ocaml=", $name),
            toml: None,
            kind: {
                let (min, max) = OcamlLetter::$letter.range();
                Kind::Ocaml {
                    min,
                    max,
                    example: $example,
                }
            },
            default: $default,
            meaning: $meaning,
            ghc: Some("OCaml's; also in GCLAB_OCAMLRUNPARAM"),
            scope: Scope::Collector(Parameter::Ocaml(OcamlLetter::$letter)),
            optional: true,
            set: |f, v| {
                let value = if let Value::Count(n) = v { Some(n) } else { None };
                f.config.ocaml.set(OcamlLetter::$letter, value);
            },
            get: |f| f.config.ocaml.given(OcamlLetter::$letter).map(Value::Count),
        }
    };
}

/// The flags of this part, in the order of help.
pub(super) const OCAML: &[FlagSpec] = &[
    letter!(
        "s",
        MinorHeap,
        "256k",
        "size of the minor heap in words; -A is the same in bytes"
    ),
    letter!(
        "i",
        Increment,
        "15",
        "smallest increment of the major heap: up to 1000 a percentage of it, above that words"
    ),
    letter!(
        "o",
        SpaceOverhead,
        "120",
        "space overhead: memory for dead closures that are not freed yet, as a percentage of live data; -F<n> means 100 (n - 1), at least 1"
    ),
    letter!(
        "O",
        MaxOverhead,
        "500",
        "compact the major heap when free memory reaches this percentage of live data; 1000000 or more: never"
    ),
    letter!(
        "a",
        Policy,
        "2",
        "allocation policy of the major heap: 0 next-fit, 1 first-fit, 2 best-fit"
    ),
    letter!(
        "w",
        Window,
        "1",
        "minor collections over which the work of slices is smoothed"
    ),
    letter!(
        "h",
        InitialHeap,
        "126976",
        "initial size of the major heap in words; refused if it exceeds -M"
    ),
    // Not in experiment files: the messages of a run in a sweep would be lost.
    letter!(
        without a key,
        "v",
        Verbose,
        "0",
        "0x400",
        "messages on standard error, one bit for each kind"
    ),
    letter!(
        "M",
        CustomMajor,
        "44",
        "memory outside the heap that dead closures of the major heap may hold, as a percentage of that heap"
    ),
    letter!(
        "m",
        CustomMinor,
        "100",
        "memory outside the heap that closures of the minor heap may hold, as a percentage of that heap"
    ),
    letter!(
        "n",
        CustomMinorMax,
        "8192",
        "most bytes outside the heap that one closure of the minor heap counts for"
    ),
];
