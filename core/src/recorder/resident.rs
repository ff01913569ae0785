//! The resident memory of the process, as the system counts it.

use crate::memory::PAGE;
use crate::words::Bytes;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Reads the resident set of this process: `/proc/self/statm`, kept open, which counts in pages. A
/// reading takes one system call, about a microsecond, so it is taken only after major collections.
#[derive(Debug)]
pub(super) struct Resident(Option<File>);

impl Resident {
    pub(super) fn open() -> Resident {
        Resident(File::open("/proc/self/statm").ok())
    }

    /// Bytes that are resident now; `None` where the system does not say.
    pub(super) fn read(&self) -> Option<Bytes> {
        let mut text = [0; 128];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        let pages = std::str::from_utf8(&text[..length]).ok()?.split(' ').nth(1)?;
        Some(Bytes(pages.parse::<usize>().ok()? * PAGE.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a separate process: otherwise what other tests free meanwhile would count, too.
    #[test]
    #[ignore = "run by what_is_touched_is_resident"]
    fn touches_64_mib() {
        let resident = Resident::open();
        let Some(before) = resident.read() else {
            return; // This system does not say.
        };
        let touched = vec![1u8; 64 << 20];
        let after = resident.read().expect("it was said before");
        assert!(
            after >= before + Bytes::mib(48),
            "{before} and {after}, for {}",
            touched.len()
        );
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn what_is_touched_is_resident() {
        let tests = std::env::current_exe().expect("the tests");
        let mut command = std::process::Command::new(tests);
        let name = "recorder::resident::tests::touches_64_mib";
        let ended = command.args(["--ignored", "--exact", name]).output();
        let ended = ended.expect("the tests run");
        let text = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && text.contains("1 passed"), "{text}");
    }
}
