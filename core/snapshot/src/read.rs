//! From a file to a [`Snapshot`]: the top level of the JSON object, and the two arrays that make up
//! nearly all of it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Problem, show};
use crate::header::Header;
use crate::hprof;
use crate::input::Input;
use crate::records::{check_count, check_names, narrow, records, type_of};
use crate::snapshot::Snapshot;

/// The longest `snapshot` value that is read, in bytes. V8's are about 2 KiB.
const LONGEST_HEADER: usize = 1 << 20;

/// The most entries that memory is reserved for because the file promises them. For more, the
/// entries must be there.
const TRUSTED: u64 = 1 << 26;

/// The columns to keep. Types, self sizes and targets are always kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// V8's ids of nodes (8 bytes a node).
    pub ids: bool,
    /// Names of nodes and edges as indices of strings (4 bytes each).
    pub names: bool,
    /// The texts of the strings.
    pub strings: bool,
}

impl Options {
    /// Everything that this crate can keep.
    pub const fn all() -> Self {
        Options {
            ids: true,
            names: true,
            strings: true,
        }
    }

    /// Only the graph and its sizes.
    pub const fn shape() -> Self {
        Options {
            ids: false,
            names: false,
            strings: false,
        }
    }
}

impl Snapshot {
    /// Reads the file at `path`, plain or gzip: a V8 heap snapshot, or a JVM heap dump, of which
    /// every column is kept.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is neither.
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Error::new(&name, false, 0, Problem::Io(error)))?;
        let mut input = Input::new(Box::new(file), &name)?;
        if input.starts_with(hprof::MAGIC)? {
            return Snapshot::open_hprof(path);
        }
        Snapshot::of(&mut input, options)
    }

    /// Reads a snapshot, plain or gzip, from any reader. Errors name the file `name`.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn read(reader: impl Read, name: &str, options: Options) -> Result<Self, Error> {
        Snapshot::of(&mut Input::new(Box::new(reader), name)?, options)
    }

    fn of(input: &mut Input<'_>, options: Options) -> Result<Self, Error> {
        Reader {
            snapshot: Snapshot::default(),
            options,
            header: None,
            nodes: false,
            edges: false,
            strings: false,
        }
        .run(input)
    }
}

/// The parts that were read so far.
struct Reader {
    snapshot: Snapshot,
    options: Options,
    header: Option<Header>,
    nodes: bool,
    edges: bool,
    strings: bool,
}

impl Reader {
    fn run(mut self, input: &mut Input<'_>) -> Result<Snapshot, Error> {
        match input.next()? {
            Some(b'{') => input.take(1),
            other => {
                let found = other.map_or("nothing".to_owned(), show);
                return Err(input.error(Problem::NotASnapshot {
                    expected: "a JSON object with the key \"snapshot\"",
                    found,
                }));
            }
        }
        if !input.accept(b'}')? {
            loop {
                self.entry(input)?;
                if !input.accept(b',')? {
                    break;
                }
            }
            input.expect(b'}', "a comma or the end of the snapshot")?;
        }
        input.end()?;
        self.finish(input)
    }

    fn entry(&mut self, input: &mut Input<'_>) -> Result<(), Error> {
        input.next()?;
        let start = input.offset();
        let key = input.key()?;
        let seen = match key.as_str() {
            "snapshot" => self.header.is_some(),
            "nodes" => self.nodes,
            "edges" => self.edges,
            "strings" => self.strings,
            _ => return input.value(|_| {}),
        };
        if seen {
            return Err(input.error_at(
                start,
                Problem::Expected {
                    expected: "each key once",
                    found: format!("\"{key}\" again"),
                },
            ));
        }
        match (key.as_str(), self.header.take()) {
            ("snapshot", _) => self.header = Some(read_header(input)?),
            (_, None) => {
                let found = format!("\"{key}\" before it");
                return Err(input.error_at(
                    start,
                    Problem::NotASnapshot {
                        expected: "the key \"snapshot\" first",
                        found,
                    },
                ));
            }
            (key, Some(header)) => {
                match key {
                    "nodes" => self.read_nodes(input, &header)?,
                    "edges" => self.read_edges(input, &header)?,
                    _ => self.read_strings(input)?,
                }
                self.header = Some(header);
            }
        }
        Ok(())
    }

