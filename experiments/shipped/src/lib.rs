//! The programs of this workspace: all its workloads under all its collectors.

use gclab_core::collector::Description;
use gclab_core::events::Listener;
use gclab_workloads::WorkloadDescription;

use crate::execute::Lists;
use crate::request::{Done, Executor, Request};

/// The executor over all collectors and workloads of this workspace. It has no type parameter, so
/// its programs are compiled with this crate.
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
