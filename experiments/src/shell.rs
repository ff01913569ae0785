//! `gclab completions` and `gclab man`: what a shell and `man` need to know, from the description
//! of the command line.

use std::io;
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::common::{print, refuse};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The command, such as `events show` [default: gclab itself]
    command: Vec<String>,
}

pub(crate) fn completions(arguments: &CompletionsArguments, mut description: Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut description, "gclab", &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(arguments: &ManArguments, mut description: Command) -> ExitCode {
    // Gives each command its whole name.
    description.build();
    let mut name = "gclab".to_owned();
    let mut found = &description;
    for word in &arguments.command {
        let Some(command) = found.find_subcommand(word) else {
            let names: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
            return refuse(format!("{name} has no command `{word}`; it has: {}", names.join(", ")));
        };
        found = command;
        name = format!("{name}-{}", command.get_name());
    }
    match page(found.clone()) {
        Ok(page) => print(&page),
        Err(error) => refuse(format!("the manual page cannot be made: {error}")),
    }
}

fn page(command: Command) -> io::Result<String> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
