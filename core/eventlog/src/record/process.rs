//! The events that describe the process, its capabilities and its heap.

use std::os::unix::process::parent_id;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Classes, DebugMessages, Value, kinds};
use gclab_core::block::{BLOCK, MEGABLOCK};
use gclab_core::events::RunInfo;

use super::output::Output;

/// The facts about a program at the start of its log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The classes of events.
    pub classes: Classes,
    /// The debug messages.
    pub debug: DebugMessages,
    /// The command line, the name of the program first.
    pub args: Vec<String>,
}

/// The capability set of the process, which also stands for its heap.
const PROCESS: u64 = 0;
/// The capability set of those that share a clock.
const CLOCK: u64 = 1;
/// The bytes of a payload that a number leaves: 65535 less four.
const MOST: usize = 65_531;

pub(crate) fn start(time: u64, run: &RunInfo, about: &About, output: &mut Output) {
    output.set_caps(run.capabilities as usize);
    if about.classes.any() {
        let (process, clock_domain) = (2, 3);
        output.put_global(&kinds::CAPSET_CREATE, time, &[PROCESS.into(), process.into()]);
        output.put_global(&kinds::CAPSET_CREATE, time, &[CLOCK.into(), clock_domain.into()]);
        for cap in 0..u64::from(run.capabilities) {
            output.put_global(&kinds::CAP_CREATE, time, &[cap.into()]);
            output.put_global(&kinds::CAPSET_ASSIGN_CAP, time, &[PROCESS.into(), cap.into()]);
            output.put_global(&kinds::CAPSET_ASSIGN_CAP, time, &[CLOCK.into(), cap.into()]);
        }
    }
    // The system's clock may be set before 1970.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall = [CLOCK.into(), now.as_secs().into(), u64::from(now.subsec_nanos()).into()];
    output.put_global(&kinds::WALL_CLOCK_TIME, time, &wall);
    let pid = u64::from(std::process::id());
    output.put_global(&kinds::OSPROCESS_PID, time, &[PROCESS.into(), pid.into()]);
    output.put_global(
        &kinds::OSPROCESS_PPID,
        time,
        &[PROCESS.into(), u64::from(parent_id()).into()],
    );
    let rts = identifier(run);
    output.put_global(&kinds::RTS_IDENTIFIER, time, &[PROCESS.into(), rts.as_str().into()]);
    let args = list(&about.args);
    output.put_global(&kinds::PROGRAM_ARGS, time, &[PROCESS.into(), Value::List(&args)]);
    if about.classes.gc {
        let bytes = |size: usize| Value::from(size as u64);
        let heap = [
            PROCESS.into(),
            u64::from(run.generations).into(),
            bytes(run.max_heap.map_or(0, |most| most.0)),
            bytes(run.allocation_area.0),
            bytes(MEGABLOCK.0),
            bytes(BLOCK.0),
        ];
        output.put_global(&kinds::HEAP_INFO_GHC, time, &heap);
    }
}

pub(crate) fn end(time: u64, output: &mut Output) {
    for cap in 0..output.caps() as u64 {
        output.put_global(&kinds::CAPSET_REMOVE_CAP, time, &[PROCESS.into(), cap.into()]);
        output.put_global(&kinds::CAPSET_REMOVE_CAP, time, &[CLOCK.into(), cap.into()]);
        output.put_global(&kinds::CAP_DELETE, time, &[cap.into()]);
    }
    output.put_global(&kinds::CAPSET_DELETE, time, &[PROCESS.into()]);
    output.put_global(&kinds::CAPSET_DELETE, time, &[CLOCK.into()]);
}

/// The name and the version of the runtime, in GHC's form: the last word is its way, `thr` if
/// several threads can run or collect.
fn identifier(run: &RunInfo) -> String {
    let way = if run.capabilities > 1 || run.parallel {
        "rts_thr"
    } else {
        "rts"
    };
    format!("gclab-{} {} {way}", env!("CARGO_PKG_VERSION"), run.collector)
}

/// Words, each followed by a NUL. Words that do not fit are left out, as are NULs within words,
/// which no command line has.
fn list(words: &[String]) -> Vec<u8> {
    let mut list = Vec::new();
    for word in words {
        let word = word.replace('\0', "");
        if list.len() + word.len() + 1 > MOST {
            break;
        }
        list.extend(word.as_bytes());
        list.push(0);
    }
    list
}
