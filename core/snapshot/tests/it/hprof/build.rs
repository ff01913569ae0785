//! Builds heap dumps record by record.

use gclab_snapshot::{Error, Options, Snapshot};

pub(super) const OBJECT: u8 = 2;
pub(super) const BYTE: u8 = 8;
pub(super) const INT: u8 = 10;
pub(super) const LONG: u8 = 11;

/// A dump, or the contents of a heap dump segment.
#[derive(Clone)]
pub(super) struct Dump {
    pub bytes: Vec<u8>,
    pub id_bytes: usize,
}

/// A class. Names are string ids.
#[derive(Clone, Default)]
pub(super) struct Class<'c> {
    pub id: u64,
    pub superclass: u64,
    pub loader: u64,
    pub statics: &'c [(u64, u8, u64)],
    pub fields: &'c [(u64, u8)],
}

impl Dump {
    pub(super) fn new(id_bytes: usize) -> Self {
        let mut dump = Dump {
            bytes: b"JAVA PROFILE 1.0.2\0".to_vec(),
            id_bytes,
        };
        dump.u4(id_bytes as u32).u4(0).u4(0);
        dump
    }

    /// An empty segment.
    pub(super) fn segment(id_bytes: usize) -> Self {
        Dump {
            bytes: Vec::new(),
            id_bytes,
        }
    }

