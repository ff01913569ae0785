//! The built `gclab` from the outside: the command line, sweeps, resuming, reports.

mod docs;
mod events;
mod exec;
mod figures;
mod first_minutes;
mod flags;
mod heap;
mod interop;
mod list;
mod log;
mod logged;
mod memory;
mod minheap;
mod own;
mod profile;
mod profile_show;
mod profiles;
mod programs;
mod report;
mod resume;
mod run;
mod shipped;
mod support;
mod timeline;
