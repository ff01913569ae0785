//! Damaged files give an error with position and problem, never a panic or a wrong graph.

use gclab_snapshot::{Options, Problem, Snapshot};

use crate::build::{example_text, gzip};

fn error(bytes: &[u8]) -> gclab_snapshot::Error {
    Snapshot::read(bytes, "bad.heapsnapshot", Options::all())
        .map(|_| ())
        .unwrap_err()
}

/// The message, for the example with `from` replaced by `to`.
fn edited(from: &str, to: &str) -> String {
    let text = example_text();
    assert!(text.contains(from), "nothing to replace: {from}");
    error(text.replacen(from, to, 1).as_bytes()).to_string()
}

/// A file that is cut off within its strings, which come last, lacks only names.
#[test]
fn every_truncation_is_an_error_or_a_warning() {
    let text = example_text();
    let text = text.trim_end();
    let strings = text.find("\"strings\":").unwrap() + "\"strings\":".len();
    let whole = Snapshot::read(text.as_bytes(), "whole", Options::all()).unwrap();
    let mut names = 0;
    for length in strings..text.len() {
        let cut = Snapshot::read(&text.as_bytes()[..length], "cut", Options::all()).expect("names alone are missing");
        let [warning] = cut.warnings() else {
            panic!("{length}: {:?}", cut.warnings())
        };
        assert!(
            warning.starts_with(&format!("the file is cut off at byte {length}")),
            "{warning}"
        );
        let same = std::iter::zip(whole.nodes(), cut.nodes());
        let known = same.filter(|(whole, cut)| whole.name() == cut.name()).count();
        assert!(known >= names, "cut at {length}");
        names = known;
        assert_eq!(cut.edge_count(), whole.edge_count());
    }
    assert_eq!(names, whole.node_count() as usize, "only the last brace is missing");
    for length in 0..strings {
        let error = error(&text.as_bytes()[..length]);
        assert!(error.offset() <= length as u64, "{error}");
        let expected = matches!(error.problem(), Problem::Truncated(_)) || length == 0;
        assert!(expected, "cut at {length}: {error}");
    }
}

#[test]
fn a_truncation_of_gzip_is_one_of_its_text() {
    let zipped = gzip(example_text().as_bytes());
    // The last bytes are a checksum and a length.
    for length in 2..zipped.len() - 12 {
        let Err(error) = Snapshot::read(&zipped[..length], "bad", Options::all()).map(|_| ()) else {
            continue;
        };
        assert!(
            matches!(error.problem(), Problem::Truncated(_) | Problem::NotASnapshot { .. }),
            "cut at {length}: {error}"
        );
    }
}

#[test]
fn damaged_gzip_is_an_error() {
    let mut zipped = gzip(example_text().as_bytes());
    let crc = zipped.len() - 8;
    zipped[crc] ^= 1;
    let error = error(&zipped);
    assert!(
        error.to_string().contains("(decompressed): damaged gzip data"),
        "{error}"
    );
}

#[test]
fn texts_that_are_not_snapshots_are_refused() {
    let message = |text: &str| error(text.as_bytes()).to_string();
    assert_eq!(
        message(""),
        "bad.heapsnapshot: byte 0: not a V8 heap snapshot: expected a JSON object with the key \"snapshot\", found nothing"
    );
    assert_eq!(
        message(" [1]"),
        "bad.heapsnapshot: byte 1: not a V8 heap snapshot: expected a JSON object with the key \"snapshot\", found `[`"
    );
    assert_eq!(
        message("{\"a\":1}"),
        "bad.heapsnapshot: byte 7: not a V8 heap snapshot: expected the key \"snapshot\", found an object without it"
    );
    assert_eq!(
        message("{\"nodes\":[]}"),
        "bad.heapsnapshot: byte 1: not a V8 heap snapshot: expected the key \"snapshot\" first, found \"nodes\" before it"
    );
}

#[test]
fn an_edge_to_a_missing_node_is_refused() {
    let place = example_text().find(",0,3,14").unwrap() + 1;
    let says = |message: String, to| {
        let expected = format!(
            "byte {place}: edge 2 leads to {to}, which is not the place of a node: expected a multiple of 7 below 21"
        );
        assert!(message.ends_with(&expected), "{message}");
    };
    says(edited(",0,3,14", ",0,3,15"), 15);
    says(edited(",0,3,14", ",0,3,21"), 21);
}

