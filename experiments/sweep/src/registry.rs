//! The collectors and workloads of a program as data, for the command line, experiment files and
//! `gclab list`.

use gclab_core::collector::Description;
use gclab_flags::{FlagError, FlagSpec, Flags};
use gclab_workloads::WorkloadDescription;

/// All collectors and workloads of this program, in the order of their lists.
#[derive(Debug)]
pub struct Registry {
    /// The collectors, in the order of their list.
    pub collectors: Vec<&'static Description>,
    /// The workloads, in the order of their list.
    pub workloads: Vec<&'static WorkloadDescription>,
}

/// The usage of a workload, with each argument's range and default on its own line.
pub fn usage(workload: &WorkloadDescription) -> String {
    let mut lines = vec![workload.usage()];
    lines.extend(workload.args.iter().map(|arg| {
        let default = arg
            .default_text()
            .map_or_else(String::new, |default| format!(", default {default}"));
        format!("  {}: {} ({}{default})", arg.name, arg.meaning, arg.expected())
    }));
    lines.join("\n")
}

impl Registry {
    /// The registry of these lists. If two have the same name, the first counts, as in the lists.
    pub fn new(
        collectors: impl IntoIterator<Item = &'static Description>,
        workloads: impl IntoIterator<Item = &'static WorkloadDescription>,
    ) -> Registry {
        let mut registry = Registry {
            collectors: Vec::new(),
            workloads: Vec::new(),
        };
        for collector in collectors {
            if registry.collector(collector.name).is_none() {
                registry.collectors.push(collector);
            }
        }
        for workload in workloads {
            if registry.workload(workload.name).is_none() {
                registry.workloads.push(workload);
            }
        }
        registry
    }

    /// The collector of this name.
    pub fn collector(&self, name: &str) -> Option<&'static Description> {
        self.collectors.iter().copied().find(|collector| collector.name == name)
    }

    /// The workload of this name.
    pub fn workload(&self, name: &str) -> Option<&'static WorkloadDescription> {
        self.workloads.iter().copied().find(|workload| workload.name == name)
    }

    /// The names of all collectors.
    pub fn collector_names(&self) -> Vec<&'static str> {
        self.collectors.iter().map(|collector| collector.name).collect()
    }

    /// The names of all workloads.
    pub fn workload_names(&self) -> Vec<&'static str> {
        self.workloads.iter().map(|workload| workload.name).collect()
    }

    /// Fits `flags` to `collector`: see [`Flags::fit`].
    ///
    /// # Errors
    /// The first flag that the collector cannot honour, with the collectors that can.
    pub fn fit(&self, collector: &Description, flags: &Flags) -> Result<Flags, FlagError> {
        let mut flags = flags.clone();
        flags.fit(collector, &self.collectors)?;
        Ok(flags)
    }

    /// The names of the collectors that honour `flag`; none if it is not a flag of collectors.
    pub fn honouring(&self, flag: &FlagSpec) -> Vec<&'static str> {
        let honoured =
            |collector: &&&Description| flag.parameter().is_some_and(|parameter| collector.honours(parameter));
        self.collectors
            .iter()
            .filter(honoured)
            .map(|collector| collector.name)
            .collect()
    }
}
