//! The runtime of a program, from its file. Nothing is started.

use std::fs::File;
use std::io::{Read, Take};
use std::path::Path;

use super::{Runtime, named};

/// Limit on the bytes of a file that are searched. GHC executables have some tens of MiB.
const MOST: u64 = 1 << 30;

/// Texts that each executable of a runtime has. One that links gclab has all of them, because it has
/// this table: it is a program like any other.
const MARKS: [(&str, &str); 3] = [
    ("none", "The executable links gclab"),
    ("ghc", "GHC RTS"),
    ("ocaml", "OCAMLRUNPARAM"),
];

/// The runtime of the program in `file`; `None` if it cannot be detected.
pub(crate) fn runtime_of(file: &Path) -> Option<&'static dyn Runtime> {
    if file.file_name().is_some_and(|name| name == "java") {
        return named("jvm");
    }
    // A script may name such a variable.
    let mut head = [0; 2];
    let is_script = File::open(file)
        .and_then(|mut file| file.read_exact(&mut head))
        .is_err()
        || head == *b"#!";
    let (name, _) = MARKS
        .into_iter()
        .find(|(_, mark)| !is_script && has(file, mark.as_bytes()))?;
    named(name)
}

/// Whether the program in `file` links gclab, as gclab itself does.
pub(crate) fn links_gclab(file: &Path) -> bool {
    has(file, MARKS[0].1.as_bytes())
}

/// Whether a file has these bytes. Scripts and shell wrappers do not.
fn has(file: &Path, mark: &[u8]) -> bool {
    File::open(file).is_ok_and(|file| contains(file.take(MOST), mark))
}

fn contains(mut file: Take<File>, mark: &[u8]) -> bool {
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let Ok(read @ 1..) = file.read(&mut buffer[kept..]) else {
            return false;
        };
        let filled = kept + read;
        if buffer[..filled].windows(mark.len()).any(|window| window == mark) {
            return true;
        }
        // The mark may lie across the end of the bytes in the buffer.
        kept = filled.min(mark.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_wherever_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        // Across the end of the buffer.
        let mut bytes = vec![b'G'; (1 << 20) - 3];
        bytes.extend(b"GHC RTS and more");
        std::fs::write(&path, &bytes).expect("a file");
        assert_eq!(runtime_of(&path).map(Runtime::name), Some("ghc"));
        // This executable has the table, like gclab and programs that link it.
        let own = std::env::current_exe().expect("a path");
        assert_eq!(runtime_of(&own).map(Runtime::name), Some("none"));
        std::fs::write(&path, "#!/bin/sh\necho $OCAMLRUNPARAM GHC RTS\n").expect("a file");
        assert_eq!(runtime_of(&path).map(Runtime::name), None);
        assert_eq!(runtime_of(Path::new("/usr/bin/java")).map(Runtime::name), Some("jvm"));
    }
}
