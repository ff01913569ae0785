//! The script that starts the shards of a plan: an array job of Slurm.
//!
//! It names the folder in which it works, the exact gclab by its path and SHA-256, and the
//! folder of each shard. Each task may run again, anywhere: it continues its shard.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gclab_results::shell_line;

use crate::text::counted;

/// Slurm's default `MaxArraySize`: task numbers must be less.
pub const MAX_ARRAY_SIZE: u32 = 1001;

/// The shards of a plan, and the words that their commands need.
#[derive(Clone, Debug)]
pub struct Job {
    /// The experiment's name.
    pub name: String,
    /// The folder in which every command works, absolute.
    pub directory: PathBuf,
    /// The path of gclab, absolute.
    pub program: PathBuf,
    /// SHA-256 of that file, in hexadecimal.
    pub sha256: String,
    /// The arguments of `gclab run` without shard and folder: the file and options.
    pub words: Vec<String>,
    /// The folder of the shards' folders.
    pub folder: PathBuf,
    /// The number of shards.
    pub shards: u32,
    /// The number of runs of all shards.
    pub runs: usize,
    /// The number of groups (round and workload), which shards take as a whole.
    pub groups: usize,
    /// The command that made the script.
    pub made_by: Vec<String>,
}

impl Job {
    /// The array job for `sbatch`.
    pub fn slurm(&self) -> String {
        let quoted = |path: &Path| shell_line(&[path.display().to_string()]);
        format!(
            r##"#!/bin/bash
# {shards_of} of {name}: {runs} in {groups} of round and workload. Made by
#   {made_by}
#
# Start it, or start again what was interrupted (a shard that is complete ends at once):
#   sbatch THIS_FILE
# One shard again:
#   sbatch --array=2 THIS_FILE
# When all have ended:
#   gclab report {folder}
#
#SBATCH --job-name={job}
# One task for each shard. Add %4 to run at most four at a time.
#SBATCH --array=1-{shards}
#SBATCH --ntasks=1
# A node for each task: a measurement shares no processor, cache or memory bus with another job.
#SBATCH --exclusive
# Where nodes cannot be had for one's own, replace --exclusive by the cores that a run needs. They
# are bound to the task if the cluster has task/affinity or task/cgroup.
##SBATCH --cpus-per-task=4
##SBATCH --hint=nomultithread
# One kind of processor: a report does not join shards of two kinds. `sinfo -o "%f %n"` lists features.
##SBATCH --constraint=FEATURE
# The longest time of a shard. One that was cut short continues when it is submitted again.
##SBATCH --time=04:00:00
# A task whose node fails, or that is preempted, is queued again, and continues.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={job}-%a.log
# A minute before its time is over, gclab gets a signal to stop: it ends with all finished runs recorded.
#SBATCH --signal=B:TERM@60

cd {directory} || exit 2
gclab={program}
folder={folder}

# The same executable in all shards: results of two builds are never joined.
if ! echo "{sha256}  $gclab" | sha256sum --check --status; then
    echo "$gclab is not the gclab that this script was made with: make the script anew" >&2
    exit 2
fi

# `exec`: Slurm's signals reach gclab itself.
shard=$SLURM_ARRAY_TASK_ID
exec "$gclab" run {words} --shard "$shard/{shards}" --out "$folder/$shard-of-{shards}"
"##,
            shards_of = counted(self.shards as usize, "shard"),
            name = shell_line(std::slice::from_ref(&self.name)),
            runs = counted(self.runs, "run"),
            groups = counted(self.groups, "group"),
            made_by = shell_line(&self.made_by),
            job = self.job_name(),
            shards = self.shards,
            directory = quoted(&self.directory),
            program = quoted(&self.program),
            folder = quoted(&self.folder),
            sha256 = self.sha256,
            words = shell_line(&self.words),
        )
    }

    /// The name of the job: letters that need no quotes.
    fn job_name(&self) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        };
        format!("gclab-{}", self.name.chars().map(plain).collect::<String>())
    }
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// If it cannot be read.
pub fn sha256(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let mut hash = hmac_sha256::Hash::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        match file.read(&mut bytes)? {
            0 => break,
            read => hash.update(&bytes[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