#[test]
fn counts_that_disagree_are_refused() {
    assert!(edited("\"node_count\":3", "\"node_count\":2").contains("nodes: declared 2, found 3"));
    assert!(edited("\"node_count\":3", "\"node_count\":4").contains("nodes: declared 4, found 3"));
    assert!(
        edited("\"edge_count\":5", "\"edge_count\":4")
            .contains("edges (by the nodes' edge counts): declared 4, found 5")
    );
    assert!(
        edited("\"edge_count\":5", "\"edge_count\":6")
            .contains("edges (by the nodes' edge counts): declared 6, found 5")
    );
    assert!(edited("\n,2,2,7", "").contains("edges: declared 5, found 4"));
    assert!(edited("\n,2,2,7", "\n,2,2,7,2,2,7").contains("edges: declared 5, found 6"));
    assert!(
        edited("\"node_count\":3", "\"node_count\":9999999999")
            .contains("the number of nodes is 9999999999, expected less than 4294967295")
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    assert!(edited("\n,1,2,3,24", "\n,256,2,3,24").contains("a node's type is 256, expected less than 256"));
    assert!(edited("\n,2,2,7", "\n,256,2,7").contains("an edge's type is 256, expected less than 256"));
    assert!(edited("\n,1,2,3,24", "\n,1,2,3,-24").contains("expected a whole number, found `-`"));
    assert!(edited("\n,1,2,3,24", "\n,1,2,3,24.5").contains("expected a whole number, found `.`"));
    assert!(edited("\n,1,2,3,24", "\n,1,2,3,99999999999999999999").contains("expected a number below 2^64"));
}

/// No figure needs them.
#[test]
fn names_that_the_file_lacks_and_zeros_behind_it_are_told() {
    let text = example_text();
    let warnings = |text: String| {
        let snapshot = Snapshot::read(text.as_bytes(), "it", Options::all()).expect("a snapshot");
        (snapshot.node_count(), snapshot.warnings().to_vec())
    };
    let said = ["names beyond the strings of the file: 1, shown as `(no name)`".to_owned()];
    for (from, to) in [("\n,1,2,3,24", "\n,1,4,3,24"), ("\n,2,2,7", "\n,2,9,7")] {
        assert!(text.contains(from));
        assert_eq!(warnings(text.replacen(from, to, 1)), (3, said.to_vec()));
    }
    let said = format!(
        "the bytes from {} on are not part of the snapshot",
        text.trim_end().len()
    );
    assert_eq!(warnings(text.trim_end().to_owned() + "\0\0"), (3, vec![said]));
}

/// V8 wrote types that it did not declare, and Julia wrote indices of 2^64 - 1; nothing needs them.
#[test]
fn undeclared_types_and_odd_indices_are_read() {
    let read = |from: &str, to: &str| {
        let text = example_text().replacen(from, to, 1);
        Snapshot::read(text.as_bytes(), "odd.heapsnapshot", Options::all()).expect("no figure needs it")
    };
    let whole = read("", "");
    let odd = read("\n,1,2,3,24", "\n,12,2,3,24");
    let types: Vec<&str> = odd.nodes().map(gclab_snapshot::Node::type_name).collect();
    assert_eq!(types.iter().filter(|name| **name == "type 12").count(), 1, "{types:?}");
    let odd = read("\n,2,2,7", "\n,7,99,7");
    let last = odd.nodes().flat_map(gclab_snapshot::Node::edges).last().unwrap();
    assert_eq!((last.type_name(), last.is_strong()), ("type 7", true));
    assert_eq!(last.name_text(), "99", "nobody knows whether it is a string");
    assert_eq!(odd.edge_count(), whole.edge_count());
}

/// Builds of V8 wrote negative numbers where they had none.
#[test]
fn a_negative_number_that_no_figure_needs_is_ignored() {
    let text = example_text();
    let first = text.find("\"nodes\":[").unwrap();
    // The last field but one of the first node is its `trace_node_id`.
    let row = &text[first + "\"nodes\":[".len()..];
    let row = &row[..row.find('\n').unwrap()];
    let fields: Vec<&str> = row.split(',').collect();
    for odd in ["-3", "1.5"] {
        let mut fields = fields.clone();
        fields[5] = odd;
        let text = text.replacen(row, &fields.join(","), 1);
        let snapshot = Snapshot::read(text.as_bytes(), "odd.heapsnapshot", Options::all()).expect("no figure needs it");
        let [warning] = snapshot.warnings() else {
            panic!("{:?}", snapshot.warnings())
        };
        assert!(
            warning.contains("a number that is not a whole one was ignored, 1 in all"),
            "{warning}"
        );
        assert_eq!(snapshot.node_count(), 3);
    }
}

#[test]
fn a_description_without_a_needed_field_is_refused() {
    assert!(
        edited("\"self_size\"", "\"size\"")
            .contains("`node_fields` has no \"self_size\", only type, name, id, size, edge_count")
    );
    assert!(
        edited(
            "\"node_types\":[[\"synthetic\",\"object\"]",
            "\"node_types\":[\"object\""
        )
        .contains("`node_types` has no list of names at 0")
    );
    assert!(edited("\"node_count\"", "\"nodes\"").contains("missing field `node_count`"));
}

#[test]
fn missing_and_doubled_arrays_are_refused() {
    assert!(edited("\"edges\"", "\"edge\"").contains("no `edges` array"));
    assert!(edited("\"strings\"", "\"string\"").contains("no `strings` array"));
    assert!(edited("\"edges\":", "\"nodes\":[],\"edges\":").contains("expected each key once, found \"nodes\" again"));
}

#[test]
fn text_after_the_end_is_refused() {
    let text = example_text() + "{}";
    assert!(
        error(text.as_bytes())
            .to_string()
            .contains("expected the end of the file, found `{`")
    );
}

#[test]
fn a_missing_file_is_named() {
    let message = |path: &str| {
        let opened = Snapshot::open(path.as_ref(), Options::all()).map(|_| ());
        opened.unwrap_err().to_string()
    };
    assert_eq!(message("no/such.heapsnapshot"), "no/such.heapsnapshot: no such file");
    assert_eq!(message("src"), "src: is a folder, not a file");
}

#[test]
fn a_file_is_not_unpacked_beyond_the_limit() {
    let text = example_text();
    let within = |bytes: &[u8], limit| {
        let options = Options {
            limit,
            ..Options::all()
        };
        Snapshot::read(bytes, "long.heapsnapshot", options).map(|_| ())
    };
    let length = text.len() as u64;
    // A lot of white space follows, in a few bytes of gzip.
    let long = gzip((text.clone() + &" ".repeat(10 << 20)).as_bytes());
    for bytes in [text.as_bytes(), &gzip(text.as_bytes())] {
        assert!(within(bytes, length).is_ok());
        let message = within(bytes, length - 1).unwrap_err().to_string();
        let expected = format!("long.heapsnapshot: more than {} bytes, unpacked", length - 1);
        assert_eq!(message, expected);
    }
    let error = within(&long, 1 << 20).unwrap_err();
    assert!(
        matches!(error.problem(), Problem::TooLong { limit: 1_048_576 }),
        "{error}"
    );
    assert!(error.offset() < 2 << 20, "{error}");
}

/// Sums of sizes used to wrap: a node of 2^64 - 1 bytes and one of 10^9 made 1.00 GB.
#[test]
fn sizes_whose_sum_overflows_are_refused() {
    let message = edited("\n,1,2,3,24", "\n,1,2,3,18446744073709551615");
    let place = example_text().find(",1,2,3884423744").unwrap() + 1 + "18446744073709551615".len() - "24".len();
    let expected = format!(
        "byte {place}: the node's self size is 5000000000, and the sizes up to it add up to 2^64 bytes or more"
    );
    assert!(message.ends_with(&expected), "{message}");
    let mut largest = example_text().replace(",5000000000,", ",0,");
    largest = largest.replacen("\n,1,2,3,24", "\n,1,2,3,18446744073709551615", 1);
    assert!(Snapshot::read(largest.as_bytes(), "largest", Options::all()).is_ok());
}
