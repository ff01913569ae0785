//! One runner at a time in a results folder.
//!
//! The lock is the kernel's (`flock`), so it disappears with the process that holds it, however
//! that dies; the file's text is only for people. The lock belongs to the open file. A child
//! between fork and exec also has that file open, so the lock is released explicitly, not by
//! closing the file.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// The name of the lock's file in a results folder.
pub(crate) const LOCK_FILE: &str = ".lock";

/// The right of this process to write to a folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // After a failure the end of the process releases the lock.
        let _ = self.file.unlock();
    }
}

/// A reader of the state holds a lock for an instant ([`owner`]), which must not keep a runner out,
/// so a lock is tried this often, at these intervals.
const TRIES: u32 = 5;
const INTERVAL: Duration = Duration::from_millis(10);

/// The process that holds the lock of `folder`, in words for people; `None` if there is none.
///
/// # Errors
/// If the file cannot be read or looked at.
pub(crate) fn owner(folder: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(folder.join(LOCK_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => {
            file.unlock()?;
            Ok(None)
        }
        Err(TryLockError::WouldBlock) => Ok(Some(named(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The text of a lock's file, or else words that fit.
fn named(file: &mut File) -> String {
    let mut owner = String::new();
    // The text only serves the message; the lock holds without it.
    let _ = file.read_to_string(&mut owner);
    if owner.is_empty() {
        "another process".into()
    } else {
        owner
    }
}

/// Takes the lock of `folder`. If another process has it, returns `Ok(Err(owner))`, which names
/// that process for people.
///
/// # Errors
/// If the file cannot be made or locked.
pub(crate) fn lock(folder: &Path) -> io::Result<Result<Lock, String>> {
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(folder.join(LOCK_FILE))?;
    let mut tries = 1;
    let taken = loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if tries < TRIES => std::thread::sleep(INTERVAL),
            other => break other,
        }
        tries += 1;
    };
    match taken {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "process {}", std::process::id())?;
            Ok(Ok(Lock { file }))
        }
        Err(TryLockError::WouldBlock) => Ok(Err(named(&mut file))),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_learns_the_owner_and_gets_the_lock_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap().unwrap();
        let owner = lock(folder.path()).unwrap().unwrap_err();
        assert_eq!(owner, format!("process {}", std::process::id()));
        drop(first);
        lock(folder.path()).unwrap().unwrap();
    }

    #[test]
    fn a_look_at_the_owner_takes_no_lock_and_keeps_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(owner(folder.path()).unwrap(), None, "no file");
        let held = lock(folder.path()).unwrap().unwrap();
        let process = format!("process {}", std::process::id());
        assert_eq!(owner(folder.path()).unwrap(), Some(process));
        drop(held);
        assert_eq!(owner(folder.path()).unwrap(), None);
        lock(folder.path()).unwrap().unwrap();
    }

    #[test]
    fn a_file_that_a_child_has_open_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap().unwrap();
        let childs = first.file.try_clone().unwrap();
        drop(first);
        lock(folder.path()).unwrap().unwrap();
        drop(childs);
    }
}
