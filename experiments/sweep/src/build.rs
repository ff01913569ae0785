//! A build of gclab that does runs instead of this one: `builds` of an experiment file.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::machine;
use gclab_results::path_name;

/// A build of gclab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Its name in tables and records.
    pub name: String,
    /// The file, as an absolute path.
    pub file: PathBuf,
    /// The hash of the file.
    pub executable: String,
    /// The state of the file when it was hashed.
    pub(crate) state: State,
}

/// Changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    device: u64,
    number: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl State {
    fn of(metadata: &Metadata) -> State {
        State {
            device: metadata.dev(),
            number: metadata.ino(),
            size: metadata.size(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }
}

impl Build {
    /// The build with this name whose file is `path`.
    ///
    /// # Errors
    /// The reason, in words, if it is not a file that can be run.
    pub fn new(name: &str, path: &str) -> Result<Build, String> {
        let file = std::path::absolute(path).map_err(|error| error.to_string())?;
        let metadata = match fs::metadata(&file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err("there is no such file".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        if !metadata.is_file() {
            return Err("it is not a file".to_owned());
        }
        if metadata.mode() & 0o111 == 0 {
            return Err("it cannot be run: it is not executable".to_owned());
        }
        let executable = machine::hash_of(&file).ok_or("it cannot be read")?;
        Ok(Build {
            name: name.to_owned(),
            executable,
            state: State::of(&metadata),
            file,
        })
    }

    /// Checks that the file is the one that was hashed.
    ///
    /// # Errors
    /// If it was changed or removed.
    pub(crate) fn check(&self) -> io::Result<()> {
        if State::of(&fs::metadata(&self.file)?) == self.state {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the build {} has changed since this command began: {}",
            self.name,
            path_name(&self.file)
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_changes_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gclab");
        let path = file.to_str().unwrap();
        assert_eq!(Build::new("x", path).unwrap_err(), "there is no such file");
        assert_eq!(
            Build::new("x", folder.path().to_str().unwrap()).unwrap_err(),
            "it is not a file"
        );
        fs::write(&file, "one").unwrap();
        assert!(Build::new("x", path).unwrap_err().contains("not executable"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&file, mode).unwrap();
        let build = Build::new("x", path).unwrap();
        build.check().unwrap();
        fs::write(&file, "other").unwrap();
        assert!(build.check().unwrap_err().to_string().contains("has changed"));
        fs::remove_file(&file).unwrap();
        build.check().unwrap_err();
    }
}
