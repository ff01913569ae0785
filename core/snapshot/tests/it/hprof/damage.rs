//! Damaged dumps give one message with position and problem, never a panic.

use super::build::{CLASS_NODE, CLASS_OBJECT, Class, Dump, INT, NODE, OBJECT, example, parts, read};
use gclab_snapshot::{Options, Snapshot};
use proptest::prelude::*;

#[track_caller]
fn message(dump: &Dump) -> String {
    dump.read().map(|_| ()).unwrap_err().to_string()
}

/// The message, without the file name, for the example with more in its segment.
#[track_caller]
fn with(more: impl Fn(&mut Dump)) -> String {
    let (mut dump, mut segment) = parts(8);
    // After the record's header.
    let at = dump.bytes.len() + 9 + segment.bytes.len();
    more(&mut segment);
    let message = message(dump.finish(&segment));
    message.replace(&format!("small.hprof: byte {at}: "), "there: ")
}

/// A dump that is cut off gives the objects before the cut, and a warning; before the first object,
/// an error.
#[test]
fn every_truncation_is_a_warning_or_an_error() {
    for id_bytes in [4, 8] {
        let bytes = example(id_bytes).bytes;
        let ids = |snapshot: &Snapshot| snapshot.nodes().map(|node| node.id().unwrap()).collect::<Vec<_>>();
        let whole = ids(&read(&bytes).unwrap());
        let mut most = 0;
        for length in 0..bytes.len() {
            match read(&bytes[..length]) {
                Ok(snapshot) => {
                    let part = ids(&snapshot);
                    assert!(whole.starts_with(&part) && part.len() >= most, "cut at {length}");
                    most = part.len();
                    let warning = snapshot.warnings().first().expect("a warning");
                    let is_whole = most == whole.len() && warning == "the end mark of the heap dump is missing";
                    assert!(is_whole || warning.starts_with("cut off after byte"), "{warning}");
                }
                Err(error) => {
                    assert_eq!(most, 0, "cut at {length}: {error}");
                    assert!(error.offset() <= length as u64, "{error}");
                    let text = error.to_string();
                    assert!(
                        text.contains("it was cut off") || text.contains("no heap dump in this file"),
                        "cut at {length}: {text}"
                    );
                }
            }
        }
        assert_eq!(most, whole.len(), "only the end mark is missing");
    }
}

#[test]
fn what_surrounds_a_heap_dump_does_not_hide_it() {
    let whole = example(8);
    let nodes = |bytes: &[u8]| {
        let snapshot = read(bytes).expect("a whole heap dump");
        (snapshot.node_count(), snapshot.warnings().to_vec())
    };
    let (count, none) = nodes(&whole.bytes);
    assert!(none.is_empty());
    let padded = [&whole.bytes[..], &[0; 500]].concat();
    let (padded, warnings) = nodes(&padded);
    assert_eq!((padded, warnings.len()), (count, 1), "{warnings:?}");
    let (twice, warnings) = nodes(&[&whole.bytes[..], &whole.bytes].concat());
    let warning = format!(
        "a second file begins at byte {}: only the first is shown",
        whole.bytes.len()
    );
    assert_eq!((twice, warnings), (count, vec![warning]));
    // The segment's length is the 4 bytes after its tag and time.
    let (mut dump, segment) = parts(8);
    let at = dump.bytes.len() + 5;
    dump.finish(&segment);
    dump.bytes[at..at + 4].fill(0);
    let (endless, warnings) = nodes(&dump.bytes);
    assert_eq!((endless, warnings.len()), (count, 1), "{warnings:?}");
}

#[test]
fn of_several_heap_dumps_one_is_read() {
    let (mut dump, segment) = parts(8);
    let mut second = Dump::segment(8);
    second.class(&Class {
        id: 0x10,
        ..Class::default()
    });
    dump.finish(&segment);
    dump.finish(&second);
    let number = |asked| {
        let options = Options {
            dump: asked,
            ..Options::all()
        };
        let snapshot = Snapshot::read_hprof([&dump.bytes[..], &dump.bytes[..]], "two.hprof", options);
        snapshot.map(|snapshot| (snapshot.node_count(), snapshot.warnings().to_vec()))
    };
    let first = example(8).read().unwrap().node_count();
    assert_eq!(number(Some(1)).unwrap(), (first, Vec::new()));
    let (last, warnings) = number(None).unwrap();
    assert!(
        last < first && warnings[0].starts_with("2 heap dumps, of which"),
        "{warnings:?}"
    );
    let (second, warnings) = number(Some(2)).unwrap();
    assert!(second == last && warnings[0].starts_with("no roots"), "{warnings:?}");
    assert!(
        number(Some(3))
            .unwrap_err()
            .to_string()
            .contains("no heap dump 3 in this file: expected a number from 1 to 2")
    );
}

