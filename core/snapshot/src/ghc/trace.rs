//! Traces from the roots of a GHC program to all reachable closures, as columns of a snapshot.

use hashbrown::{HashMap, HashSet};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::blocks::Heap;
use super::closures::{
    AP, BLACKHOLE, BLOCKING_QUEUE, Closures, FUN, FUN_0_2, IND, IND_STATIC, Info, PAP, THUNK, THUNK_SELECTOR, TSO,
    TYPES, WEAK, WHITEHOLE, Way,
};
use super::image::Image;
use super::names::{constructor, readable};
use crate::error::Problem;
use crate::memory::{insert, push};
use crate::snapshot::{NO_INDEX, Snapshot};

/// Kinds of roots. Their nodes come after the root.
const ROOTS: [&str; 5] = [
    "(Threads)",
    "(CAFs)",
    "(Stable pointers)",
    "(Weak pointers)",
    "(Registers)",
];
const THREADS: usize = 0;
const CAFS: usize = 1;
const STABLE: usize = 2;
const WEAKS: usize = 3;
const REGISTERS: usize = 4;

/// Types of nodes, by their numbers. The names of objects are those of their closure types.
const NODE_TYPES: [&str; 6] = ["synthetic", "constructor", "function", "thunk", "CAF", "object"];
const CONSTRUCTOR: u8 = 1;
const FUNCTION: u8 = 2;
const LAZY: u8 = 3;
const CAF: u8 = 4;
const OBJECT: u8 = 5;

/// Types of edges, by their numbers.
const EDGE_TYPES: [&str; 4] = ["element", "field", "frame", "weak"];
const ELEMENT: u8 = 0;
const FIELD: u8 = 1;
const FRAME: u8 = 2;
const WEAK_EDGE: u8 = 3;

/// Offsets in a capability, a generation, a thread and a weak pointer.
const CURRENT_TSO: u64 = 896;
const CAPABILITY_WEAKS: u64 = 1160;
const GENERATION_THREADS: u64 = 104;
const GENERATION_WEAKS: u64 = 112;
const NEXT_THREAD: u64 = 16;
const STATE: u64 = 32;
const THREAD_ID: u64 = 48;
const NEXT_WEAK: u64 = 40;

/// The first state of a thread that has ended (`Constants.h`).
const KILLED: u64 = 3;
/// The words at the start of a stack that no frame uses (`RESERVED_STACK_WORDS`).
const RESERVED: u64 = 21;
/// Limit on words of arguments above the first frame.
const ARGUMENTS: u64 = 64;
/// The words of the system's stack searched for GHC's stack pointer.
const SYSTEM_STACK: u64 = 1 << 16;

/// Limit on indirections in a row, and on closures.
const CHAIN: usize = 1 << 20;
const MOST: usize = u32::MAX as usize - 1;

pub(super) fn trace(image: &Image<'_>) -> Result<Snapshot, Problem> {
    let mut tracer = Tracer::new(image)?;
    tracer.roots()?;
    tracer.run()?;
    tracer.finish()
}

