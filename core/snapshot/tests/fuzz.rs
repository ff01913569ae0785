//! Hostile files: random changes to those in `tests/corpus`, and files with a single kind of
//! record. Each must give a snapshot, or one message with its position, in bounded memory.
//!
//! `GCLAB_FUZZ_SECONDS=3600` continues that long for each reader, and `GCLAB_FUZZ_KEEP=FOLDER`
//! keeps the inputs that end in a new way. There is no coverage to guide the search, so those stand
//! in for it: an input that ends in a new way is changed further.

use gclab_snapshot::{Options, Snapshot};
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes in use, and their peak since the measurement started. Only one thread allocates.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn count(more: usize) {
    PEAK.fetch_max(LIVE.fetch_add(more, Relaxed) + more, Relaxed);
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The system remaps pages rather than copying them.
        count(size.saturating_sub(layout.size()));
        LIVE.fetch_sub(layout.size().saturating_sub(size), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A reader may use this multiple of the unpacked file, plus a constant.
const MULTIPLE: usize = 10;
const BESIDES: usize = 1 << 20;
/// How long an input may be, packed and unpacked.
const LONGEST: usize = 1 << 16;
const UNPACKED: u64 = 1 << 22;
/// How long an input may take, in the best of three attempts: the machine may be busy.
const SLOW: Duration = Duration::from_secs(2);
/// Inputs in a run without a time limit.
const ROUNDS: u64 = 1000;

/// The first bytes of a core file, and of its program.
const ELF: &[u8] = b"\x7fELF";

/// Reads an input in every way. Returns how it ended, without numbers. A core file comes with its
/// program after it.
fn read(reader: &str, bytes: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("gclab-fuzz-{reader}-{}", std::process::id()));
    fs::write(&path, bytes).unwrap();
    let options = Options {
        interpret: true,
        limit: UNPACKED,
        ..Options::all()
    };
    let open = || match reader {
        "core" => {
            let program = bytes.windows(ELF.len()).rposition(|start| start == ELF).unwrap_or(0);
            let (core, program) = bytes.split_at(program);
            Snapshot::read_core(core, program, &path.display().to_string(), options)
        }
        _ => Snapshot::open(&path, options),
    };
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Instant::now();
    let read = open();
    let (peak, took) = (PEAK.load(Relaxed) - before, start.elapsed());
    let is_slow = |_| {
        let start = Instant::now();
        let _ = open();
        start.elapsed() > SLOW
    };
    let (end, message) = match &read {
        Ok(snapshot) => {
            for node in snapshot.nodes() {
                let _ = (node.name(), node.type_name(), node.label(), node.self_size());
                for edge in node.edges() {
                    let _ = (edge.name_text(), edge.type_name(), edge.target().id());
                }
            }
            (snapshot.bytes(), snapshot.warnings().join(" "))
        }
        Err(error) => {
            let text = error.to_string();
            assert_eq!(text.lines().count(), 1, "{text}");
            (error.offset(), text.replace(&path.display().to_string(), ""))
        }
    };
    // At least as much was unpacked as was read.
    let size = bytes.len().max(end as usize + LONGEST);
    assert!(end <= UNPACKED.max(bytes.len() as u64), "byte {end} of {}", bytes.len());
    assert!(peak <= MULTIPLE * size + BESIDES, "{peak} bytes for {size}");
    assert!(
        took < SLOW || !(0..2).all(is_slow),
        "{took:?} for {} bytes",
        bytes.len()
    );
    let letters = message.chars().filter(|letter| !letter.is_ascii_digit());
    letters.take(60).collect()
}

/// Random numbers (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }
}

/// Numbers that readers tend to get wrong.
const EDGES: [u64; 9] = [
    0,
    1,
    0x7f,
    0xff,
    0xffff,
    0x7fff_ffff,
    0xffff_fffe,
    0xffff_ffff,
    u64::MAX,
];

