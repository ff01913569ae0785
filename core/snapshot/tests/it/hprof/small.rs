//! Small dumps are read as the expected snapshots.

use super::build::{
    ARRAY, BYTES, CLASS_NODE, CLASS_WEAK, Class, Dump, INT, LONGS, NODE, OBJECT, OTHER, WEAK, example, parts, read,
};
use crate::build::{Drip, gzip};
use gclab_snapshot::{Node, Options, Snapshot};

fn node(snapshot: &Snapshot, id: u64) -> Node<'_> {
    snapshot
        .nodes()
        .find(|node| node.id() == Some(id))
        .expect("it is in the dump")
}

/// Type, name and size of a node.
fn shown(snapshot: &Snapshot, id: u64) -> (String, String, u64) {
    let node = node(snapshot, id);
    (node.type_name().to_owned(), node.name().into_owned(), node.self_size())
}

/// Type, name and target of each edge.
fn edges(snapshot: &Snapshot, id: u64) -> Vec<(String, String, u64)> {
    let edge = |edge: gclab_snapshot::Edge<'_>| {
        (
            edge.type_name().to_owned(),
            edge.name_text().into_owned(),
            edge.target().id().unwrap(),
        )
    };
    node(snapshot, id).edges().map(edge).collect()
}

fn owned(edges: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
    edges
        .iter()
        .map(|&(kind, name, target)| (kind.to_owned(), name.to_owned(), target))
        .collect()
}

#[test]
fn objects_have_their_fields_elements_and_classes() {
    for id_bytes in [4, 8] {
        let snapshot = example(id_bytes).read().unwrap();
        assert_eq!(
            edges(&snapshot, NODE),
            owned(&[
                ("internal", "<class>", CLASS_NODE),
                ("field", "next", OTHER),
                ("field", "referent", ARRAY)
            ])
        );
        // Null references, and those to objects outside the dump, have no edge.
        assert_eq!(edges(&snapshot, OTHER), owned(&[("internal", "<class>", CLASS_NODE)]));
        assert_eq!(
            edges(&snapshot, ARRAY),
            owned(&[
                ("internal", "<class>", 0x1200),
                ("element", "0", NODE),
                ("element", "2", OTHER)
            ])
        );
        assert_eq!(
            edges(&snapshot, CLASS_NODE),
            owned(&[
                ("internal", "<superclass>", 0x1000),
                ("internal", "<loader>", BYTES),
                ("static", "all\"\\", ARRAY)
            ])
        );
        // The referent is weak only in subclasses of WeakReference, and only if Reference declares
        // it.
        assert_eq!(
            edges(&snapshot, WEAK),
            owned(&[
                ("internal", "<class>", CLASS_WEAK),
                ("field", "next", LONGS),
                ("weak", "referent", NODE)
            ])
        );
        let weak = node(&snapshot, WEAK).edges().filter(|edge| !edge.is_strong()).count();
        assert_eq!(weak, 1);
        assert_eq!(edges(&snapshot, BYTES), []);
    }
}

#[test]
fn sizes_follow_the_rule() {
    let size = |id_bytes, id| shown(&example(id_bytes).read().unwrap(), id);
    let named = |kind: &str, name: &str, size: u64| (kind.to_owned(), name.to_owned(), size);
    // 12 + two references of 4 + 8 + 1; with 4-byte ids 8 + 8 + 8 + 1.
    assert_eq!(size(8, NODE), named("object", "a.Node", 32));
    assert_eq!(size(4, NODE), named("object", "a.Node", 32));
    assert_eq!(size(8, WEAK), named("object", "java.lang.ref.WeakReference", 24));
    assert_eq!(size(4, WEAK), named("object", "java.lang.ref.WeakReference", 24));
    assert_eq!(size(8, ARRAY), named("object array", "a.Node[]", 32));
    assert_eq!(size(4, ARRAY), named("object array", "a.Node[]", 24));
    assert_eq!(size(8, BYTES), named("primitive array", "byte[]", 24));
    assert_eq!(size(8, LONGS), named("primitive array", "long[]", 32));
    // There is no java.lang.Class in this dump: a header, an int and a reference.
    assert_eq!(size(8, CLASS_NODE), named("class", "a.Node", 24));
}

#[test]
fn references_are_wide_if_an_address_is_high() {
    let (mut dump, mut segment) = parts(8);
    segment.values(32 << 30, super::build::BYTE, 1);
    let snapshot = dump.finish(&segment).read().unwrap();
    assert_eq!((shown(&snapshot, ARRAY).2, shown(&snapshot, WEAK).2), (40, 32));
}