struct Tracer<'i, 'd> {
    image: &'i Image<'d>,
    closures: Closures<'i, 'd>,
    heap: Heap,
    /// Addresses of nodes, other than those for the kinds of roots, and their names, sizes ...
    nodes: Vec<u64>,
    node_types: Vec<u8>,
    node_names: Vec<u32>,
    sizes: Vec<u64>,
    labels: Vec<(u32, u32)>,
    known: HashTable<u32>,
    first_edge: Vec<u32>,
    edge_types: Vec<u8>,
    edge_names: Vec<u32>,
    targets: Vec<u32>,
    /// By kind of roots: the nodes.
    roots: [Vec<u32>; ROOTS.len()],
    /// Closures outside the heap: all that were seen, and those still to be read.
    statics: HashSet<u64>,
    open: Vec<u64>,
    /// By key: what weak pointers keep for it, with the name of the reference.
    weak: HashMap<u64, Vec<(&'static str, u64)>>,
    strings: Snapshot,
    texts: HashMap<&'static str, u32>,
    /// By code: the name of its closures.
    names: HashMap<u64, u32>,
    running: bool,
}

fn hash(address: u64) -> u64 {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

impl<'i, 'd> Tracer<'i, 'd> {
    fn new(image: &'i Image<'d>) -> Result<Self, Problem> {
        let mut strings = Snapshot::default();
        strings.strings.push("")?;
        Ok(Tracer {
            image,
            closures: Closures::new(image)?,
            heap: Heap::of(image)?,
            nodes: Vec::new(),
            node_types: Vec::new(),
            node_names: Vec::new(),
            sizes: Vec::new(),
            labels: Vec::new(),
            known: HashTable::new(),
            first_edge: Vec::new(),
            edge_types: Vec::new(),
            edge_names: Vec::new(),
            targets: Vec::new(),
            roots: Default::default(),
            statics: HashSet::new(),
            open: Vec::new(),
            weak: HashMap::new(),
            strings,
            texts: HashMap::new(),
            names: HashMap::new(),
            running: false,
        })
    }

    /// Finds the roots as a collection does (`GC.c`, `Capability.c`).
    fn roots(&mut self) -> Result<(), Problem> {
        let image = self.image;
        let (mut threads, mut weaks) = (Vec::new(), Vec::new());
        for generation in image.generations()? {
            self.list(generation + GENERATION_THREADS, NEXT_THREAD, TSO, &mut threads)?;
            self.list(generation + GENERATION_WEAKS, NEXT_WEAK, WEAK, &mut weaks)?;
        }
        let mut current = Vec::new();
        for capability in image.capabilities()? {
            self.list(capability + CAPABILITY_WEAKS, NEXT_WEAK, WEAK, &mut weaks)?;
            current.push(image.word(capability + CURRENT_TSO)?);
        }
        for &weak in &weaks {
            let word = |index: u64| image.word(weak + 8 * index);
            let key = word(2)? & !7;
            let keeper = if self.heap.contains(key) { key } else { weak };
            let kept = self.weak.entry(keeper).or_default();
            push(kept, ("weak value", word(3)?))?;
            push(kept, ("finalizer", word(4)?))?;
            push(self.weak.entry(weak).or_default(), ("C finalizers", word(1)?))?;
        }
        for thread in current {
            self.running_thread(thread)?;
        }
        for thread in threads {
            if image.word(thread + STATE)? & 0xffff < KILLED {
                self.root(THREADS, thread)?;
            }
        }
        for pointer in image.stable_pointers()? {
            self.root(STABLE, pointer)?;
        }
        for weak in weaks {
            self.root(WEAKS, weak)?;
        }
        Ok(())
    }

    /// Adds closures of one type, each of which has the address of the next.
    fn list(&self, head: u64, next: u64, kind: u8, found: &mut Vec<u64>) -> Result<(), Problem> {
        let mut at = self.image.word(head)? & !7;
        while self.heap.contains(at) {
            if Info::of(self.image, at)?.kind != kind || found.len() > MOST {
                return Err(Problem::Core(format!("no {} at {at:#x}", TYPES[usize::from(kind)])));
            }
            push(found, at)?;
            at = self.image.word(at + next)? & !7;
        }
        Ok(())
    }

    /// Finds the stack pointer of a thread that was running, and what its registers hold.
    fn running_thread(&mut self, thread: u64) -> Result<(), Problem> {
        let image = self.image;
        if !self.heap.contains(thread) || !Info::of(image, thread).is_ok_and(|info| info.kind == TSO) {
            return Ok(());
        }
        let stack = image.word(thread + 24)?;
        let start = stack + 24;
        let end = start + 8 * u64::from(image.half(stack + 8)?);
        let limit = start + 8 * RESERVED;
        let is_inside = |sp: &u64| (start..end).contains(sp) && *sp != limit && sp.is_multiple_of(8);
        // A frame follows the arguments of the running function.
        let frame = |sp: u64| {
            let mut words = (0..ARGUMENTS).map(|word| sp + 8 * word).take_while(|&at| at < end);
            words.find(|&at| Info::of(image, at).is_ok_and(|info| info.is_frame() && image.is_code(info.code)))
        };
        for registers in &image.threads {
            let saved = (0..SYSTEM_STACK).map_while(|word| image.word(registers.stack().wrapping_add(8 * word)).ok());
            let pointers = std::iter::once(registers.haskell_stack()).chain(saved);
            let Some(sp) = pointers.filter(is_inside).find_map(frame) else {
                continue;
            };
            insert(&mut self.closures.running, stack, sp)?;
            if is_inside(&registers.haskell_stack()) && image.is_code(registers.instruction()) {
                self.running = true;
                for &register in registers.all() {
                    let address = register & !7;
                    let info = Info::of(image, address);
                    let is_closure = info.is_ok_and(|info| image.is_code(info.code) && !info.is_frame());
                    if self.heap.contains(address) && is_closure {
                        self.root(REGISTERS, address)?;
                    }
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn root(&mut self, kind: usize, pointer: u64) -> Result<(), Problem> {
        match self.target(pointer)? {
            Some(target) if kind != CAFS => push(&mut self.roots[kind], target),
            _ => Ok(()),
        }
    }

    /// Reads all reachable closures.
    fn run(&mut self) -> Result<(), Problem> {
        let mut pointers = Vec::new();
        loop {
            while let Some(address) = self.open.pop() {
                let info = Info::of(self.image, address)?;
                self.closures
                    .static_pointers(address, &info, &mut |_, pointer| push(&mut pointers, pointer))?;
                for pointer in pointers.drain(..) {
                    self.target(pointer)?;
                }
            }
            let next = self.first_edge.len();
            let Some(&address) = self.nodes.get(next) else {
                return Ok(());
            };
            push(&mut self.first_edge, self.targets.len() as u32)?;
            self.node(next as u32, address)?;
        }
    }

    /// Reads the next node.
    fn node(&mut self, node: u32, address: u64) -> Result<(), Problem> {
        let info = Info::of(self.image, address)?;
        let mut found = Vec::new();
        let size = if info.kind == IND_STATIC {
            let mut add = |way, pointer| push(&mut found, (way, pointer));
            self.closures.static_pointers(address, &info, &mut add)?;
            0
        } else {
            self.closures
                .pointers(address, &info, &mut |way, pointer| push(&mut found, (way, pointer)))?
        };
        if let Some(kept) = self.weak.remove(&address) {
            for (way, pointer) in kept {
                push(&mut found, (Way::Field(way), pointer))?;
            }
        }
        self.heap.live(self.image, address, size)?;
        push(&mut self.sizes, size)?;
        let (kind, name) = self.class(address, &info)?;
        push(&mut self.node_types, kind)?;
        push(&mut self.node_names, name)?;
        if info.kind == TSO {
            let id = self.image.half(address + THREAD_ID)?;
            let text = self.strings.strings.push(&format!("thread {id}"))?;
            push(&mut self.labels, (node, text))?;
        }
        for (way, pointer) in found {
            let Some(target) = self.target(pointer)? else { continue };
            let (kind, name) = match way {
                _ if target == node => continue,
                Way::Index(index) => (ELEMENT, u32::try_from(index).unwrap_or(NO_INDEX)),
                Way::Field(name) => (FIELD, self.string(name)?),
                Way::Static => (FIELD, self.string("SRT")?),
                Way::Frame(code) => (FRAME, self.name_of_code(code)?),
            };
            push(&mut self.edge_types, kind)?;
            push(&mut self.edge_names, name)?;
            push(&mut self.targets, target)?;
        }
        if self.targets.len() > MOST {
            return Err(Problem::Core(format!("more than {MOST} references")));
        }
        Ok(())
    }

    /// The node that a pointer leads to, past indirections; none for a closure outside the heap
    /// that is not a CAF.
    fn target(&mut self, pointer: u64) -> Result<Option<u32>, Problem> {
        let mut address = pointer & !7;
        for _ in 0..CHAIN {
            if let Some(&node) = self
                .known
                .find(hash(address), |&node| self.nodes[node as usize] == address)
            {
                return Ok(Some(node));
            }
            if !self.heap.contains(address) {
                return self.outside(address);
            }
            if let Some(compact) = self
                .heap
                .compact(self.image, address)?
                .filter(|&compact| compact != address)
            {
                address = compact;
                continue;
            }
            let info = Info::of(self.image, address)?;
            let next = self.image.word(address + 8)?;
            let is_done = match info.kind {
                IND => false,
                // A thunk under evaluation refers to its thread.
                BLACKHOLE if next & 7 == 0 => {
                    let behind = Info::of(self.image, next)?.kind;
                    [TSO, BLOCKING_QUEUE, WHITEHOLE].contains(&behind)
                }
                BLACKHOLE => false,
                _ => true,
            };
            if is_done {
                return self.add(address).map(Some);
            }
            address = next & !7;
        }
        Err(Problem::Core(format!("indirections without end at {pointer:#x}")))
    }

    fn outside(&mut self, address: u64) -> Result<Option<u32>, Problem> {
        if address == 0 || self.statics.contains(&address) {
            return Ok(None);
        }
        let info = Info::of(self.image, address)?;
        if info.kind == IND_STATIC {
            let node = self.add(address)?;
            push(&mut self.roots[CAFS], node)?;
            return Ok(Some(node));
        }
        self.statics.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
        self.statics.insert(address);
        push(&mut self.open, address)?;
        Ok(None)
    }

    fn add(&mut self, address: u64) -> Result<u32, Problem> {
        let node = self.nodes.len() as u32;
        if self.nodes.len() >= MOST {
            return Err(Problem::Core(format!("more than {MOST} closures")));
        }
        push(&mut self.nodes, address)?;
        let nodes = &self.nodes;
        let hash_of = |&node: &u32| hash(nodes[node as usize]);
        self.known.try_reserve(1, hash_of).map_err(|_| Problem::OutOfMemory)?;
        if let Entry::Vacant(free) = self.known.entry(hash(address), |_| false, hash_of) {
            free.insert(node);
        }
        Ok(node)
    }

    fn string(&mut self, text: &'static str) -> Result<u32, Problem> {
        if let Some(&known) = self.texts.get(text) {
            return Ok(known);
        }
        let string = self.strings.strings.push(text)?;
        insert(&mut self.texts, text, string)?;
        Ok(string)
    }

    /// The type and the name of a closure: that of its constructor or its code.
    fn class(&mut self, address: u64, info: &Info) -> Result<(u8, u32), Problem> {
        let class = match info.kind {
            // Each CAF has its own name.
            IND_STATIC => {
                let text = match self.image.haskell(address) {
                    Some((start, symbol)) if start == address => readable(symbol),
                    // For what a module does not export, only the module is known.
                    Some((_, symbol)) => {
                        let name = readable(symbol);
                        format!(
                            "{} at {address:#x}",
                            name.rsplit_once('.').map_or("", |(module, _)| module)
                        )
                    }
                    None => format!("at {address:#x}"),
                };
                (CAF, self.strings.strings.push(&text)?)
            }
            AP | PAP => {
                let (kind, fun) = if info.kind == AP { (LAZY, 24) } else { (FUNCTION, 16) };
                let function = self.image.word(address + fun)?;
                let code = self.image.word(function & !7)?;
                (kind, self.name_of_code(code)?)
            }
            FUN..=FUN_0_2 => (FUNCTION, self.name_of_code(info.code)?),
            THUNK..=THUNK_SELECTOR => (LAZY, self.name_of_code(info.code)?),
            _ if info.is_constructor() => {
                let name = match (self.names.get(&info.code), info.constructor(self.image)) {
                    (Some(&known), _) => known,
                    (None, None) => self.name_of_code(info.code)?,
                    (None, Some(description)) => {
                        let name = self.strings.strings.push(constructor(description))?;
                        insert(&mut self.names, info.code, name)?;
                        name
                    }
                };
                (CONSTRUCTOR, name)
            }
            kind => (OBJECT, self.string(TYPES[usize::from(kind)])?),
        };
        Ok(class)
    }

    fn name_of_code(&mut self, code: u64) -> Result<u32, Problem> {
        if let Some(&known) = self.names.get(&code) {
            return Ok(known);
        }
        let text = match self.image.haskell(code) {
            Some((start, symbol)) if start == code => readable(symbol),
            Some((_, symbol)) => format!("{} at {code:#x}", readable(symbol)),
            None => format!("code at {code:#x}"),
        };
        let string = self.strings.strings.push(&text)?;
        insert(&mut self.names, code, string)?;
        Ok(string)
    }

    /// The columns, with the roots before the closures.
    fn finish(mut self) -> Result<Snapshot, Problem> {
        let head = ROOTS.len() as u32 + 1;
        let mut snapshot = self.strings;
        snapshot.node_type_names = NODE_TYPES.map(str::to_owned).into();
        snapshot.edge_type_names = EDGE_TYPES.map(str::to_owned).into();
        snapshot.weak_type = Some(WEAK_EDGE);
        snapshot.indexed_types = EDGE_TYPES.iter().map(|&name| name == "element").collect();
        let mut rows: Vec<Vec<u32>> = vec![(1..head).collect()];
        for row in &self.roots {
            rows.push(row.iter().map(|node| node + head).collect());
        }
        for (node, row) in (0_u32..).zip(&rows) {
            push(&mut snapshot.first_edge, snapshot.targets.len() as u32)?;
            let name = node.checked_sub(1).map_or("", |kind| ROOTS[kind as usize]);
            let name = snapshot.strings.push(name)?;
            push(&mut snapshot.node_names, name)?;
            push(&mut snapshot.node_types, 0)?;
            push(&mut snapshot.node_ids, u64::from(node) + 1)?;
            push(&mut snapshot.self_sizes, 0)?;
            for (index, &target) in (0_u32..).zip(row) {
                push(&mut snapshot.edge_types, ELEMENT)?;
                push(&mut snapshot.edge_names, index)?;
                push(&mut snapshot.targets, target)?;
            }
        }
        let before = snapshot.targets.len() as u32;
        snapshot.node_ids.append(&mut self.nodes);
        snapshot.node_types.append(&mut self.node_types);
        snapshot.node_names.append(&mut self.node_names);
        snapshot.self_sizes.append(&mut self.sizes);
        snapshot
            .first_edge
            .extend(self.first_edge.iter().map(|edge| edge + before));
        snapshot.edge_types.append(&mut self.edge_types);
        snapshot.edge_names.append(&mut self.edge_names);
        snapshot.targets.extend(self.targets.iter().map(|target| target + head));
        push(&mut snapshot.first_edge, snapshot.targets.len() as u32)?;
        snapshot.labels = self.labels.iter().map(|&(node, text)| (node + head, text)).collect();
        snapshot.blocks = self.heap.finish(self.image)?;
        if self.running {
            snapshot.warnings.push(
                "Haskell code was running when this core was written, so what it had in registers was guessed"
                    .to_owned(),
            );
        }
        snapshot.strings.shrink();
        snapshot.complete()?;
        Ok(snapshot)
    }
}
