//! Sizes of objects in the JVM's memory, and the places of references among an object's fields.
//!
//! **The rule** for sizes, which a dump does not record, is HotSpot's. An object is its header and
//! its fields (of all its classes), an array its header, a length of 4 bytes and its elements, both
//! rounded up to the alignment. A class is an object of `java.lang.Class` that has its static
//! fields too. The JVM's options decide the size of a header and of a reference: a dump does not
//! record them, but its ids are addresses, so the distances between objects tell. Of all layouts
//! ([`candidates`]) in which no two objects overlap, it is the one in which most objects end where
//! the next one begins.
//!
//! If the ids are not addresses (the agent of JDK 6 numbers objects), the usual options are
//! assumed: with ids of 8 bytes, a mark word of 8 and a compressed class pointer of 4, and
//! references of 4 bytes if every id lies below 32 GiB, so that they can be compressed, else 8;
//! with ids of 4 bytes a header of 8 bytes, and references of 4.

use hashbrown::HashMap;

use crate::hprof::cursor::Basic;
use crate::hprof::record::Body;

/// Below this address, references fit in 32 bits, in units of 8 bytes.
const COMPRESSIBLE: u64 = 32 << 30;

/// The sizes that all objects of a dump share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    id_bytes: u32,
    header: u64,
    reference: u64,
    alignment: u64,
    /// Bytes before the first element of an array.
    array: u64,
}

impl Sizes {
    /// The layout with the usual options.
    fn usual(id_bytes: u32, highest_id: u64) -> Self {
        let small = id_bytes == 4 || highest_id < COMPRESSIBLE;
        let header = if id_bytes == 4 { 8 } else { 12 };
        Sizes {
            id_bytes,
            header,
            reference: if small { 4 } else { 8 },
            alignment: 8,
            array: header + 4,
        }
    }

    /// The bytes of a value in memory.
    pub(super) fn of(self, basic: Basic) -> u64 {
        match basic {
            Basic::Object => self.reference,
            _ => u64::from(basic.bytes(self.id_bytes)),
        }
    }

    /// The bytes of an object whose fields are this many references, and values of this many bytes.
    pub(super) fn object(self, references: u64, values: u64) -> u64 {
        (self.header + references * self.reference + values).next_multiple_of(self.alignment)
    }

    /// The bytes of an array of `count` elements.
    pub(super) fn array(self, of: Basic, count: u32) -> u64 {
        (self.array + self.of(of) * u64::from(count)).next_multiple_of(self.alignment)
    }

    /// The number of these objects, by ascending address, that end where the next one begins; `None`
    /// if two overlap.
    fn exact(self, sample: &[(u64, Option<Shape>)]) -> Option<usize> {
        let mut exact = 0;
        for pair in sample.windows(2) {
            let ((start, shape), (next, _)) = (pair[0], pair[1]);
            let size = match shape {
                None => continue,
                Some(Shape::Object { references, values }) => self.object(references, values),
                Some(Shape::Array(of, count)) => self.array(of, count),
            };
            match start.saturating_add(size).cmp(&next) {
                std::cmp::Ordering::Greater => return None,
                std::cmp::Ordering::Equal => exact += 1,
                std::cmp::Ordering::Less => {}
            }
        }
        Some(exact)
    }

    /// Of arrays of references: the bytes before the first slot, and those of a slot.
    pub(super) fn slots(self) -> (u64, u64) {
        (self.array, self.reference)
    }

    /// The layout in words.
    pub(super) fn words(self) -> String {
        format!(
            "headers of {} bytes, references of {}, objects at multiples of {}",
            self.header, self.reference, self.alignment
        )
    }
}

/// The contents of an object that determine its size.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Object { references: u64, values: u64 },
    Array(Basic, u32),
}

/// HotSpot's layouts with ids of 8 bytes: headers of 8 bytes are compact (JDK 24), those of 12
/// usual, and those of 16 without compressed class pointers. Before JDK 23 the elements of an array
/// began at a multiple of 8 there. `-XX:ObjectAlignmentInBytes` is a power of two from 8 to 256.
fn candidates() -> impl Iterator<Item = Sizes> {
    let headers = [(12, 16), (16, 24), (16, 20), (8, 12)];
    headers.into_iter().flat_map(|(header, array)| {
        (0..12).map(move |number| Sizes {
            id_bytes: 8,
            header,
            reference: [4, 8][number % 2],
            alignment: 8 << (number / 2),
            array,
        })
    })
}

/// The layout of a dump whose ids have `id_bytes` bytes, and whether the distances between the
/// objects of `sample` determine it. `index` and `layouts` are those of classes.
pub(super) fn infer(
    id_bytes: u32,
    highest_id: u64,
    sample: &[(u64, Option<Body>)],
    index: &HashMap<u64, usize>,
    layouts: &[Layout],
) -> (Sizes, bool) {
    let usual = Sizes::usual(id_bytes, highest_id);
    let shape = |body: &Option<Body>| match *body {
        Some(Body::Instance { class, .. }) => index.get(&class).map(|&class| Shape::Object {
            references: layouts[class].references,
            values: layouts[class].values,
        }),
        Some(Body::Objects { count, .. }) => Some(Shape::Array(Basic::Object, count)),
        Some(Body::Values { of, count, .. }) => Some(Shape::Array(of, count)),
        None => None,
    };
    let mut sample: Vec<_> = sample.iter().map(|(id, body)| (*id, shape(body))).collect();
    sample.sort_unstable_by_key(|(id, _)| *id);
    let by_usual = usual.exact(&sample);
    let others = candidates().filter(|_| id_bytes == 8);
    let others = others.filter_map(|sizes| Some((sizes.exact(&sample)?, sizes)));
    // Of several, the first that no other exceeds.
    let usual = by_usual.map(|exact| (exact, usual)).into_iter();
    let best = usual
        .chain(others)
        .reduce(|best, next| if next.0 > best.0 { next } else { best });
    match best {
        Some((exact, sizes)) if exact >= ENOUGH || by_usual.is_none() && exact > 0 => (sizes, true),
        _ => (Sizes::usual(id_bytes, highest_id), false),
    }
}

/// Fewer adjacent objects may be a coincidence, unless the usual layout would make objects overlap.
const ENOUGH: usize = 16;

/// The layout that all objects of a class share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Layout {
    /// The bytes of the fields in the dump.
    pub(super) dumped: u64,
    /// The number of fields that are references.
    pub(super) references: u64,
    /// The bytes of the other fields.
    pub(super) values: u64,
    /// Whether a superclass is missing from the dump, so that objects have further fields.
    pub(super) partial: bool,
    /// The nearest class that declares fields to be read: this one, or a superclass.
    pub(super) nearest: Option<usize>,
    /// For `java.lang.ref` references: the type of the edge to the referent, which need not keep it
    /// alive.
    pub(super) referent: Option<u8>,
}
