//! `--info`: a description of this program in the form of GHC's list; and the command line that a
//! statistics file begins with.

use std::env::consts::{ARCH, OS};

use super::machine::list;

/// The list of `--info`: GHC's keys where gclab has something true to say under them, then gclab's
/// own, then `more` (collectors and workloads, say).
///
/// `GHC RTS` is `NO`: this is not one. `RTS way` is the one whose layouts and keys gclab prints.
/// The platform on which gclab was built is not known, so its keys are left out, and so are those
/// that concern a compiler of Haskell.
pub fn info(more: &[(&str, String)]) -> String {
    let vendor = "unknown";
    let mut pairs = vec![
        ("GHC RTS", "NO".to_owned()),
        ("gclab version", env!("CARGO_PKG_VERSION").to_owned()),
        ("RTS way", "rts_thr".to_owned()),
    ];
    for [platform, architecture, os, of] in [
        ["Host platform", "Host architecture", "Host OS", "Host vendor"],
        ["Target platform", "Target architecture", "Target OS", "Target vendor"],
    ] {
        pairs.push((platform, format!("{ARCH}-{vendor}-{OS}")));
        pairs.push((architecture, ARCH.to_owned()));
        pairs.push((os, OS.to_owned()));
        pairs.push((of, vendor.to_owned()));
    }
    pairs.push(("Word size", usize::BITS.to_string()));
    pairs.push(("Flag -with-rtsopts", String::new()));
    pairs.push((
        "Debug assertions",
        if cfg!(debug_assertions) { "YES" } else { "NO" }.to_owned(),
    ));
    pairs.extend(more.iter().cloned());
    list(&pairs)
}

/// The first line of a statistics file: the program and its words in single quotes, `+RTS`, the
/// flags' words likewise.
pub fn command_line<S: AsRef<str>>(program: &[S], flags: &[S]) -> String {
    let quoted = |words: &[S]| {
        words
            .iter()
            .map(|word| format!("'{}' ", word.as_ref()))
            .collect::<String>()
    };
    format!("{}+RTS {}\n", quoted(program), quoted(flags))
}