#[test]
fn every_kind_of_root_has_its_node() {
    let snapshot = example(8).read().unwrap();
    let kinds: Vec<_> = snapshot.node(0).edges().map(|edge| edge.target()).collect();
    let held = |kind: &Node<'_>| kind.edges().map(|edge| edge.target().id().unwrap()).collect::<Vec<_>>();
    let found: Vec<_> = kinds
        .iter()
        .map(|kind| (kind.name().into_owned(), held(kind)))
        .collect();
    let expected = [
        ("(Unknown roots)", BYTES),
        ("(JNI globals)", NODE),
        ("(JNI locals)", NODE),
        ("(Java frames)", WEAK),
        ("(Native stacks)", NODE),
        ("(System classes)", CLASS_NODE),
        ("(Thread blocks)", NODE),
        ("(Monitors in use)", OTHER),
        ("(Threads)", NODE),
    ];
    assert_eq!(found, expected.map(|(name, id)| (name.to_owned(), vec![id])));
    assert!(
        kinds
            .iter()
            .all(|kind| kind.type_name() == "synthetic" && kind.self_size() == 0)
    );
}

#[test]
fn a_class_without_a_name_is_known_by_its_id() {
    let mut dump = Dump::new(8);
    let mut segment = Dump::segment(8);
    segment
        .class(&Class {
            id: 0x500,
            fields: &[(9, OBJECT)],
            ..Class::default()
        })
        .instance(0x600, 0x500, &[(OBJECT, 0x600)]);
    let snapshot = dump.finish(&segment).read().unwrap();
    assert_eq!(shown(&snapshot, 0x600).1, "class 0x500");
    assert_eq!(edges(&snapshot, 0x600)[1].2, 0x600);
}

