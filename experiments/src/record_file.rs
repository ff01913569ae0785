//! The file of `gclab exec --record`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gclab_results::{RunRecord, path_name};

/// The file of `--record`. It keeps its old text until the run is over.
pub(crate) struct RecordFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// The new file, if there was none: the target of a link, not the link.
    made: Option<PathBuf>,
}

impl RecordFile {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// A message if it cannot be written.
    pub(crate) fn create(path: &PathBuf) -> Result<RecordFile, String> {
        let is_new = fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| RecordFile::problem(path, &error))?;
        Ok(RecordFile {
            path: path.clone(),
            file,
            made: if is_new { fs::canonicalize(path).ok() } else { None },
        })
    }

    /// The run was refused: leaves the files as they were.
    pub(crate) fn leave(self) {
        if let Some(made) = self.made {
            // The user already learns about a worse problem.
            let _ = fs::remove_file(made);
        }
    }

    /// The run was accepted: removes the old text. A device has none. (Where a file was cut, ext4
    /// writes it to the disk when it is closed, and whoever removes it waits.)
    pub(crate) fn empty(&self) -> Result<(), String> {
        let cut = |there: fs::Metadata| {
            let has_text = there.is_file() && there.len() > 0;
            if has_text { self.file.set_len(0) } else { Ok(()) }
        };
        let emptied = self.file.metadata().and_then(cut);
        emptied.map_err(|error| RecordFile::problem(&self.path, &error))
    }

    /// Writes the record as one line.
    pub(crate) fn write(mut self, line: &RunRecord) -> Result<(), String> {
        serde_json::to_vec(line)
            .map_err(io::Error::from)
            .and_then(|text| self.file.write_all(&[text.as_slice(), b"\n"].concat()))
            .map_err(|error| RecordFile::problem(&self.path, &error))
    }

    fn problem(path: &Path, error: &io::Error) -> String {
        format!("--record {}: {error}", path_name(path))
    }
}
