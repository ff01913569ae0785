//! `--format folded` and `--format pprof`: the merged dominator tree as stacks, outermost holder
//! first, for programs that draw them: `flamegraph.pl`, speedscope, `pprof`.

use std::collections::HashMap;

use gclab_heap_traverse::analysis::Merged;

/// The fields of pprof's messages (`profile.proto`).
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRINGS: u64 = 6;

/// The most frames of a stack. A chain of more classes would need space in its square.
const DEEPEST: usize = 256;

/// Calls `each` with every place that has its own bytes: the places from the outermost to it, its
/// objects, and its own bytes; at [`DEEPEST`] with those of all below.
fn stacks(merged: &Merged, mut each: impl FnMut(&[u32], u64, u64)) {
    let mut open = vec![(0, 0)];
    let mut stack: Vec<u32> = Vec::new();
    while let Some((place, level)) = open.pop() {
        let below = merged.below(place);
        if place != 0 {
            stack.truncate(level - 1);
            stack.push(place);
        }
        let own = merged.place(place);
        if level == DEEPEST {
            each(&stack, own.count, own.bytes);
            continue;
        }
        let held: u64 = below.iter().map(|&at| merged.place(at).bytes).sum();
        if own.bytes > held && place != 0 {
            each(&stack, own.count, own.bytes - held);
        }
        open.extend(below.iter().rev().map(|&at| (at, level + 1)));
    }
}

/// The way to a place and its class.
fn frame(merged: &Merged, place: u32) -> String {
    format!("{} {}", merged.way(place), merged.class(place))
        .trim()
        .to_owned()
}

/// One line a stack: frames with semicolons between, and bytes.
pub(super) fn folded(merged: &Merged) -> String {
    let mut text = String::new();
    let clean = |letter: char| {
        if letter == ';' || letter.is_control() {
            ' '
        } else {
            letter
        }
    };
    stacks(merged, |stack, _, bytes| {
        let frames = stack
            .iter()
            .map(|&place| frame(merged, place).chars().map(clean).collect::<String>());
        text += &format!("{} {bytes}\n", frames.collect::<Vec<_>>().join(";"));
    });
    text
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn numbers(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Message::default();
        values.into_iter().for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }
}

/// A profile of pprof with the objects and the bytes of each stack.
pub(super) fn pprof(merged: &Merged) -> Vec<u8> {
    let mut strings = vec![String::new()];
    let mut profile = Message::default();
    for pair in [["inuse_objects", "count"], ["inuse_space", "bytes"]] {
        let mut kind = Message::default();
        for (field, text) in (1..).zip(pair) {
            kind.number(field, strings.len() as u64);
            strings.push(text.to_owned());
        }
        profile.bytes(SAMPLE_TYPE, &kind.0);
    }
    // A frame is a function, with one location, of the same number.
    let mut functions: HashMap<String, u64> = HashMap::new();
    let mut frames = Message::default();
    stacks(merged, |stack, objects, bytes| {
        let mut sample = Message::default();
        sample.numbers(
            1,
            stack.iter().rev().map(|&place| {
                let name = frame(merged, place);
                if let Some(&known) = functions.get(&name) {
                    return known;
                }
                let id = functions.len() as u64 + 1;
                let (mut function, mut location, mut line) =
                    (Message::default(), Message::default(), Message::default());
                function.number(1, id);
                function.number(2, strings.len() as u64);
                frames.bytes(FUNCTION, &function.0);
                line.number(1, id);
                location.number(1, id);
                location.bytes(4, &line.0);
                frames.bytes(LOCATION, &location.0);
                strings.push(name.clone());
                functions.insert(name, id);
                id
            }),
        );
        sample.numbers(2, [objects, bytes]);
        profile.bytes(SAMPLE, &sample.0);
    });
    profile.0.append(&mut frames.0);
    for text in &strings {
        profile.bytes(STRINGS, text.as_bytes());
    }
    profile.0
}
