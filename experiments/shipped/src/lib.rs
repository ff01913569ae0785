//! The collectors of this workspace, put together with the compiled workloads.
//!
//! This crate is the only one between `gclab-collectors` and the command, so a changed collector
//! costs no compilation of a workload. Its list of collectors has no type parameter: the code that
//! is generic in a collector is compiled here, optimised, and not with the command line, which is
//! not.

#![forbid(unsafe_code)]

use gclab_core::collector::Description;
use gclab_core::events::Listener;
use gclab_programs::{Done, Executor, Lists, Request};
use gclab_workloads::WorkloadDescription;

/// The executor over all collectors and workloads of this workspace.
#[derive(Clone, Copy, Debug)]
pub struct Shipped;

/// The lists of this workspace.
const SHIPPED: Lists<gclab_collectors::All, gclab_workloads::All> = Lists::NEW;

impl Executor for Shipped {
    fn collectors(&self) -> Vec<&'static Description> {
        SHIPPED.collectors()
    }

    fn workloads(&self) -> Vec<&'static WorkloadDescription> {
        SHIPPED.workloads()
    }

    fn execute(&self, request: &Request<'_>, listeners: Vec<Box<dyn Listener>>) -> Done {
        SHIPPED.execute(request, listeners)
    }
}
