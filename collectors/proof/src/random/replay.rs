//! A program that failed, as a test to paste, and the function that runs it there.

use super::interpret::outcome;
use super::program::Program;
use gclab_core::collector::Collector;
use std::any::type_name;
use std::fmt::Write;

/// Runs exactly `program` under `C`, with the checker on, and compares its heaps with their
/// references. A search that finds such a program ([`random_programs`](crate::random_programs))
/// prints a test with this call.
///
/// A program has one thread, so it does the same each time. But several GC threads may share their
/// work in another way.
///
/// ```
/// # type MyCollector = gclab_collectors::Copying;
/// use gclab_proof::program::{Op::*, Program, Request::*, Setting, Shape::*, g, l};
/// let ops = vec![
///     Collect(Full),
///     New { to: g(0), shape: Cell, args: [l(0), l(0), l(0)] },
///     Collect(Minor),
/// ];
/// gclab_proof::replay::<MyCollector>(&Program { settings: [Setting::default(); 2], ops });
/// ```
///
/// # Panics
/// If the program fails, with the fault in words.
#[track_caller]
pub fn replay<C: Collector>(program: &Program) {
    if let Err(why) = outcome::<C>(program) {
        panic!("{}: {why}", C::DESCRIPTION.name);
    }
}

/// Returns the text of a test that replays `program` under `C`.
pub(super) fn test<C: Collector>(program: &Program) -> String {
    let mut text = String::from(concat!(
        "#[test]\n",
        "fn random_program_that_failed() {\n",
        "    #[allow(unused_imports)]\n",
        "    use gclab_proof::program::{Op::*, Program, Request::*, Setting, Shape::*, Shared::*, Words, g, l};\n",
        "    let settings = [\n",
    ));
    lines(&mut text, &program.settings);
    text.push_str("    ];\n    let ops = vec![\n");
    lines(&mut text, &program.ops);
    let collector = without_modules(type_name::<C>());
    let _ = write!(
        text,
        "    ];\n    gclab_proof::replay::<{collector}>(&Program {{ settings, ops }});\n}}\n"
    );
    text
}

fn lines(text: &mut String, items: &[impl std::fmt::Debug]) {
    for item in items {
        let _ = writeln!(text, "        {item:?},");
    }
}

/// Returns the name of a type without the modules that it lies in: the path of a collector may be
/// private, and its tests have imported it.
fn without_modules(path: &str) -> String {
    path.split_inclusive(['<', '>', ',', ' '])
        .map(|part| part.rsplit("::").next().unwrap_or(part))
        .collect()
}
