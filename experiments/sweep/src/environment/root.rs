//! The kernel's files below a root folder: `/`, or a made-up machine in a test.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

/// Room for the text of most files, so that few calls read it.
const ROOM: usize = 8 << 10;

/// The root folder of `/proc` and `/sys`.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The root of this machine's files.
    pub fn system() -> Root {
        Root("/".into())
    }

    /// The machine whose files lie below this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// The text of a file without blanks at its ends; `None` if it is empty or cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let file = fs::File::open(self.0.join(path)).ok()?;
        let mut text = String::with_capacity(ROOM);
        // Through `take`, as the kernel does not know the length of these files: to ask for it
        // would be one more call.
        file.take(u64::MAX).read_to_string(&mut text).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The beginning of a file, which is all that is read of it: some files are long, and take the
    /// kernel a while to write.
    pub(crate) fn beginning(&self, path: &str) -> Option<String> {
        let mut bytes = [0; 1024];
        let read = fs::File::open(self.0.join(path)).ok()?.read(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// The number in a file.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Whether there is a file or a folder at this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.join(path).exists()
    }

    /// A field of a file that has kilobytes, in bytes.
    pub(crate) fn kilobytes(&self, path: &str, name: &str) -> Option<u64> {
        let file = self.text(path)?;
        let fields = file.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = fields.into_iter().find(|(key, _)| *key == name)?;
        Some(value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    }

    /// A field of a file with a name and a number in each line.
    pub(crate) fn field(&self, path: &str, name: &str) -> Option<u64> {
        let file = self.text(path)?;
        let fields = file.lines().filter_map(|line| line.split_once(' '));
        let (_, value) = fields.into_iter().find(|(key, _)| *key == name)?;
        value.trim().parse().ok()
    }
}