#[test]
fn files_are_told_apart_by_how_they_begin() {
    let bytes = example(8).bytes;
    for (name, bytes) in [("plain.hprof", &bytes), ("small.hprof.gz", &gzip(&bytes))] {
        let path = std::env::temp_dir().join(format!("gclab-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        let snapshot = Snapshot::open(&path, Options::all());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(snapshot.unwrap().node_type_names()[1], "class", "{name}");
    }
}

#[test]
fn a_dump_in_one_piece_compressed_or_drop_by_drop_is_the_same() {
    let (mut old, segment) = parts(8);
    old.record(0x0c, &segment.bytes).record(0x2c, &[]);
    let bytes = example(8).bytes;
    let expected = format!("{:?}", read(&bytes).unwrap());
    assert_eq!(format!("{:?}", old.read().unwrap()), expected);
    assert_eq!(format!("{:?}", read(&gzip(&bytes)).unwrap()), expected);
    let drops = Snapshot::read_hprof([Drip(&bytes), Drip(&bytes)], "drops", Options::all()).unwrap();
    assert_eq!(format!("{drops:?}"), expected);
}

/// Objects are adjacent, so their distances reveal JVM options that the dump does not record.
#[test]
fn sizes_follow_from_the_distances_between_objects() {
    const CLASS: u64 = 0x10;
    const CLASS_OF_ARRAY: u64 = 0x20;
    let lengths = [0_u32, 1, 2, 3, 5, 8, 13, 21];
    // Header, reference, alignment, start of elements; the bytes of an object and of all arrays.
    for (layout, object, arrays) in [
        ([12, 4, 8, 16], 24, 360_u64),
        ([16, 8, 8, 24], 32, 616),
        ([16, 4, 8, 20], 24, 384),
        ([12, 4, 16, 16], 32, 400),
        ([12, 4, 32, 16], 32, 480),
        ([16, 8, 256, 24], 256, 2048),
        ([8, 4, 8, 12], 16, 320),
    ] {
        let [_, reference, alignment, start] = layout;
        let (mut dump, mut segment) = (Dump::new(8), Dump::segment(8));
        for id in [CLASS, CLASS_OF_ARRAY] {
            segment.class(&Class {
                id,
                fields: if id == CLASS { &[(1, OBJECT), (2, INT)] } else { &[] },
                ..Class::default()
            });
        }
        let mut next = 0x10_0000_u64;
        for _ in 0..100 {
            segment.instance(next, CLASS, &[(OBJECT, 0), (INT, 7)]);
            next += object;
        }
        for length in lengths {
            segment.u1(0x22).id(next).u4(0).u4(length).id(CLASS_OF_ARRAY);
            for _ in 0..length {
                segment.id(0);
            }
            next += (start + reference * u64::from(length)).next_multiple_of(alignment);
        }
        let snapshot = dump.finish(&segment).read().unwrap();
        let sum = |kind: &str| -> u64 {
            let nodes = snapshot.nodes().filter(|node| node.type_name() == kind);
            nodes.map(Node::self_size).sum()
        };
        assert_eq!(
            (sum("object"), sum("object array")),
            (100 * object, arrays),
            "{layout:?}"
        );
        assert!(
            snapshot
                .layout()
                .is_some_and(|words| words.ends_with("by the distances between objects"))
        );
    }
}

/// Objects in a thread's frames used to hang from a root without a name.
#[test]
fn a_thread_holds_what_its_frames_have() {
    let mut dump = Dump::new(8);
    dump.name(1, "java/lang/Thread", Some(0x100)).name(2, "put", None);
    dump.name(3, "Cache.java", None).name(4, "app/Cache", Some(0x200));
    let mut frame = Dump::segment(8);
    frame.id(0x51).id(2).id(2).id(3).u4(1).u4(12);
    // The frame's class has number 1, like all classes.
    let mut stack = Dump::segment(8);
    stack.u4(7).u4(5).u4(2).id(0x99).id(0x51);
    dump.record(0x04, &frame.bytes).record(0x05, &stack.bytes);
    let mut segment = Dump::segment(8);
    for (id, bytes) in [(0x300, 1), (0x400, 2), (0x500, 3)] {
        segment.values(id, super::build::BYTE, bytes);
    }
    segment.class(&Class {
        id: 0x100,
        ..Class::default()
    });
    segment.instance(0x600, 0x100, &[]);
    // Thread 5, two objects in its frames, and one in a frame of a thread that is not in the dump.
    segment.u1(0x03).id(0x300).u4(5).u4(1);
    segment.u1(0x02).id(0x400).u4(5).u4(u32::MAX);
    segment.u1(0x03).id(0x500).u4(6).u4(0);
    segment.u1(0x08).id(0x600).u4(5).u4(7);
    let snapshot = dump.finish(&segment).read().unwrap();
    assert_eq!(
        edges(&snapshot, 0x600),
        owned(&[
            ("internal", "<class>", 0x100),
            ("internal", "<local>", 0x400),
            ("internal", "<local of Cache.put (Cache.java:12)>", 0x300),
        ])
    );
    let frames = snapshot.nodes().find(|node| node.name() == "(Java frames)").unwrap();
    let left: Vec<_> = frames.edges().map(|edge| edge.target().id().unwrap()).collect();
    assert_eq!(left, [0x500]);
}

/// `cleaner` and `capacity` are 8 bytes with the header of 12 and the buffer's `fd`, 24 in all.
#[test]
fn a_direct_buffer_has_its_bytes_outside_of_the_heap() {
    let names = [
        "java/nio/Buffer",
        "java/nio/MappedByteBuffer",
        "java/nio/DirectByteBuffer",
        "capacity",
        "fd",
        "cleaner",
    ];
    let mut dump = Dump::new(8);
    for (id, name) in (1..).zip(names) {
        dump.name(id, name, (id <= 3).then_some(0x100 * id));
    }
    let class = |id, superclass, fields| Class {
        id,
        superclass,
        fields,
        ..Class::default()
    };
    let mut segment = Dump::segment(8);
    segment
        .class(&class(0x100, 0, &[(4, INT)]))
        .class(&class(0x200, 0x100, &[(5, OBJECT)]))
        .class(&class(0x300, 0x200, &[(6, OBJECT)]))
        .values(0x400, super::build::BYTE, 1);
    let buffers = [
        (0x500, 0x300, 0x400, 0),
        (0x600, 0x300, 0, 0),
        (0x700, 0x300, 0x400, 0x400),
    ];
    for (id, class, cleaner, file) in buffers {
        segment.instance(id, class, &[(OBJECT, cleaner), (OBJECT, file), (INT, 1000)]);
    }
    segment.instance(0x800, 0x200, &[(OBJECT, 0), (INT, 1000)]);
    let snapshot = dump.finish(&segment).read().unwrap();
    let sizes = [0x500, 0x600, 0x700, 0x800].map(|id| shown(&snapshot, id).2);
    assert_eq!(sizes, [1024, 24, 24, 24], "its own, a view, a file's, in the heap");
    let fields = edges(&snapshot, 0x700);
    assert_eq!(
        fields[1..],
        owned(&[("field", "cleaner", 0x400), ("field", "fd", 0x400)])
    );
}
