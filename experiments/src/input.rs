//! The files that commands read: plain or gzip, a pipe, or `-` for standard input.

use gclab_results::path_name;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// The first bytes of every gzip file (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Limit on unpacked bytes.
const MOST: u64 = 1 << 36;

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a file in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path_name(path)
    }
}

/// The path under which the system knows the file.
fn path_or_input(path: &Path) -> &Path {
    if is_standard_input(path) {
        Path::new("/dev/stdin")
    } else {
        path
    }
}

/// A seekable file. A pipe is copied to a temporary file first.
///
/// # Errors
/// If it cannot be read, or if there is no room for the copy.
pub(crate) fn seekable(path: &Path) -> io::Result<File> {
    let mut file = File::open(path_or_input(path))?;
    if file.stream_position().is_err() {
        return copy(&mut file);
    }
    Ok(file)
}

/// The same, unpacked if it is gzip. If the gzip file is cut off, so is the result.
///
/// # Errors
/// As [`seekable`], and if the gzip data are damaged.
pub(crate) fn plain(path: &Path) -> io::Result<File> {
    let mut file = seekable(path)?;
    let mut head = Vec::new();
    // Opening a folder succeeds; reading it fails here.
    (&mut file).take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
    file.rewind()?;
    if head == GZIP_MAGIC {
        return copy(&mut MultiGzDecoder::new(file).take(MOST));
    }
    Ok(file)
}

/// Checks that writing `output`, the value of `option`, overwrites none of the files that the
/// command reads. A file may have several names.
///
/// # Errors
/// A message, if `output` is one of them.
pub(crate) fn may_write<'p>(
    output: &Path,
    option: &str,
    inputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), String> {
    let place = |path: &Path| {
        let file = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    };
    let Some(found) = place(output) else { return Ok(()) };
    match inputs
        .into_iter()
        .any(|input| place(path_or_input(input)) == Some(found))
    {
        true => Err(format!(
            "{}: this is the input, expected another file to write: {option} FILE",
            path_name(output)
        )),
        false => Ok(()),
    }
}

/// The name of a file's page, in the working directory. Different files get different pages.
pub(crate) fn page_of(path: &Path, of_standard_input: &str) -> PathBuf {
    let name = path.file_name().filter(|_| !is_standard_input(path));
    let mut page = name.unwrap_or(of_standard_input.as_ref()).to_owned();
    page.push(".html");
    page.into()
}

/// Kinds of files by their first bytes, and the command that reads each.
const KINDS: [(&[u8], &str, &str); 6] = [
    (b"hdrb", "an event log", "events summary"),
    (b"JOB \"", "a heap profile", "profile show"),
    (b"JAVA PROFILE ", "a heap dump of a JVM", "heap analyse"),
    (b"{\"snapshot\"", "a heap snapshot of V8", "heap analyse"),
    (b"\x7fELF", "a program", MEASURE),
    (b"#!", "a program", MEASURE),
];

/// The command that measures a program.
pub(crate) const MEASURE: &str = "run --";

/// The byte of an ELF file that tells its type, and the type of core files.
const ELF_TYPE: (usize, u8) = (16, 4);

/// For the message that a command cannot read a file: what the file is, and which command reads it.
pub(crate) fn hint(path: &Path) -> String {
    kind(path).map_or_else(String::new, |(what, command, path)| {
        let words = [match command {
            MEASURE => program(path),
            _ => path.display().to_string(),
        }];
        format!(
            "; this is {what}: gclab {command} {}",
            gclab_results::shell_line(&words)
        )
    })
}

/// A program as commands name it: without a `/` it would be sought in `PATH`.
pub(crate) fn program(path: &Path) -> String {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => format!("./{}", path.display()),
        _ => path.display().to_string(),
    }
}

/// What a file or folder is, and the command that reads it, with the path to give to that.
pub(crate) fn kind(path: &Path) -> Option<(&'static str, &'static str, &Path)> {
    let mut head = Vec::new();
    let read = plain(path).and_then(|file| file.take(64).read_to_end(&mut head));
    let found = KINDS.iter().find(|(start, ..)| read.is_ok() && head.starts_with(start));
    if let Some((start, what, command)) = found {
        if start.ends_with(b"ELF") && head.get(ELF_TYPE.0) == Some(&ELF_TYPE.1) {
            return Some(("a core file", "heap analyse --exe PROGRAM", path));
        }
        return Some((*what, *command, path));
    }
    if path.join("plan.json").is_file() {
        return Some(("a folder of results", "report", path));
    }
    let name = path.file_name().filter(|_| path.is_file())?;
    if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
        return Some(("an experiment file", "run", path));
    }
    let folder = path.parent().filter(|_| name == "plan.json" || name == "runs.jsonl")?;
    let is_here = folder.as_os_str().is_empty();
    let folder = if is_here { Path::new(".") } else { folder };
    Some(("a file of a folder of results", "report", folder))
}

/// Copies `source` to a temporary file.
fn copy(source: &mut dyn Read) -> io::Result<File> {
    let mut copy = tempfile::tempfile()?;
    let copied = io::copy(source, &mut copy);
    let length = copy.stream_position()?;
    match copied {
        Err(error) if length == 0 || error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => copy.rewind()?,
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::{copy, page_of};
    use flate2::read::{GzEncoder, MultiGzDecoder};
    use std::io::Read;
    use std::path::Path;

    #[test]
    fn a_gzip_file_that_is_cut_off_is_read_to_its_end() {
        let text: Vec<u8> = (0..5000u32)
            .flat_map(|n| n.wrapping_mul(2_654_435_769).to_le_bytes())
            .collect();
        let mut zipped = Vec::new();
        GzEncoder::new(&text[..], flate2::Compression::fast())
            .read_to_end(&mut zipped)
            .unwrap();
        let mut read = Vec::new();
        let cut = &zipped[..zipped.len() / 2];
        copy(&mut MultiGzDecoder::new(cut))
            .unwrap()
            .read_to_end(&mut read)
            .unwrap();
        assert!(read.len() > 4000 && text.starts_with(&read), "{}", read.len());
        assert!(
            copy(&mut MultiGzDecoder::new(&zipped[..5])).is_err(),
            "there is nothing to read"
        );
    }

    #[test]
    fn two_files_have_two_pages() {
        let pages = ["runs/x.hp", "x.hp.gz", "x.eventlog", "-"].map(|file| page_of(Path::new(file), "log"));
        let names = ["x.hp.html", "x.hp.gz.html", "x.eventlog.html", "log.html"];
        assert_eq!(pages, names.map(|name| Path::new(name).to_owned()));
    }
}