/// Changes an input in one place.
fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len());
    let edge = EDGES[random.below(EDGES.len())];
    let length = 1 + random.below(16.min(bytes.len() - at));
    let some = |random: &mut Random, from: &[u8]| {
        let at = random.below(from.len());
        let length = random.below(64.min(from.len() - at + 1));
        from[at..at + length].to_vec()
    };
    match random.below(9) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + length)),
        4 => drop(bytes.splice(at..at, some(random, other))),
        5 => {
            let own = some(random, bytes);
            bytes.splice(at..at, own);
        }
        6 => {
            let width = [2, 4, 8][random.below(3)];
            let end = bytes.len().min(at + width);
            bytes[at..end].copy_from_slice(&edge.to_be_bytes()[8 - (end - at)..]);
        }
        // A decimal number.
        7 => {
            let start = bytes[at..]
                .iter()
                .position(u8::is_ascii_digit)
                .map_or(at, |digit| at + digit);
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            bytes.splice(start..start + digits, edge.to_string().into_bytes());
        }
        _ => {
            let last = bytes.len() - 1;
            bytes.swap(at, last.min(at + length));
        }
    }
}

fn fuzz(reader: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(reader);
    let mut corpus: Vec<Vec<u8>> = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut ends = HashSet::new();
    for file in files {
        let mut bytes = fs::read(file).unwrap();
        if reader == "core" {
            let packed = std::mem::take(&mut bytes);
            flate2::read::GzDecoder::new(&packed[..])
                .read_to_end(&mut bytes)
                .unwrap();
        }
        ends.insert(read(reader, &bytes));
        corpus.push(bytes);
    }
    let seconds = std::env::var("GCLAB_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let keep = std::env::var_os("GCLAB_FUZZ_KEEP");
    let (start, seconds) = (Instant::now(), seconds.map(Duration::from_secs));
    let first = match seconds {
        Some(_) => std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64),
        None => 0,
    };
    let mut round = 0;
    while seconds.map_or(round < ROUNDS, |seconds| start.elapsed() < seconds) {
        round += 1;
        let mut random = Random(first.wrapping_add(round << 20));
        let mut bytes = corpus[random.below(corpus.len())].clone();
        let other = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(6) {
            if !bytes.is_empty() {
                change(&mut bytes, &other, &mut random);
            }
        }
        bytes.truncate(LONGEST);
        let end = catch_unwind(AssertUnwindSafe(|| read(reader, &bytes)));
        let is_new = end.as_ref().map_or(true, |end| !ends.contains(end));
        if is_new {
            let name = format!("{reader}-{}-{round}", ends.len());
            if let Some(keep) = &keep {
                fs::write(Path::new(keep).join(&name), &bytes).unwrap();
            }
            let end = end.unwrap_or_else(|_| panic!("{name}: {}", bytes.escape_ascii()));
            ends.insert(end);
            corpus.push(bytes);
        }
    }
    eprintln!("{reader}: {round} inputs, which ended in {} ways", ends.len());
}

/// `file` makes a file with that many records, so that the records dominate.
fn bounded(kind: &str, file: impl Fn(u32) -> Vec<u8>) {
    let bytes = file(40_000);
    let path = std::env::temp_dir().join(format!("gclab-fuzz-{}", std::process::id()));
    fs::write(&path, &bytes).unwrap();
    let options = Options {
        interpret: true,
        ..Options::all()
    };
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let read = Snapshot::open(&path, options);
    let peak = PEAK.load(Relaxed) - before;
    eprintln!(
        "{kind}: {:.1} times the file",
        (peak as f64 - 300e3) / bytes.len() as f64
    );
    assert!(read.is_ok(), "{kind}: {read:?}");
    assert!(
        peak <= MULTIPLE * bytes.len() + BESIDES,
        "{kind}: {peak} bytes for {}",
        bytes.len()
    );
}

