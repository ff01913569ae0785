//! The heap of a real JVM (`fixtures/Cells.java` under OpenJDK 17), with the JVM's own histogram.

use gclab_snapshot::{Options, Snapshot};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/fixtures")
        .join(name)
}

/// Instances and bytes by class, as the JVM counts them.
fn histogram() -> HashMap<String, (u64, u64)> {
    let text = fs::read_to_string(fixture("cells.histogram")).unwrap();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let rank = words.next()?.strip_suffix(':')?;
        rank.parse::<u32>().ok()?;
        let (count, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((source_name(words.next()?), (count, bytes)))
    };
    text.lines().filter_map(line).collect()
}

fn source_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    let primitive = HashMap::from([
        ("Z", "boolean"),
        ("C", "char"),
        ("F", "float"),
        ("D", "double"),
        ("B", "byte"),
        ("S", "short"),
        ("I", "int"),
        ("J", "long"),
    ]);
    let element = match dimensions {
        0 => element,
        _ => primitive
            .get(element)
            .copied()
            .unwrap_or_else(|| element.trim_start_matches('L').trim_end_matches(';')),
    };
    element.to_owned() + &"[]".repeat(dimensions)
}

#[test]
fn counts_and_sizes_are_those_of_the_jvm() {
    let snapshot = Snapshot::open(&fixture("cells.hprof.gz"), Options::all()).unwrap();
    let mut found: HashMap<String, (u64, u64)> = HashMap::new();
    for node in snapshot
        .nodes()
        .filter(|node| !matches!(node.type_name(), "synthetic" | "class"))
    {
        let (count, bytes) = found.entry(node.name().into_owned()).or_default();
        *count += 1;
        *bytes += node.self_size();
    }
    // Classes are objects, too: those in the dump, and those of primitive types. The JVM counts
    // some of their bytes that are not in the dump.
    let mut expected = histogram();
    let classes = snapshot.nodes().filter(|node| node.type_name() == "class").count() as u64;
    let primitives = found.remove("java.lang.Class").unwrap();
    let counted = expected.remove("java.lang.Class").unwrap();
    assert_eq!((classes + primitives.0, primitives.0), (counted.0, 9));
    assert!(expected.len() > 150);
    let mut differing = Vec::new();
    for (name, counted) in &expected {
        let found = found[name];
        assert_eq!(found.0, counted.0, "{name}");
        if found.1 != counted.1 {
            differing.push(name.as_str());
        }
    }
    // Of 198 classes, only these have fields or padding that the dump does not show.
    differing.sort_unstable();
    assert_eq!(
        differing,
        [
            "java.lang.Module",
            "java.lang.Thread",
            "java.lang.ref.Finalizer$FinalizerThread",
            "java.lang.ref.Reference$ReferenceHandler",
            "jdk.internal.loader.ClassLoaders$AppClassLoader",
            "jdk.internal.loader.ClassLoaders$BootClassLoader",
            "jdk.internal.loader.ClassLoaders$PlatformClassLoader",
            "jdk.internal.misc.InnocuousThread",
        ]
    );
    assert_eq!(found.len(), expected.len());
}
