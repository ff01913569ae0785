//! `--info`: a description of this program in the form of GHC's list, and the command line that a
//! statistics file begins with.

use super::machine::list;

/// The platform on which this program was built.
const BUILT_ON: &str = env!("GCLAB_HOST");

/// The platform for which it was built.
const BUILT_FOR: &str = env!("GCLAB_TARGET");

/// The list of `--info`: GHC's keys in its order, then gclab's own, then `more` (collectors and
/// workloads, say). `with_rtsopts` are the program's built-in flags.
///
/// `GHC RTS` is `NO` and `GHC version` is `none`: GHC did not compile this program. `RTS way` is
/// the one whose layouts and keys gclab prints. GHC's *host* is the compiler's own platform, here
/// the build platform. Info tables are separate data, so they are not next to code.
pub fn info(with_rtsopts: &str, more: &[(&str, String)]) -> String {
    let mut pairs = vec![
        ("GHC RTS", "NO".to_owned()),
        ("GHC version", "none".to_owned()),
        ("RTS way", "rts_thr".to_owned()),
    ];
    for ([platform, architecture, os, of], triple) in [
        (
            ["Build platform", "Build architecture", "Build OS", "Build vendor"],
            BUILT_ON,
        ),
        (
            ["Host platform", "Host architecture", "Host OS", "Host vendor"],
            BUILT_ON,
        ),
        (
            ["Target platform", "Target architecture", "Target OS", "Target vendor"],
            BUILT_FOR,
        ),
    ] {
        // `x86_64-unknown-linux-gnu`: GHC leaves out the last part.
        let part = |at: usize| triple.split('-').nth(at).unwrap_or("unknown");
        pairs.push((platform, [part(0), part(1), part(2)].join("-")));
        pairs.push((architecture, part(0).to_owned()));
        pairs.push((os, part(2).to_owned()));
        pairs.push((of, part(1).to_owned()));
    }
    pairs.push(("Word size", usize::BITS.to_string()));
    pairs.push(("Compiler unregisterised", "NO".to_owned()));
    pairs.push(("Tables next to code", "NO".to_owned()));
    pairs.push(("Flag -with-rtsopts", with_rtsopts.to_owned()));
    pairs.push(("gclab version", env!("CARGO_PKG_VERSION").to_owned()));
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
