//! The name of a new collector, as a folder, a module and a type.

/// The longest name.
const LONGEST: usize = 40;

/// The packages that gclab is built from. A new crate depends on all of them. Cargo refuses two
/// path packages with the same name, and `-p NAME` is ambiguous if any two share it.
const PACKAGES: &str = include_str!("../../../Cargo.lock");

/// Words that cannot name a module, a package or a program: Cargo uses some of them for its own
/// folders and files.
const RESERVED: [&str; 65] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "lib",
    "loop",
    "macro",
    "main",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "target",
    "test",
    "tests",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// A name such as `my-collector`.
#[derive(Debug)]
pub(super) struct Name(String);

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// A message with the rules for names.
    pub(super) fn new(text: &str) -> Result<Name, String> {
        let part = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part
                    .chars()
                    .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        };
        if text.len() > LONGEST || !text.split('-').all(part) {
            let shown: String = text.chars().take(LONGEST).collect();
            return Err(format!(
                "{shown}: a name looks like my-collector: lower-case letters and digits, words that begin with a letter, at most {LONGEST}"
            ));
        }
        if RESERVED.contains(&text) {
            return Err(format!("{text} is a word of Rust or Cargo: choose another name"));
        }
        if is_package(text) {
            return Err(format!(
                "{text} is the name of a package that gclab is built from: choose another name"
            ));
        }
        Ok(Name(text.to_owned()))
    }

    /// `my-collector`: the collector, the folder, the package.
    pub(super) fn kebab(&self) -> &str {
        &self.0
    }

    /// `my_collector`: the module.
    pub(super) fn snake(&self) -> String {
        self.0.replace('-', "_")
    }

    /// `MyCollector`: the type.
    pub(super) fn camel(&self) -> String {
        let words = self.0.split('-').map(|word| word[..1].to_uppercase() + &word[1..]);
        words.collect()
    }
}

/// Whether a package that gclab is built from has the name, with dashes or underscores.
fn is_package(text: &str) -> bool {
    let mut names = PACKAGES
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.any(|name| name.replace('_', "-") == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_spelled_in_three_ways() {
        let name = Name::new("my-2nd-one");
        assert!(name.is_err(), "a word begins with a digit");
        let name = Name::new("my-collector2").unwrap();
        assert_eq!(
            (name.kebab(), &*name.snake(), &*name.camel()),
            ("my-collector2", "my_collector2", "MyCollector2")
        );
        for wrong in [
            "",
            "-",
            "a-",
            "A",
            "a_b",
            "a/b",
            "..",
            "ä",
            "match",
            "test",
            &"a".repeat(41),
        ] {
            assert!(Name::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_that_cargo_refuses_or_cannot_build_are_refused() {
        let refused = |text| Name::new(text).err().unwrap_or_else(|| panic!("{text} was taken"));
        for word in ["build", "deps", "examples", "incremental", "lib"] {
            let message = refused(word);
            assert!(message.starts_with(&format!("{word} is a word of ")), "{message}");
        }
        for package in [env!("CARGO_PKG_NAME"), "gclab-core", "gclab-derive", "libc", "num-cpus"] {
            let message = refused(package);
            assert!(
                message.starts_with(&format!("{package} is the name of a package ")),
                "{message}"
            );
        }
        assert!(Name::new("gclab-mine").is_ok(), "no package has this name");
    }
}
