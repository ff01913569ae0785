//! From a file to a [`Snapshot`]: the top level of the JSON object, and the two arrays that make up
//! nearly all of it.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use crate::error::{Error, Problem, show};
use crate::ghc;
use crate::header::Header;
use crate::hprof;
use crate::input::Input;
use crate::interpret::{Extra, Location, interpret};
use crate::memory::{extend, push, reserve};
use crate::options::Options;
use crate::records::{Odd, check_count, declare, fill_names, narrow, records, type_of};
use crate::snapshot::{NO_INDEX, Snapshot};

/// The longest `snapshot` value read, in bytes. V8's are about 2 KiB.
const LONGEST_HEADER: usize = 1 << 20;

/// V8's number for nodes detached from their document.
const DETACHED: u64 = 2;

impl Snapshot {
    /// Reads the file at `path`, plain or gzip: a V8 heap snapshot, or a JVM heap dump, of which
    /// every column is kept.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is neither.
    pub fn open(path: &Path, options: Options) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Error::cannot_open(&name, error))?;
        Snapshot::of_file(&file, &name, options)
    }

    /// As [`Snapshot::open`] for an open file, at its beginning. Errors name it `name`.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn of_file(file: &File, name: &str, options: Options) -> Result<Self, Error> {
        let length = file.metadata().map(|file| file.len()).ok();
        let mut input = Input::new(Box::new(file), name, options.limit, length)?;
        if input.peek()?.is_none() {
            return Err(input.error(Problem::Whole(
                "empty, expected a V8 heap snapshot or a JVM's heap dump",
            )));
        }
        if input.starts_with(ghc::MAGIC)? {
            return Err(input.error(Problem::Core(
                "a core file: name its executable with `--exe PROGRAM`".to_owned(),
            )));
        }
        if !input.starts_with(hprof::MAGIC)? {
            if options.dump.is_some() {
                return Err(input.error(Problem::Whole("--dump is for a JVM's heap dumps, and this is none")));
            }
            return Snapshot::of(&mut input, options);
        }
        drop(input);
        let rewind = |mut file: &File| file.rewind().map_err(|error| Error::cannot_open(name, error));
        rewind(file)?;
        let gathered = hprof::first_pass(file, name, options)?;
        let at = gathered.at();
        rewind(file)?;
        let mut snapshot = hprof::second_pass(file, name, options, gathered)?;
        if options.interpret {
            rewind(file)?;
            hprof::third_pass(file, name, options, &at, &mut snapshot)?;
        }
        snapshot
            .complete()
            .map_err(|problem| Error::new(name, false, 0, problem))?;
        Ok(snapshot)
    }

    /// Reads a snapshot, plain or gzip, from any reader. Errors name the file `name`.
    ///
    /// # Errors
    /// As [`Snapshot::open`].
    pub fn read(reader: impl Read, name: &str, options: Options) -> Result<Self, Error> {
        Snapshot::of(&mut Input::new(Box::new(reader), name, options.limit, None)?, options)
    }

    fn of(input: &mut Input<'_>, options: Options) -> Result<Self, Error> {
        Reader {
            snapshot: Snapshot::default(),
            options,
            header: None,
            nodes: false,
            edges: false,
            strings: false,
            cut: None,
            extra: Extra::default(),
        }
        .run(input)
    }
}