/// The first of two heap dumps has a damaged record, and the second is cut off.
#[test]
fn the_damage_of_another_heap_dump_is_not_told() {
    let (mut dump, segment) = parts(8);
    let whole = dump.finish(&segment).bytes.len();
    dump.finish(&segment);
    let warnings = |bytes: &[u8], asked| {
        let options = Options {
            dump: asked,
            ..Options::all()
        };
        let snapshot = Snapshot::read_hprof([bytes, bytes], "two.hprof", options).expect("a snapshot");
        (snapshot.node_count(), snapshot.warnings().to_vec())
    };
    let (count, none) = warnings(&dump.bytes, Some(1));
    assert_eq!(none, [""; 0]);
    let cut = &dump.bytes[..dump.bytes.len() - 60];
    assert_eq!(warnings(cut, Some(1)), (count, none.clone()));
    assert!(warnings(cut, Some(2)).1[0].starts_with("cut off after byte"));
    // The tag of a record in the middle of the first.
    let mut damaged = dump.bytes.clone();
    damaged[whole - segment.bytes.len() / 2] ^= 0x55;
    let (of_first, of_second) = (warnings(&damaged, Some(1)), warnings(&damaged, Some(2)));
    assert_ne!(
        of_first,
        (count, none.clone()),
        "the test damages something that matters"
    );
    assert_eq!(of_second, (count, none));
    let last = warnings(&damaged, None);
    assert!(
        last.0 == count && last.1.len() == 1 && last.1[0].starts_with("2 heap dumps"),
        "{last:?}"
    );
}

#[test]
fn files_that_are_not_dumps_are_refused() {
    let message = |bytes: &[u8]| read(bytes).map(|_| ()).unwrap_err().to_string();
    let wanted = "small.hprof: byte 0: not a JVM heap dump, version 1.0 to 1.0.3: it begins with ";
    assert_eq!(
        message(b"JAVA PROFILE 2.0.0\0\0\0\0\x08"),
        format!("{wanted}\"JAVA PROFILE 2.0.0\\0\"")
    );
    assert_eq!(message(b"hello\0"), format!("{wanted}\"hello\\0\""));
    assert_eq!(
        message(b"JAVA PROFILE 1.0.1\0\0\0\0\x05"),
        "small.hprof: byte 19: ids of 5 bytes, expected 4 or 8"
    );
    let mut dump = Dump::new(8);
    assert_eq!(
        message(&dump.bytes),
        "small.hprof: byte 31: no heap dump in this file, only other records"
    );
    dump.record(0x01, &[1, 2]);
    assert_eq!(
        message(&dump.bytes),
        "small.hprof: byte 42: the file ends here, expected the id of a name: it was cut off"
    );
}

/// The end mark is sound, and follows.
#[test]
fn unknown_records_in_the_heap_dump_are_skipped() {
    let with = |more: &dyn Fn(&mut Dump)| {
        let (mut dump, mut segment) = parts(8);
        let at = dump.bytes.len() + 9 + segment.bytes.len();
        more(&mut segment);
        let snapshot = dump.finish(&segment).read().unwrap();
        assert_eq!(snapshot.node_count(), example(8).read().unwrap().node_count());
        snapshot.warnings()[0].replace(&format!("byte {at}: "), "there: ")
    };
    assert_eq!(
        with(&|segment| done(segment.u1(0x99).id(1))),
        "there: record 0x99 in the heap dump, expected a root, a class (0x20), an object (0x21) or an array (0x22, \
         0x23); 9 bytes were skipped, up to the next sound record"
    );
    let odd = with(&|segment| done(segment.u1(0x23).id(1).u4(0).u4(1).u1(3)));
    assert!(
        odd.contains("the type of an array's elements is 3, expected 2 (object) or 4 to 11"),
        "{odd}"
    );
}

/// Names come before the heap dump.
#[test]
fn a_missing_byte_costs_few_names() {
    let (mut dump, segment) = parts(8);
    let to = dump.bytes.len();
    for id in 0..400 {
        dump.name(0x8000 + id, "a name that no class has", None);
    }
    dump.finish(&segment);
    let whole = dump.read().unwrap().node_count();
    for at in 31..to {
        let mut bytes = dump.bytes.clone();
        bytes.remove(at);
        let snapshot = read(&bytes).unwrap_or_else(|error| panic!("without byte {at}: {error}"));
        assert_eq!(snapshot.node_count(), whole, "without byte {at}");
    }
}

