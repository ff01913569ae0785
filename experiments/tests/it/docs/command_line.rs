//! `docs/command-line.md` shows the help of every command.

use std::fmt::Write as _;

use super::generated::part_holds;
use crate::support::Bench;

/// A command's help, and the names of its subcommands.
fn help(bench: &Bench, words: &[String]) -> (String, Vec<String>) {
    let mut line: Vec<&str> = words.iter().map(String::as_str).collect();
    line.push("--help");
    let text = bench.gclab(&line).exits(0).stdout;
    let list = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let names = names.map(str::to_owned).collect();
    (text, names)
}

/// Writes the help of a command and of all its subcommands.
fn describe(bench: &Bench, words: &[String], page: &mut String) -> usize {
    let (text, names) = help(bench, words);
    let name = format!("gclab {}", words.join(" "));
    writeln!(page, "## {}\n\n```text\n{}\n```\n", name.trim_end(), text.trim_end()).unwrap();
    let below = names
        .into_iter()
        .map(|name| describe(bench, &[words, &[name]].concat(), page));
    1 + below.sum::<usize>()
}

#[test]
fn the_page_of_commands_is_their_help() {
    let mut page = String::new();
    let commands = describe(&Bench::new(), &[], &mut page);
    assert!(commands >= 9, "only {commands} commands were found");
    part_holds("docs/command-line.md", "help of every command", page.trim_end());
}

/// Each exit status has a row on the page.
#[test]
fn the_page_of_commands_has_their_statuses() {
    let bench = Bench::new();
    let page = std::fs::read_to_string(super::root().join("docs/command-line.md")).unwrap();
    let table = page.split("| status | meaning |").nth(1).unwrap();
    let table = table.split("\n\n").next().unwrap();
    for (words, meaning) in [
        (&["exec", "binary_trees", "3"][..], "all is well"),
        (&["exec", "nosuch"], "the request was wrong"),
        (
            &["exec", "long_list", "200000", "10", "+RTS", "-M2m"],
            "the heap is exhausted",
        ),
    ] {
        let status = bench.gclab(words).code.unwrap();
        let row = table.lines().find(|line| line.starts_with(&format!("| {status} |")));
        let row = row.unwrap_or_else(|| panic!("no row for {status}: {table}"));
        assert!(row.contains(meaning), "{words:?}: {row}");
    }
}