/// The parts read so far.
struct Reader {
    snapshot: Snapshot,
    options: Options,
    header: Option<Header>,
    nodes: bool,
    edges: bool,
    strings: bool,
    /// The place where the file is cut off, after its nodes and edges.
    cut: Option<u64>,
    extra: Extra,
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
        match self.entries(input) {
            // The strings come last.
            Err(error) if self.strings && matches!(error.problem(), Problem::Truncated(_)) => {
                self.cut = Some(error.offset());
            }
            read => read?,
        }
        self.finish(input)
    }

    fn entries(&mut self, input: &mut Input<'_>) -> Result<(), Error> {
        if !input.accept(b'}')? {
            loop {
                self.entry(input)?;
                if !input.accept(b',')? {
                    break;
                }
            }
            input.expect(b'}', "a comma or the end of the snapshot")?;
        }
        if input.next()? == Some(0) {
            let fault = format!("the bytes from {} on are not part of the snapshot", input.offset());
            self.snapshot.warnings.push(fault);
            return Ok(());
        }
        input.end()
    }

    /// Warns of numbers that were ignored.
    fn warn(&mut self, odd: Odd) {
        if let Some((count, first)) = odd {
            self.snapshot.warnings.push(format!(
                "byte {first}: a number that is not a whole one was ignored, {count} in all of its kind: no figure needs it"
            ));
        }
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
            "locations" if self.options.interpret => false,
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
            (key, Some(mut header)) => {
                let read = match key {
                    "nodes" => self.read_nodes(input, &mut header),
                    "edges" => self.read_edges(input, &mut header),
                    "locations" => self.read_locations(input, &header),
                    _ => self.read_strings(input),
                };
                self.header = Some(header);
                read?;
            }
        }
        Ok(())
    }

    fn read_nodes(&mut self, input: &mut Input<'_>, header: &mut Header) -> Result<(), Error> {
        self.nodes = true;
        let (snapshot, fields, keep) = (&mut self.snapshot, &header.node, self.options);
        let detached = &mut self.extra.detached;
        let room = input.room(header.node_count, fields.width);
        reserve(&mut snapshot.node_types, room)
            .and_then(|()| reserve(&mut snapshot.self_sizes, room))
            .and_then(|()| reserve(&mut snapshot.first_edge, room + 1))
            .and_then(|()| reserve(&mut snapshot.node_ids, if keep.ids { room } else { 0 }))
            .and_then(|()| reserve(&mut snapshot.node_names, if keep.names { room } else { 0 }))
            .map_err(|problem| input.error(problem))?;
        snapshot.first_edge.push(0);
        let (mut count, mut edges, mut bytes, mut last) = (0_u64, 0_u64, 0_u64, 0);
        let needed = [fields.kind, fields.name, fields.id, fields.self_size, fields.edge_count];
        let odd = records(input, fields.width, &needed, |row| {
            check_count("nodes", header.node_count, count + 1)?;
            let kind = type_of("a node's type", row[fields.kind])?;
            last = kind.max(last);
            push(&mut snapshot.node_types, kind)?;
            let size = row[fields.self_size];
            bytes = bytes.checked_add(size).ok_or(Problem::Sizes { size })?;
            push(&mut snapshot.self_sizes, size)?;
            edges = edges.saturating_add(row[fields.edge_count]);
            check_count("edges (by the nodes' edge counts)", header.edge_count, edges)?;
            push(&mut snapshot.first_edge, edges as u32)?;
            if keep.ids {
                push(&mut snapshot.node_ids, row[fields.id])?;
            }
            if keep.names {
                push(&mut snapshot.node_names, narrow("a node's name", row[fields.name])?)?;
            }
            if keep.interpret && fields.detachedness.is_some_and(|field| row[field] == DETACHED) {
                push(detached, count as u32)?;
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
        short("edges (by the nodes' edge counts)", header.edge_count, edges)?;
        declare(&mut header.node_types, last);
        self.warn(odd);
        Ok(())
    }

    fn read_edges(&mut self, input: &mut Input<'_>, header: &mut Header) -> Result<(), Error> {
        self.edges = true;
        let (snapshot, fields, keep) = (&mut self.snapshot, &header.edge, self.options);
        let room = input.room(header.edge_count, fields.width);
        reserve(&mut snapshot.edge_types, room)
            .and_then(|()| reserve(&mut snapshot.targets, room))
            .and_then(|()| reserve(&mut snapshot.edge_names, if keep.names { room } else { 0 }))
            .map_err(|problem| input.error(problem))?;
        let step = header.node.width as u64;
        let (mut count, mut last) = (0_u64, 0);
        let indexed = indexed(&header.edge_types);
        let odd = records(input, fields.width, &[fields.kind, fields.to_node], |row| {
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
            push(&mut snapshot.targets, (to / step) as u32)?;
            let kind = type_of("an edge's type", row[fields.kind])?;
            last = kind.max(last);
            push(&mut snapshot.edge_types, kind)?;
            if keep.names {
                let name = match narrow("an edge's name", row[fields.name_or_index]) {
                    Err(_) if is_indexed(&indexed, kind) => NO_INDEX,
                    name => name?,
                };
                push(&mut snapshot.edge_names, name)?;
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
        declare(&mut header.edge_types, last);
        // Edges may become weak even if none is yet.
        let kinds = 0..header.edge_types.len();
        snapshot.indexed_types = kinds.map(|kind| indexed.get(kind).copied().unwrap_or(true)).collect();
        self.warn(odd);
        Ok(())
    }

    /// Keeps the locations of nodes, and ignores invalid ones.
    fn read_locations(&mut self, input: &mut Input<'_>, header: &Header) -> Result<(), Error> {
        let Some(fields) = &header.location else {
            return input.value(|_| {});
        };
        let step = header.node.width as u64;
        let odd = records(input, fields.width, &[], |row| {
            let node = row[fields.object_index] / step;
            let (line, column) = (row[fields.line], row[fields.column]);
            match u32::try_from(node) {
                Ok(node) => push(&mut self.extra.locations, Location { node, line, column }),
                Err(_) => Ok(()),
            }
        })?;
        self.warn(odd);
        Ok(())
    }

    fn read_strings(&mut self, input: &mut Input<'_>) -> Result<(), Error> {
        self.strings = true;
        if !self.options.strings {
            return input.value(|_| {});
        }
        let strings = &mut self.snapshot.strings;
        input.array(|input| {
            let (mut kept, start) = (Ok(()), strings.text().len());
            let read = input.string(&mut |piece| {
                if kept.is_ok() {
                    kept = extend(strings.text(), piece);
                }
            });
            read.inspect_err(|_| strings.text().truncate(start))?;
            kept.and_then(|()| strings.finish())
                .map_err(|problem| input.error(problem))
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
            .and_then(|place| u8::try_from(place).ok());
        snapshot.node_type_names = header.node_types;
        snapshot.edge_type_names = header.edge_types;
        let word = self.cut.map_or("(no name)", |_| "(cut off)");
        let missing = match self.options.strings && self.options.names {
            true => fill_names(&mut snapshot, word).map_err(|problem| input.error(problem))?,
            false => 0,
        };
        let fault = match (self.cut, missing) {
            (None, 0) => None,
            (None, _) => Some(format!(
                "names beyond the strings of the file: {missing}, shown as `{word}`"
            )),
            (Some(cut), 0) => Some(format!(
                "the file is cut off at byte {cut}, but all that figures need comes before"
            )),
            (Some(cut), _) => Some(format!(
                "the file is cut off at byte {cut}: {missing} names are missing, and shown as `{word}`"
            )),
        };
        snapshot.warnings.extend(fault);
        if self.options.interpret {
            interpret(&mut snapshot, &self.extra).map_err(|problem| input.error(problem))?;
        }
        snapshot.complete().map_err(|problem| input.error(problem))?;
        Ok(snapshot)
    }
}

/// By declared edge type: whether `name_or_index` is a plain number.
fn indexed(types: &[String]) -> Vec<bool> {
    types.iter().map(|name| name == "element" || name == "hidden").collect()
}

/// Whether edges of a type have an index. For an undeclared type, assume so: every number can be an
/// index.
fn is_indexed(indexed: &[bool], kind: u8) -> bool {
    indexed.get(usize::from(kind)).copied().unwrap_or(true)
}

fn read_header(input: &mut Input<'_>) -> Result<Header, Error> {
    input.next()?;
    let (start, mut text) = (input.offset(), Vec::new());
    // A text that is too long is cut, so that parsing fails with an early end.
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
