//! Flags as users meet them: command lines, keys of experiment files, messages, help.

mod honour;
mod messages;
mod ocaml;
mod sources;
mod table;
mod values;
mod written;

use gclab_flags::Flags;

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
