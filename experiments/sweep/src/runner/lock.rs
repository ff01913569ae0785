//! One runner at a time in a results folder.
//!
//! The lock is the kernel's (`flock`), so it is gone with the process that holds it, however that ended; the file's text is only for people.
//! It belongs to the open file, and a child that was forked but has not yet become its program has that open, too: so it is given back in so many
//! words, not by closing the file.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

/// The lock's file in a results folder.
pub const LOCK_FILE: &str = ".lock";

/// A folder that is ours for as long as this lives.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nothing can be done about a failure, and the end of the process gives it back all the same.
        let _ = self.file.unlock();
    }
}

/// Takes the lock of `folder`; `Ok(Err(who))` when another process has it, with what is known of that.
///
/// # Errors
/// When the file cannot be made or locked.
pub fn lock(folder: &Path) -> io::Result<Result<Lock, String>> {
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(folder.join(LOCK_FILE))?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            write!(file, "process {}", std::process::id())?;
            Ok(Ok(Lock { file }))
        }
        Err(TryLockError::WouldBlock) => {
            let mut who = String::new();
            // What is written there is a courtesy; without it the lock holds all the same.
            let _ = file.read_to_string(&mut who);
            Ok(Err(if who.is_empty() { "another process".into() } else { who }))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_has_it_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap().unwrap();
        let who = lock(folder.path()).unwrap().unwrap_err();
        assert_eq!(who, format!("process {}", std::process::id()));
        drop(first);
        lock(folder.path()).unwrap().unwrap();
    }

    #[test]
    fn what_a_child_has_of_the_file_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap().unwrap();
        let childs = first.file.try_clone().unwrap();
        drop(first);
        lock(folder.path()).unwrap().unwrap();
        drop(childs);
    }
}
