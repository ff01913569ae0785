//! Core files of a program with a few closures, made here. `.ci/ghc-core` reads real ones.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use gclab_snapshot::{Error, Options, Snapshot};
use proptest::prelude::*;

const PROGRAM: u64 = 0x40_0000;
const HEAP: u64 = 0x42_0000_0000;
/// The first block that does not hold descriptors, and the address of its descriptor.
const BLOCK: u64 = HEAP + 4 * 4096;
const DESCRIPTOR: u64 = HEAP + 4 * 64;
const AT_ENTRY: u64 = 9;

/// Words at an address, with names.
struct Memory {
    start: u64,
    words: Vec<u64>,
    symbols: Vec<(String, u64)>,
}

impl Memory {
    fn new(start: u64) -> Self {
        let (words, symbols) = (Vec::new(), Vec::new());
        Memory { start, words, symbols }
    }

    fn next(&self) -> u64 {
        self.start + 8 * self.words.len() as u64
    }

    fn add(&mut self, words: &[u64]) -> u64 {
        let at = self.next();
        self.words.extend(words);
        at
    }

    fn named(&mut self, name: &str, words: &[u64]) -> u64 {
        let at = self.add(words);
        self.symbols.push((name.to_owned(), at));
        at
    }

    fn set(&mut self, address: u64, word: u64) {
        let index = ((address - self.start) / 8) as usize;
        self.words.resize(self.words.len().max(index + 1), 0);
        self.words[index] = word;
    }

    /// A closure type's info table, followed by its code and preceded by `before`.
    fn info(&mut self, name: &str, kind: u64, layout: u64, before: u64, srt: u64) -> u64 {
        let code = self.next() + 24;
        let offset = |address: u64| address.wrapping_sub(code) & 0xffff_ffff;
        let before = if before == 0 { 0 } else { offset(before) };
        let srt = if srt == 0 { 0 } else { offset(srt) };
        self.add(&[before, layout, kind | srt << 32]);
        self.named(name, &[0])
    }

    fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

fn payload(pointers: u64, others: u64) -> u64 {
    pointers | others << 32
}

/// An ELF file with these segments, and with sections if it is a program.
fn elf(kind: u16, entry: u64, segments: &[(u32, u64, Vec<u8>)], sections: &[(&str, u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = vec![0; 64 + 56 * segments.len()];
    let place = |file: &mut Vec<u8>, data: &[u8]| {
        let at = file.len() as u64;
        file.extend(data);
        file.resize(file.len().next_multiple_of(8), 0);
        at
    };
    for (index, (kind, address, data)) in segments.iter().enumerate() {
        let at = place(&mut file, data);
        let header = 64 + 56 * index;
        file[header..header + 8].copy_from_slice(&(u64::from(*kind) | 5 << 32).to_le_bytes());
        let size = data.len() as u64;
        for (field, word) in [at, *address, 0, size, size, 4].into_iter().enumerate() {
            file[header + 8 + 8 * field..][..8].copy_from_slice(&word.to_le_bytes());
        }
    }
    let mut headers: Vec<[u64; 8]> = vec![[0; 8]];
    let mut names = vec![0];
    for (name, kind, link, data) in sections {
        let (at, size) = (place(&mut file, data), data.len() as u64);
        headers.push([
            names.len() as u64 | u64::from(*kind) << 32,
            0,
            0,
            at,
            size,
            u64::from(*link) | 1 << 32,
            1,
            24,
        ]);
        names.extend(name.bytes().chain([0]));
    }
    let at = place(&mut file, &names);
    headers.push([3 << 32, 0, 0, at, names.len() as u64, 0, 1, 0]);
    let table = file.len() as u64;
    file.extend(headers.iter().flatten().flat_map(|word| word.to_le_bytes()));
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    head.extend([kind, 62].iter().flat_map(|half| half.to_le_bytes()));
    head.extend(1_u32.to_le_bytes());
    head.extend([entry, 64, table].iter().flat_map(|word| word.to_le_bytes()));
    head.extend(0_u32.to_le_bytes());
    let (segments, sections) = (segments.len() as u16, headers.len() as u16);
    head.extend(
        [64, 56, segments, 64, sections, sections - 1]
            .iter()
            .flat_map(|half| half.to_le_bytes()),
    );
    file[..64].copy_from_slice(&head);
    file
}

/// A core file and its program. A thread's stack has a list of two, a thunk behind an indirection,
/// and a number; a CAF that only the frame's code refers to has an array of bytes. The list has
/// `more` nodes besides.
fn example(more: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut program, mut heap) = (Memory::new(PROGRAM), Memory::new(BLOCK));
    let text = program.add(&[u64::from_le_bytes(*b"main:M.N"), u64::from_le_bytes(*b"ode\0\0\0\0\0")]);
    let caf = program.next();
    program.symbols.push(("Main_zdtable_closure".to_owned(), caf));
    program.add(&[0; 4]);
    let table = program.info("stg_SRT_1_info", 1, payload(1, 0), 0, 0);
    let srt = program.named("Main_srt_closure", &[table, caf + 1]);
    let node = program.info("Main_Node_con_info", 4, payload(2, 1), text, 0);
    let nil = program.info("Main_Nil_con_info", 7, payload(0, 0), text, 0);
    let nil = program.named("Main_Nil_closure", &[nil]);
    let lazy = program.info("hidden", 16, payload(1, 0), 0, 0);
    program.symbols.pop();
    program.info("Main_zdwgo_info", 8, payload(0, 0), 0, 0);
    let indirection = program.info("stg_IND_info", 27, payload(1, 0), 0, 0);
    let bytes = program.info("stg_ARR_WORDS_info", 42, 0, 0, 0);
    let thread = program.info("stg_TSO_info", 52, 0, 0, 0);
    let stack = program.info("stg_STACK_info", 53, 0, 0, 0);
    let constant = program.info("stg_IND_STATIC_info", 28, 0, 0, 0);
    // A frame of three words, of which the last is not a pointer.
    let frame = program.info("Main_run_info", 30, 3 | 0b100 << 6, 0, srt);
    let end = program.info("stg_stop_thread_info", 36, 0, 0, 0);

    let last = heap.add(&[node, nil + 1, nil + 1, 7]);
    let thunk = heap.add(&[lazy, 0, last + 1]);
    let hidden = heap.add(&[indirection, thunk]);
    let first = heap.add(&[node, last + 1, hidden, 8]);
    let array = heap.add(&[bytes, 11, 0, 0]);
    let frames = heap.add(&[stack, 7, 0, 0, 0, frame, first + 1, hidden, 0xdead, end]) + 24;
    heap.set(frames - 8, frames + 16);
    let none = nil;
    let own = heap.add(&[
        thread,
        none,
        none,
        frames - 24,
        1,
        none,
        5,
        0,
        0,
        0,
        none,
        none,
        none,
        0,
        0,
    ]);
    // They come last, so that all else is where it is without them.
    let rest = (0..more).fold(last, |next, number| heap.add(&[node, next + 1, nil + 1, number]));
    heap.set(first + 8, rest + 1);
    for (index, word) in [constant, array, 0, 0].into_iter().enumerate() {
        program.set(caf + 8 * index as u64, word);
    }
    let generation = program.add(&[0; 16]);
    program.set(generation + 104, own);
    program.set(generation + 120, generation);
    program.named("generations", &[generation]);
    let capability = program.add(&[0; 200]);
    let list = program.add(&[capability]);
    program.named("capabilities", &[list]);
    program.named("n_capabilities", &[1]);
    program.named("SPT_size", &[0]);
    program.named("stable_ptr_table", &[0]);
    program.named("stg_arg_bitmaps", &[0; 29]);
    program.named("mblock_address_space", &[HEAP, HEAP + (1 << 20)]);

    let mut descriptors = Memory::new(HEAP);
    descriptors.set(HEAP + 256 * 64 - 8, 0);
    let used = heap.next();
    for (index, word) in [BLOCK, used, 0, 0, generation, 1 << 48, 1].into_iter().enumerate() {
        descriptors.set(DESCRIPTOR + 8 * index as u64, word);
    }
    let mut names = vec![0];
    let mut symbols = vec![0; 24];
    for (name, address) in &program.symbols {
        symbols.extend((names.len() as u32).to_le_bytes());
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend(address.to_le_bytes());
        symbols.extend(0_u64.to_le_bytes());
        names.extend(name.bytes().chain([0]));
    }
    let sections = [
        (".comment", 1, 0, b"GCC: 12\0GHC 9.0.2\0".to_vec()),
        (".symtab", 2, 3, symbols),
        (".strtab", 3, 0, names),
    ];
    let executable = elf(2, PROGRAM, &[(1, PROGRAM, program.bytes())], &sections);
    let mut note: Vec<u8> = [5_u32, 16, 6].iter().flat_map(|half| half.to_le_bytes()).collect();
    note.extend(b"CORE\0\0\0\0");
    note.extend([AT_ENTRY, PROGRAM].iter().flat_map(|word| word.to_le_bytes()));
    let mut memory = descriptors.bytes();
    memory.extend(heap.bytes());
    memory.resize(6 * 4096, 0);
    (elf(4, 0, &[(4, 0, note), (1, HEAP, memory)], &[]), executable)
}

fn read(core: &[u8], program: &[u8]) -> Result<Snapshot, Error> {
    Snapshot::read_core(core, program, "core", Options::all())
}

#[test]
fn closures_roots_and_names_are_those_of_the_program() {
    let (core, program) = example(0);
    let snapshot = read(&core, &program).unwrap();
    let mut found: HashMap<String, (u64, Vec<String>)> = HashMap::new();
    for node in snapshot.nodes().skip(1) {
        let edges = node
            .edges()
            .map(|edge| format!("{} {}", edge.name_text(), edge.target().name()));
        found.insert(
            format!("{} {}", node.type_name(), node.name()),
            (node.self_size(), edges.collect()),
        );
    }
    let has = |node: &str, size: u64, edges: &[&str]| {
        assert_eq!(
            found[node],
            (size, edges.iter().map(|&edge| edge.to_owned()).collect()),
            "{node}"
        );
    };
    has("synthetic (Threads)", 0, &["0 TSO"]);
    has("synthetic (CAFs)", 0, &["0 Main.$table"]);
    has("object TSO", 120, &["stack STACK"]);
    let lazy = found.keys().find_map(|name| name.strip_prefix("thunk ")).unwrap();
    assert!(
        lazy.starts_with("Main.$wgo at 0x4"),
        "code without a name belongs to the next: {lazy}"
    );
    has("object STACK", 80, &["Main.run M.Node", &format!("Main.run {lazy}")]);
    has("CAF Main.$table", 0, &["value ARR_WORDS"]);
    has("object ARR_WORDS", 32, &[]);
    has(&format!("thunk {lazy}"), 24, &["0 M.Node"]);
    let nodes = snapshot.nodes().filter(|node| node.name() == "M.Node");
    let edges: Vec<usize> = nodes.map(|node| node.edges().len()).collect();
    assert_eq!(edges, [2, 0], "a list of two, without the static end, and the thunk");
    let label = snapshot.nodes().find_map(|node| node.label());
    assert_eq!(label.as_deref(), Some("thread 5"));
    let (kind, usage) = &snapshot.blocks()[1];
    assert_eq!(kind, "generation 0");
    assert_eq!((usage.live, usage.dead), (320, 16), "an indirection is dead");
}

/// Other tests read these files: a core with its program behind it, packed.
/// `UPDATE_CORPUS=1` writes them.
#[test]
fn the_corpus_has_these_examples() {
    for (name, more) in [("short.gz", 0), ("long.gz", 100)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/corpus/core")
            .join(name);
        let (core, program) = example(more);
        let whole = [core, program].concat();
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            let mut packed = GzEncoder::new(fs::File::create(&path).unwrap(), Compression::best());
            packed.write_all(&whole).unwrap();
            packed.finish().unwrap();
        }
        let mut unpacked = Vec::new();
        GzDecoder::new(fs::File::open(&path).unwrap())
            .read_to_end(&mut unpacked)
            .unwrap();
        assert!(unpacked == whole, "{name} is not the example");
    }
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let (core, program) = example(0);
    let message = |core: &[u8], program: &[u8]| read(core, program).unwrap_err().to_string();
    assert!(message(&program, &program).contains("not a core file"));
    assert!(message(&core, &core).contains("was not compiled by GHC"));
    let other: Vec<u8> = String::from_utf8_lossy(&program).into_owned().into_bytes();
    assert!(message(&core, &other).contains("--exe"));
    let replaced = |from: &[u8], to: &[u8]| {
        let at = program.windows(from.len()).position(|bytes| bytes == from).unwrap();
        [&program[..at], to, &program[at + from.len()..]].concat()
    };
    assert!(message(&core, &replaced(b"GHC 9.0", b"GHC 9.8")).contains("GHC 9.8.2"));
    assert!(message(&core, &replaced(b"\0generations\0", b"\0generationX\0")).contains("were stripped"));
}

proptest! {
    /// Damage gives a message or other numbers, never a panic or an endless loop.
    #[test]
    fn damage_is_survived(in_core: bool, changes in prop::collection::vec((0_usize..1 << 16, any::<u8>()), 1..8), cut in 0_usize..1 << 16) {
        let (mut core, mut program) = example(0);
        let file = if in_core { &mut core } else { &mut program };
        for (place, byte) in changes {
            let place = place % file.len();
            file[place] = byte;
        }
        if cut < file.len() && cut % 4 == 0 {
            file.truncate(cut);
        }
        let _ = read(&core, &program);
    }
}
