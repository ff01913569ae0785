//! Programs that must compile, the counterpart of the misuses in `tests/ui/fail`. Building this
//! test binary is the test.

mod hygiene;
mod nothing_crosses_threads;
mod programs;
mod widest;
