//! Clocks, and the only calls that read them.
//!
//! Elapsed time is `CLOCK_MONOTONIC` (read without a system call, some 20 ns). CPU time costs a
//! system call (about 200 ns). `CLOCK_PROCESS_CPUTIME_ID` counts the whole process;
//! `CLOCK_THREAD_CPUTIME_ID` counts one GC thread, so that a collection is not charged for time
//! that other threads spend meanwhile. One `getrusage` returns the page faults and, to the
//! microsecond, the CPU time of the process.

#[cfg(miri)]
use crate::miri_libc as libc;
use std::mem::MaybeUninit;
use std::time::Instant;

/// The clock of a world: elapsed time counts from its start. `Copy`, so that each thread stamps its
/// own requests.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

/// The resources used by the process since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessUsage {
    /// CPU time of all threads, user and system, in nanoseconds.
    pub cpu_ns: u64,
    /// Page faults, minor and major.
    pub faults: u64,
}

impl Clock {
    /// Starts a clock, which reads 0 now.
    pub fn start() -> Self {
        Self { origin: Instant::now() }
    }

    /// Nanoseconds since this clock was started.
    #[inline]
    pub fn elapsed_ns(&self) -> u64 {
        // 64 bits of nanoseconds last for 584 years.
        self.origin.elapsed().as_nanos() as u64
    }

    /// CPU time of the calling thread since its start, in nanoseconds.
    pub(crate) fn thread_cpu_ns() -> u64 {
        read(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    /// CPU time of all threads of the process since its start, in nanoseconds.
    pub fn process_cpu_ns() -> u64 {
        read(libc::CLOCK_PROCESS_CPUTIME_ID)
    }

    /// CPU time (to the microsecond) and page faults of the process, in one system call.
    pub(crate) fn process_usage() -> ProcessUsage {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` has room for one `rusage`, which is all that `getrusage` writes. Its
        // bytes are zero before, which is a valid value, so it may be read even if the call fails.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        let micros = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
        ProcessUsage {
            cpu_ns: (micros(usage.ru_utime) + micros(usage.ru_stime)) * 1000,
            faults: (usage.ru_minflt + usage.ru_majflt) as u64,
        }
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` has room for the one `timespec` that the call writes. Both clocks exist on
    // every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward_and_work_costs_cpu_time() {
        let clock = Clock::start();
        // The thread's clock is read last: the other spans contain its span.
        let (usage, process, thread) = (Clock::process_usage(), Clock::process_cpu_ns(), Clock::thread_cpu_ns());
        let mut pages = vec![0u8; 64 * 4096];
        while Clock::thread_cpu_ns() - thread < 5_000_000 {
            pages
                .iter_mut()
                .step_by(4096)
                .for_each(|p| *p = std::hint::black_box(p.wrapping_add(1)));
        }
        // Elapsed time may be slewed, and CPU time is not.
        assert!(clock.elapsed_ns() >= 4_000_000);
        assert!(Clock::process_cpu_ns() - process >= 5_000_000);
        let after = Clock::process_usage();
        assert!(after.cpu_ns - usage.cpu_ns >= 4_000_000, "{usage:?} {after:?}");
        assert!(after.faults >= usage.faults);
    }
}
