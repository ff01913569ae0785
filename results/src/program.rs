//! A command that an experiment runs in the place of a workload, and the output that it should
//! have.

use crate::plan::Fnv1a;
use crate::schema::documented;
use std::collections::BTreeMap;

documented! {
    /// A `[[program]]` of an experiment file.
    #[derive(Default)]
    pub struct Program {
        /// Names the program in the records of its runs: the hash of its command, folder,
        /// environment, standard input (its path and its content) and preparation.
        pub id: String,
        /// The name in the experiment file.
        pub name: String,
        /// The runtime of the program: `ghc`, `ocaml`, `jvm` or `none`.
        pub runtime: String,
        /// The words of the command, without the flags of its runtime.
        pub command: Vec<String>,
        /// The folder in which it runs; absent for the current one.
        pub dir: Option<String>,
        /// Variables of its environment, in addition to those of `gclab run`.
        pub env: BTreeMap<String, String>,
        /// The file that is its standard input; absent for none.
        pub stdin: Option<String>,
        /// Commands that run before each run, untimed.
        pub prepare: Vec<Vec<String>>,
        /// The end and the output that the program should have.
        pub expect: Expectation,
        /// Regular expressions, each with one group, which take figures from the output.
        pub stats: BTreeMap<String, String>,
        /// Units of figures of `stats`, by the name of the figure; absent if none has one.
        pub units: Option<BTreeMap<String, String>>,
        /// Whether each configuration has one more run, untimed, with an event log.
        pub eventlog: bool,
        /// Hash of the file that runs (FNV-1a, 64 bits, hexadecimal): a folder never has results of
        /// two builds of a program. Absent if the file cannot be read.
        pub executable: Option<String>,
        /// Hash of the file that is its standard input, as for `executable`: a folder never has
        /// results of two inputs. Absent if there is none, or if it is no regular file.
        pub input: Option<String>,
        /// The version of its runtime, as the runtime or the file tells it; absent if neither does.
        pub runtime_version: Option<String>,
    }
}

documented! {
    /// The end that a program should have, and its text on standard output.
    #[derive(Default)]
    pub struct Expectation {
        /// The exit status.
        pub status: i32,
        /// SHA-256 of the whole output, in hexadecimal.
        pub checksum: Option<String>,
        /// A regular expression that matches somewhere in the output. The text of its group, if it
        /// has one, is the run's checksum.
        pub pattern: Option<String>,
    }
}

impl Program {
    /// The unit of a figure of `stats`, if the experiment gives it one.
    pub fn unit(&self, figure: &str) -> Option<&str> {
        self.units.as_ref()?.get(figure).map(String::as_str)
    }

    /// The id of these parts: all of a program that could change the result of a run, apart from
    /// flags.
    pub fn identity(&self) -> String {
        let mut hash = Fnv1a::new();
        let mut list = |words: &mut dyn Iterator<Item = &String>| {
            words.for_each(|word| hash.part(word));
            hash.end_of_list();
        };
        list(&mut [&self.runtime].into_iter());
        list(&mut self.command.iter());
        list(&mut self.dir.iter());
        list(&mut self.env.iter().flat_map(|(name, value)| [name, value]));
        list(&mut self.stdin.iter().chain(&self.input));
        self.prepare.iter().for_each(|command| list(&mut command.iter()));
        hash.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_that_may_change_a_result_changes_the_id() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let plain = Program {
            runtime: "none".into(),
            command: words("prog a b"),
            ..Program::default()
        };
        let others = [
            Program {
                runtime: "ghc".into(),
                ..plain.clone()
            },
            Program {
                command: words("prog ab"),
                ..plain.clone()
            },
            Program {
                dir: Some("b".into()),
                ..plain.clone()
            },
            Program {
                env: [("a".to_owned(), "b".to_owned())].into(),
                ..plain.clone()
            },
            Program {
                stdin: Some("b".into()),
                ..plain.clone()
            },
            Program {
                stdin: Some("b".into()),
                input: Some("0123456789abcdef".into()),
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b")],
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b"), words("c")],
                ..plain.clone()
            },
            Program {
                prepare: vec![words("b c")],
                ..plain.clone()
            },
        ];
        let mut ids: Vec<String> = others.iter().map(Program::identity).collect();
        ids.push(plain.identity());
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), others.len() + 1);
        // A key that only judges a run is no part of it.
        let judged = Program {
            expect: Expectation {
                status: 3,
                ..Expectation::default()
            },
            ..plain.clone()
        };
        assert_eq!(judged.identity(), plain.identity());
    }
}