/// A dump with these records, and these entries in its heap dump.
fn dump(records: &[u8], entries: &[u8]) -> Vec<u8> {
    let mut bytes = b"JAVA PROFILE 1.0.2\0\0\0\0\x04\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(records);
    bytes.extend([0x1c, 0, 0, 0, 0]);
    bytes.extend((entries.len() as u32).to_be_bytes());
    bytes.extend(entries);
    bytes.extend([0x2c, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn record(tag: u8, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    [&[tag, 0, 0, 0, 0], &(body.len() as u32).to_be_bytes()[..], &body].concat()
}

fn records_of_each_kind() {
    let all = |count: u32, record: &dyn Fn([u8; 4]) -> Vec<u8>| -> Vec<u8> {
        (1..=count).flat_map(|number| record(number.to_be_bytes())).collect()
    };
    let none = [0_u8; 4];
    let names = |id: [u8; 4]| record(1, &[&id]);
    let loaded = |id: [u8; 4]| record(2, &[&id, &id, &none, &id]);
    let frames = |id: [u8; 4]| record(4, &[&id, &none, &none, &none, &none, &none]);
    let stacks = |id: [u8; 4]| record(5, &[&id, &none, &none]);
    for (kind, of) in [
        ("names", &names as &dyn Fn([u8; 4]) -> Vec<u8>),
        ("loaded classes", &loaded),
        ("frames", &frames),
        ("stacks", &stacks),
    ] {
        bounded(kind, |count| dump(&all(count, of), &[]));
    }
    let array = |id: [u8; 4]| [&[0x23], &id[..], &none, &none, &[8]].concat();
    let roots = |_: [u8; 4]| [5, 0, 0, 0, 1].to_vec();
    let locals = |id: [u8; 4]| [&[3, 0, 0, 0, 1], &none[..], &id].concat();
    let classes = |id: [u8; 4]| [&[0x20], &id[..], &[0; 4 * 8], &[0; 6]].concat();
    for (kind, of) in [
        ("arrays", &array as &dyn Fn([u8; 4]) -> Vec<u8>),
        ("roots", &roots),
        ("classes", &classes),
    ] {
        let first = if kind == "roots" {
            array([0, 0, 0, 1])
        } else {
            Vec::new()
        };
        bounded(kind, |count| dump(&[], &[&first[..], &all(count, of)].concat()));
    }
    let thread = [&array([0, 0, 0, 1])[..], &[8, 0, 0, 0, 1], &none, &none].concat();
    bounded("locals", |count| {
        dump(&[], &[&thread[..], &all(count, &locals)].concat())
    });
    let slots = |count: u32| [&[0x22, 0, 0, 0, 1], &none[..], &count.to_be_bytes(), &none].concat();
    bounded("elements", |count| {
        dump(&[], &[slots(count), [0, 0, 0, 1].repeat(count as usize)].concat())
    });
    let v8 = |nodes: u32, first: u32, edges: u32, strings: &str| {
        let meta = r#""meta":{"node_fields":["type","name","id","self_size","edge_count"],"node_types":[["object"],"","","",""],
            "edge_fields":["type","name_or_index","to_node"],"edge_types":[["element"],"",""]}"#;
        format!(
            "{{\"snapshot\":{{{meta},\"node_count\":{nodes},\"edge_count\":{edges}}},\"nodes\":[0,0,0,0,{first}{}],\"edges\":[{}],\"strings\":[{strings}\"\"]}}",
            ",0,0,0,0,0".repeat(nodes as usize - 1),
            vec!["0,0,0"; edges as usize].join(","),
        )
        .into_bytes()
    };
    bounded("nodes", |count| v8(count, 0, 0, ""));
    bounded("edges", |count| v8(1, count, count, ""));
    bounded("strings", |count| v8(1, 0, 0, &"\"\",".repeat(count as usize)));
    // A file does not get memory just by claiming to be large.
    let lie = String::from_utf8(v8(1, 0, 0, "")).unwrap().replace(
        "\"node_count\":1,\"edge_count\":0",
        "\"node_count\":67000000,\"edge_count\":67000000",
    );
    read("v8", lie.as_bytes());
}

/// One test, because memory is counted for the whole process.
#[test]
fn any_file_ends_in_a_snapshot_or_one_message_in_bounded_memory() {
    records_of_each_kind();
    fuzz("hprof");
    fuzz("v8");
    fuzz("core");
}
