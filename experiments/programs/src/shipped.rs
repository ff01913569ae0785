//! The collectors of this workspace with its workloads. What is generic in a collector is compiled
//! here, optimised; the command line is not.

use crate::execute::Lists;
use crate::request::{Done, Executor, Request};
use gclab_core::collector::Description;
use gclab_core::events::Listener;
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
