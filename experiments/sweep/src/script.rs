//! The scripts that start the shards of a plan: an array job of Slurm, or a list of jobs for GNU
//! parallel.
//!
//! A script names the folder in which it works, the exact gclab by its path and SHA-256, and the
//! folder of each shard. Each of its commands may run again, anywhere: it continues its shard.

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
    /// The words of `gclab run` without its shard and its folder: the file and options.
    pub words: Vec<String>,
    /// The folder of the shards' folders.
    pub folder: PathBuf,
    /// The number of shards.
    pub shards: u32,
    /// The number of runs of all shards.
    pub runs: usize,
    /// The number of groups of round and workload, which shards take as a whole.
    pub groups: usize,
    /// The command that made the script.
    pub made_by: Vec<String>,
}

impl Job {
    /// The commands that the scripts share: the place, and the check of the executable.
    fn head(&self) -> String {
        let quoted = |path: &Path| shell_line(&[path.display().to_string()]);
        format!(
            "cd {} || exit 2\n\
             gclab={}\n\
             folder={}\n\n\
             # The same executable in all shards: results of two builds are never joined.\n\
             if ! echo \"{}  $gclab\" | sha256sum --check --status; then\n    \
                 echo \"$gclab is not the gclab that this script was made with: make the script anew\" >&2\n    \
                 exit 2\n\
             fi\n",
            quoted(&self.directory),
            quoted(&self.program),
            quoted(&self.folder),
            self.sha256,
        )
    }

    /// The first lines of the comment of a script.
    fn summary(&self) -> String {
        format!(
            "{} of {}: {} in {}. Made by\n#   {}\n",
            counted(self.shards as usize, "shard"),
            self.name,
            counted(self.runs, "run"),
            counted(self.groups, "group of round and workload")
                .replace("group of round and workloads", "groups of round and workload"),
            shell_line(&self.made_by),
        )
    }

    /// The command that reports on all shards.
    fn report(&self) -> String {
        format!("gclab report {}/*", shell_line(&[self.folder.display().to_string()]))
    }

    /// The words of `gclab run`, without its shard and its folder.
    fn run_words(&self) -> String {
        shell_line(&self.words)
    }

    /// The array job for `sbatch`.
    pub fn slurm(&self) -> String {
        format!(
            r##"#!/bin/bash
# {summary}#
# Start it, or start again what was interrupted (a shard that is complete ends at once):
#   sbatch THIS_FILE
# One shard again:
#   sbatch --array=2 THIS_FILE
# When all have ended:
#   {report}
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

{head}
# `exec`: Slurm's signals reach gclab itself.
shard=$SLURM_ARRAY_TASK_ID
exec "$gclab" run {words} --shard "$shard/{shards}" --out "$folder/$shard-of-{shards}"
"##,
            summary = self.summary(),
            report = self.report(),
            job = self.job_name(),
            shards = self.shards,
            head = self.head(),
            words = self.run_words(),
        )
    }

    /// The script that runs GNU parallel on a list of jobs.
    pub fn gnu_parallel(&self) -> String {
        let jobs: String = (1..=self.shards)
            .map(|shard| {
                format!(
                    "cd {} && {} run {} --shard {shard}/{shards} --out {}/{shard}-of-{shards}\n",
                    shell_line(&[self.directory.display().to_string()]),
                    shell_line(&[self.program.display().to_string()]),
                    self.run_words(),
                    shell_line(&[self.folder.display().to_string()]),
                    shards = self.shards,
                )
            })
            .collect();
        format!(
            r##"#!/bin/bash
# {summary}#
# Start it, or start again what was interrupted (a shard that is complete ends at once). Further
# options are those of GNU parallel: `--sshlogin one,two` shares the shards among these machines,
# which have this folder and this gclab at the same paths.
#   bash THIS_FILE --sshlogin one,two
# When all have ended:
#   {report}

{head}
# One shard at a time on each machine (--jobs 1): shards that run side by side disturb each other.
parallel --jobs 1 --line-buffer --tagstring 'shard {{#}}' "$@" <<'JOBS'
{jobs}JOBS
"##,
            summary = self.summary(),
            report = self.report(),
            head = self.head(),
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
