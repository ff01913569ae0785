//! `heap_snapshot [FILE] [ROUNDS]`: the heap of a real program, rebuilt as records and partly
//! renewed.
//!
//! Each node of a V8 heap snapshot becomes one record: a pointer for each strong edge, and plain
//! words up to the size of the node, which is max(self size rounded up to 8, header + pointers).
//! The first plain words hold the targets of weak edges (ordinals, not pointers; as many as fit).
//! The last one holds the node's own ordinal and the round in which it was built. Only node 0 is a
//! root, so collectors see the graph as it was in the program: its depth, its hubs, its order. Each
//! round rebuilds some subgraphs ([`subgraph`]), about 1/16 of the nodes, chosen by a seeded
//! generator. The replaced records become garbage.
//!
//! At the end, after a collection, the graph is walked from the root and compared with the
//! snapshot, node by node. The checksum is nodes reached + pointers walked + sum of the reached
//! nodes' self sizes and, if there are rounds, a digest of the words read from the replaced
//! records.
//!
//! Set-up reads the file and builds the graph; the rounds are the measured phase; the comparison is
//! exit.

mod graph;
mod heap;
mod subgraph;

use gclab_core::mutator::MutatorKind;
use gclab_core::world::World;
use gclab_snapshot::{Error, Options, Snapshot};

use crate::{ArgSpec, Args, RunError, StressSize, TestSize, Workload, WorkloadDescription};
use graph::Graph;

/// The built-in snapshot; `fixtures/README.md` describes it.
static POSTCSS: &[u8] = include_bytes!("../../fixtures/postcss.heapsnapshot.gz");

/// The built-in snapshot's name in errors.
const BUILT_IN: &str = "postcss.heapsnapshot.gz (built in)";

pub(crate) fn postcss() -> Result<Snapshot, Error> {
    Snapshot::read(POSTCSS, BUILT_IN, Options::shape())
}

/// A real program's heap, rebuilt from a snapshot.
#[derive(Debug, Default)]
pub struct HeapSnapshot;

impl Workload for HeapSnapshot {
    const DESCRIPTION: WorkloadDescription = WorkloadDescription {
        name: "heap_snapshot",
        summary: "the heap of a real program from a V8 heap snapshot, partly rebuilt in each round",
        args: &[
            ArgSpec::file(
                "FILE",
                "a .heapsnapshot file, plain or gzip",
                Some("a built-in snapshot of postcss"),
            ),
            ArgSpec::number(
                "ROUNDS",
                "how often a sixteenth of the nodes is rebuilt",
                200,
                0..=1 << 32,
            ),
        ],
        checksum: None,
        test: TestSize {
            args: &["-", "3"],
            checksum: None,
        },
        bench: &["-", "2"],
        stress: StressSize {
            args: &["-", "1"],
            every: 3001,
            parallel: &["-", "0"],
        },
    };

    fn run<M: MutatorKind>(&self, world: &World<M>, args: &Args) -> Result<u64, RunError> {
        let read = |path| Snapshot::open(path, Options::shape());
        let snapshot = args.file("FILE").map_or_else(postcss, read)?;
        let graph = Graph::new(&snapshot).map_err(|problem| RunError::Input {
            file: args
                .file("FILE")
                .map_or(BUILT_IN.to_owned(), |file| file.display().to_string()),
            problem,
        })?;
        drop(snapshot);
        world.enter(|m| heap::run(m, &graph, args.number("ROUNDS")))?
    }
}