    pub(super) fn u1(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    pub(super) fn u2(&mut self, value: u16) -> &mut Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    pub(super) fn u4(&mut self, value: u32) -> &mut Self {
        self.bytes.extend(value.to_be_bytes());
        self
    }

    pub(super) fn id(&mut self, id: u64) -> &mut Self {
        let bytes = id.to_be_bytes();
        self.bytes.extend(&bytes[8 - self.id_bytes..]);
        self
    }

    pub(super) fn record(&mut self, tag: u8, body: &[u8]) -> &mut Self {
        self.u1(tag).u4(0).u4(body.len() as u32);
        self.bytes.extend(body);
        self
    }

    /// A string and, if it names a class, that class's id.
    pub(super) fn name(&mut self, id: u64, text: &str, class: Option<u64>) -> &mut Self {
        let mut body = Dump::segment(self.id_bytes);
        body.id(id).bytes.extend(text.as_bytes());
        self.record(0x01, &body.bytes);
        if let Some(class) = class {
            let mut body = Dump::segment(self.id_bytes);
            body.u4(1).id(class).u4(0).id(id);
            self.record(0x02, &body.bytes);
        }
        self
    }

    /// A value of a basic type.
    fn value(&mut self, basic: u8, value: u64) -> &mut Self {
        match basic {
            OBJECT => self.id(value),
            BYTE => self.u1(value as u8),
            INT => self.u4(value as u32),
            LONG => self.u4((value >> 32) as u32).u4(value as u32),
            _ => panic!("no such type"),
        }
    }

    pub(super) fn class(&mut self, class: &Class<'_>) -> &mut Self {
        self.u1(0x20)
            .id(class.id)
            .u4(0)
            .id(class.superclass)
            .id(class.loader)
            .id(0)
            .id(0)
            .id(0)
            .id(0)
            .u4(0);
        // One constant, to be skipped.
        self.u2(1).u2(3).u1(INT).u4(77);
        self.u2(class.statics.len() as u16);
        for &(name, basic, value) in class.statics {
            self.id(name).u1(basic).value(basic, value);
        }
        self.u2(class.fields.len() as u16);
        for &(name, basic) in class.fields {
            self.id(name).u1(basic);
        }
        self
    }

    pub(super) fn instance(&mut self, id: u64, class: u64, values: &[(u8, u64)]) -> &mut Self {
        let mut body = Dump::segment(self.id_bytes);
        values.iter().for_each(|&(basic, value)| {
            let _ = body.value(basic, value).bytes.len();
        });
        self.u1(0x21).id(id).u4(0).id(class).u4(body.bytes.len() as u32);
        self.bytes.extend(&body.bytes);
        self
    }

    pub(super) fn objects(&mut self, id: u64, class: u64, elements: &[u64]) -> &mut Self {
        self.u1(0x22).id(id).u4(0).u4(elements.len() as u32).id(class);
        elements.iter().for_each(|&element| {
            let _ = self.id(element).bytes.len();
        });
        self
    }

    pub(super) fn values(&mut self, id: u64, basic: u8, count: u32) -> &mut Self {
        self.u1(0x23).id(id).u4(0).u4(count).u1(basic);
        (0..count).for_each(|value| {
            let _ = self.value(basic, u64::from(value)).bytes.len();
        });
        self
    }

    /// Ends the dump with a segment and the end of the heap dump.
    pub(super) fn finish(&mut self, segment: &Dump) -> &mut Self {
        self.record(0x1c, &segment.bytes).record(0x2c, &[])
    }

    pub(super) fn read(&self) -> Result<Snapshot, Error> {
        read(&self.bytes)
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Snapshot, Error> {
    Snapshot::read_hprof([bytes, bytes], "small.hprof", Options::all())
}

/// Ids of the example's strings, classes and objects.
pub(super) const NEXT: u64 = 0x101;
pub(super) const CLASS_OBJECT: u64 = 0x1000;
pub(super) const CLASS_NODE: u64 = 0x1100;
pub(super) const CLASS_ARRAY: u64 = 0x1200;
pub(super) const CLASS_REFERENCE: u64 = 0x1300;
pub(super) const CLASS_WEAK: u64 = 0x1400;
pub(super) const NODE: u64 = 0x2000;
pub(super) const OTHER: u64 = 0x2100;
pub(super) const ARRAY: u64 = 0x2200;
pub(super) const BYTES: u64 = 0x2300;
pub(super) const WEAK: u64 = 0x2400;
pub(super) const LONGS: u64 = 0x2500;

/// The example's strings, and the contents of its segment.
pub(super) fn parts(id_bytes: usize) -> (Dump, Dump) {
    let mut dump = Dump::new(id_bytes);
    dump.name(1, "java/lang/Object", Some(CLASS_OBJECT))
        .name(2, "a/Node", Some(CLASS_NODE))
        .name(3, "[La/Node;", Some(CLASS_ARRAY))
        .name(4, "java/lang/ref/Reference", Some(CLASS_REFERENCE))
        .name(5, "java/lang/ref/WeakReference", Some(CLASS_WEAK))
        .name(NEXT, "next", None)
        .name(0x102, "referent", None)
        .name(0x103, "count", None)
        .name(0x104, "all\"\\", None)
        // Some other record, to be skipped.
        .record(0x06, &[0; 20]);
    let mut segment = Dump::segment(id_bytes);
    // Objects before their classes.
    segment.instance(
        NODE,
        CLASS_NODE,
        &[(OBJECT, OTHER), (LONG, 1 << 40), (BYTE, 1), (OBJECT, ARRAY)],
    );
    segment.class(&Class {
        id: CLASS_OBJECT,
        ..Class::default()
    });
    let fields = [(NEXT, OBJECT), (0x103, LONG), (0x103, BYTE), (0x102, OBJECT)];
    let statics = [(0x103, INT, 5), (0x104, OBJECT, ARRAY)];
    segment.class(&Class {
        id: CLASS_NODE,
        superclass: CLASS_OBJECT,
        loader: BYTES,
        statics: &statics,
        fields: &fields,
    });
    segment.class(&Class {
        id: CLASS_ARRAY,
        superclass: CLASS_OBJECT,
        ..Class::default()
    });
    segment.class(&Class {
        id: CLASS_WEAK,
        superclass: CLASS_REFERENCE,
        fields: &[(NEXT, OBJECT)],
        ..Class::default()
    });
    segment.class(&Class {
        id: CLASS_REFERENCE,
        superclass: CLASS_OBJECT,
        fields: &[(0x103, INT), (0x102, OBJECT)],
        ..Class::default()
    });
    segment.instance(
        OTHER,
        CLASS_NODE,
        &[(OBJECT, 0), (LONG, 0), (BYTE, 0), (OBJECT, 0xdead)],
    );
    segment.objects(ARRAY, CLASS_ARRAY, &[NODE, 0, OTHER]);
    segment.values(BYTES, BYTE, 5);
    segment.values(LONGS, LONG, 2);
    segment.instance(WEAK, CLASS_WEAK, &[(OBJECT, LONGS), (INT, 3), (OBJECT, NODE)]);
    // One root of each kind.
    segment.u1(0xff).id(BYTES);
    segment.u1(0x01).id(NODE).id(0x77);
    segment.u1(0x02).id(NODE).u4(1).u4(2);
    segment.u1(0x03).id(WEAK).u4(1).u4(2);
    segment.u1(0x04).id(NODE).u4(1);
    segment.u1(0x05).id(CLASS_NODE);
    segment.u1(0x06).id(NODE).u4(1);
    segment.u1(0x07).id(OTHER);
    segment.u1(0x08).id(NODE).u4(9).u4(2);
    (dump, segment)
}

pub(super) fn example(id_bytes: usize) -> Dump {
    let (mut dump, segment) = parts(id_bytes);
    dump.finish(&segment);
    dump
}