/// Wherever a byte is missing from the records of objects, hardly any other is lost.
#[test]
fn a_missing_byte_costs_few_objects() {
    for id_bytes in [4, 8] {
        let (mut dump, mut segment) = parts(id_bytes);
        let from = dump.bytes.len() + 9 + segment.bytes.len();
        for n in 0..40 {
            segment.instance(0x10_000 + 64 * n, CLASS_OBJECT, &[]);
            segment.values(0x10_020 + 64 * n, INT, 3);
        }
        let to = dump.bytes.len() + 9 + segment.bytes.len();
        dump.finish(&segment);
        let whole = dump.read().unwrap().node_count();
        for at in from..to - 40 {
            let mut bytes = dump.bytes.clone();
            bytes.remove(at);
            let snapshot = read(&bytes).unwrap_or_else(|error| panic!("without byte {at}: {error}"));
            let lost = whole - snapshot.node_count();
            assert!(
                lost <= 5,
                "{lost} of {whole} without byte {at}: {:?}",
                snapshot.warnings()
            );
            let place = snapshot.warnings()[0]
                .strip_prefix("byte ")
                .and_then(|rest| rest.split_once(':'));
            let place: usize = place.expect("a place").0.parse().unwrap();
            assert!((at.saturating_sub(40)..at + 120).contains(&place), "{place} for {at}");
        }
    }
}

#[test]
fn records_that_do_not_end_with_their_segment_are_refused() {
    let (mut dump, mut segment) = parts(8);
    segment.u1(0x23).id(0x9000).u4(0).u4(1000).u1(INT);
    let end = dump.bytes.len() + 9 + segment.bytes.len();
    dump.finish(&segment);
    dump.bytes.extend([0; 4000]);
    let text = message(&dump);
    let part = format!(
        "the object here ends at byte {}, after its part of the heap dump, at byte {end}",
        end + 4000
    );
    assert!(text.ends_with(&part), "{text}");
}

#[test]
fn objects_that_disagree_with_their_classes_are_refused() {
    assert_eq!(
        with(|segment| done(segment.instance(0x9000, CLASS_NODE, &[(OBJECT, 0)]))),
        "there: object 0x9000 has 8 bytes of fields, but its class a.Node declares 25"
    );
    assert_eq!(
        with(|segment| done(segment.instance(NODE, CLASS_OBJECT, &[]))),
        "there: a second object with the id 0x2000"
    );
}

/// Objects whose class or superclass is missing from the dump have the bytes of their records.
#[test]
fn a_missing_class_hides_only_its_objects_fields() {
    let (mut dump, mut segment) = parts(8);
    segment.instance(0x9000, 0x4242, &[(INT, 1), (INT, 2)]);
    segment.class(&Class {
        id: 0xa000,
        superclass: 0x4242,
        ..Class::default()
    });
    segment.instance(0xb000, 0xa000, &[(INT, 1)]);
    let snapshot = dump.finish(&segment).read().unwrap();
    let of = |id| snapshot.nodes().find(|node| node.id() == Some(id)).expect("a node");
    assert_eq!(
        (of(0x9000).name().as_ref(), of(0x9000).self_size()),
        ("class 0x4242", 24)
    );
    assert_eq!(
        (of(0xb000).name().as_ref(), of(0xb000).self_size()),
        ("class 0xa000", 16)
    );
    assert_eq!(
        snapshot.warnings(),
        ["the fields of 1 object are not known, since the dump lacks the class"]
    );
}

#[test]
fn classes_that_are_their_own_superclass_are_refused() {
    let (mut dump, mut segment) = (Dump::new(8), Dump::segment(8));
    segment.class(&Class {
        id: 0x10,
        superclass: 0x20,
        ..Class::default()
    });
    segment.class(&Class {
        id: 0x20,
        superclass: 0x10,
        ..Class::default()
    });
    assert!(message(dump.finish(&segment)).ends_with(": a class is its own superclass"));
}

#[test]
fn a_file_that_changes_between_the_passes_is_refused() {
    let (one, mut other) = (example(8), parts(8).0);
    let mut segment = Dump::segment(8);
    segment.values(0x9000, INT, 1);
    other.finish(&segment);
    let error = Snapshot::read_hprof([&one.bytes[..], &other.bytes[..]], "changing", Options::all())
        .map(|_| ())
        .unwrap_err();
    assert!(
        error.to_string().contains("the file changed while it was read"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_changed_bytes_are_an_error_or_a_snapshot(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        wide in any::<bool>(),
    ) {
        let mut bytes = example(if wide { 8 } else { 4 }).bytes;
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(snapshot) = read(&bytes) {
            for node in snapshot.nodes() {
                let _ = (node.name(), node.type_name());
                node.edges().for_each(|edge| drop((edge.name_text(), edge.type_name(), edge.target().self_size())));
            }
        }
        // A V8 reader always refuses it.
        prop_assert!(Snapshot::read(&bytes[..], "dump", Options::all()).is_err());
    }
}

/// Ends a chain of calls.
fn done(_: &mut Dump) {}