    fn read_nodes(&mut self, input: &mut Input<'_>, header: &Header) -> Result<(), Error> {
        self.nodes = true;
        let (snapshot, fields, keep) = (&mut self.snapshot, &header.node, self.options);
        let room = header.node_count.min(TRUSTED) as usize;
        snapshot.node_types.reserve_exact(room);
        snapshot.self_sizes.reserve_exact(room);
        snapshot.first_edge.reserve_exact(room + 1);
        snapshot.node_ids.reserve_exact(if keep.ids { room } else { 0 });
        snapshot.node_names.reserve_exact(if keep.names { room } else { 0 });
        snapshot.first_edge.push(0);
        let (mut count, mut edges) = (0_u64, 0_u64);
        records(input, fields.width, |row| {
            check_count("nodes", header.node_count, count + 1)?;
            snapshot
                .node_types
                .push(type_of("a node's type", row[fields.kind], &header.node_types)?);
            snapshot.self_sizes.push(row[fields.self_size]);
            edges = edges.saturating_add(row[fields.edge_count]);
            check_count("edges (by the nodes' edge counts)", header.edge_count, edges)?;
            snapshot.first_edge.push(edges as u32);
            if keep.ids {
                snapshot.node_ids.push(row[fields.id]);
            }
            if keep.names {
                snapshot.node_names.push(narrow("a node's name", row[fields.name])?);
            }
            count += 1;
            Ok(())
        })?;
        let short = |what, declared, found| {
            if declared == found {
                Ok(())
            } else {
                Err(input.error(Problem::Count { what, declared, found }))
            }
        };
        short("nodes", header.node_count, count)?;
        short("edges (by the nodes' edge counts)", header.edge_count, edges)
    }

    fn read_edges(&mut self, input: &mut Input<'_>, header: &Header) -> Result<(), Error> {
        self.edges = true;
        let (snapshot, fields, keep) = (&mut self.snapshot, &header.edge, self.options);
        let room = header.edge_count.min(TRUSTED) as usize;
        snapshot.edge_types.reserve_exact(room);
        snapshot.targets.reserve_exact(room);
        snapshot.edge_names.reserve_exact(if keep.names { room } else { 0 });
        let step = header.node.width as u64;
        let mut count = 0_u64;
        records(input, fields.width, |row| {
            check_count("edges", header.edge_count, count + 1)?;
            let to = row[fields.to_node];
            if to % step != 0 || to / step >= header.node_count {
                return Err(Problem::NoSuchNode {
                    edge: count,
                    to,
                    step,
                    end: step * header.node_count,
                });
            }
            snapshot.targets.push((to / step) as u32);
            snapshot
                .edge_types
                .push(type_of("an edge's type", row[fields.kind], &header.edge_types)?);
            if keep.names {
                snapshot
                    .edge_names
                    .push(narrow("an edge's name", row[fields.name_or_index])?);
            }
            count += 1;
            Ok(())
        })?;
        if count < header.edge_count {
            return Err(input.error(Problem::Count {
                what: "edges",
                declared: header.edge_count,
                found: count,
            }));
        }
        Ok(())
    }

    fn read_strings(&mut self, input: &mut Input<'_>) -> Result<(), Error> {
        self.strings = true;
        if !self.options.strings {
            return input.value(|_| {});
        }
        let strings = &mut self.snapshot.strings;
        input.array(|input| {
            input.string(&mut |piece| strings.text().extend_from_slice(piece))?;
            strings.finish();
            Ok(())
        })?;
        strings.shrink();
        Ok(())
    }

    /// Checks that need all parts.
    fn finish(self, input: &Input<'_>) -> Result<Snapshot, Error> {
        let mut snapshot = self.snapshot;
        snapshot.bytes = input.offset();
        let Some(header) = self.header else {
            let found = "an object without it".to_owned();
            return Err(input.error(Problem::NotASnapshot {
                expected: "the key \"snapshot\"",
                found,
            }));
        };
        let parts = [
            ("nodes", self.nodes),
            ("edges", self.edges),
            ("strings", self.strings || !self.options.strings),
        ];
        if let Some((missing, _)) = parts.into_iter().find(|(_, there)| !there) {
            return Err(input.error(Problem::Missing(missing)));
        }
        snapshot.weak_type = header
            .edge_types
            .iter()
            .position(|name| name == "weak")
            .map(|place| place as u8);
        snapshot.indexed_types = header
            .edge_types
            .iter()
            .map(|name| name == "element" || name == "hidden")
            .collect();
        snapshot.node_type_names = header.node_types;
        snapshot.edge_type_names = header.edge_types;
        if self.options.strings && self.options.names {
            check_names(&snapshot).map_err(|problem| input.error(problem))?;
        }
        Ok(snapshot)
    }
}

fn read_header(input: &mut Input<'_>) -> Result<Header, Error> {
    input.next()?;
    let (start, mut text) = (input.offset(), Vec::new());
    // A text that is too long is cut. Then parsing fails with an early end.
    input.value(|piece| text.extend(piece.iter().take(LONGEST_HEADER - text.len())))?;
    let header = Header::parse(&text).map_err(|sentence| input.error_at(start, Problem::Header(sentence)))?;
    let counts = [
        ("the number of nodes", header.node_count),
        ("the number of edges", header.edge_count),
    ];
    match counts.into_iter().find(|(_, count)| *count >= u64::from(u32::MAX)) {
        Some((what, value)) => Err(input.error_at(
            start,
            Problem::Range {
                what,
                value,
                end: u64::from(u32::MAX),
            },
        )),
        None => Ok(header),
    }
}
