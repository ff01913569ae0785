//! The meaning of a V8 snapshot beyond its records: pairs of WeakMaps, and names for readers.
//!
//! **Pairs.** V8 writes the value of a WeakMap's pair as if both the table and the key held it. But
//! the value lives as long as its key, so the table's edge becomes a weak one.
//!
//! **Names.** A closure gets its place in the program (`onData server.js:6:98`). The variables of a
//! function have its name (`scope of onData server.js:6:98`, or if the function is gone, with
//! the place of another inside), and so has an async function or a
//! generator that waits (`call of onData server.js:6:98`). A plain object gets its properties (`{id,
//! text}`), if another has the same. A node that is detached from its document is called so
//! (`Detached <div>`).

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use std::hash::BuildHasher;

use crate::error::Problem;
use crate::memory::{insert, push};
use crate::snapshot::{Edge, Node, Snapshot};

/// The letters of another name that are kept.
const LONGEST: usize = 200;

/// A function without a name.
const ANONYMOUS: &str = "anonymous";

/// What the names of Node.js's own scripts begin with.
const NODE: &str = "node:";

/// The steps from an inner scope to its function's.
const SCOPES: usize = 16;

/// The letters of a plain object's properties that its name shows.
const SHAPE: usize = 40;

/// The function of a closure: its node, and where it begins, from 0.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) node: u32,
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// Parts of a snapshot that only this module needs.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Nodes that are detached from their document.
    pub(crate) detached: Vec<u32>,
    pub(crate) locations: Vec<Location>,
}

/// Interprets a snapshot with all columns.
pub(crate) fn interpret(snapshot: &mut Snapshot, extra: &Extra) -> Result<(), Problem> {
    pairs(snapshot)?;
    shapes(snapshot)?;
    closures(snapshot, &extra.locations)?;
    detached(snapshot, &extra.detached)
}

/// Makes the edges from tables of WeakMaps to values weak, if the key has such an edge, too.
fn pairs(snapshot: &mut Snapshot) -> Result<(), Problem> {
    let mut pairs = HashMap::new();
    for name in 0..snapshot.strings.len() as u32 {
        if let Some(pair) = pair(snapshot.strings.raw(name)) {
            insert(&mut pairs, name, pair)?;
        }
    }
    let (Some(weak), Some(&first), Some(&last)) = (snapshot.weak_type, pairs.keys().min(), pairs.keys().max()) else {
        return Ok(());
    };
    // The pairs of which a key has an edge.
    let mut of_keys = HashSet::new();
    let mut of_tables = Vec::new();
    for node in snapshot.nodes() {
        for place in node.edge_range() {
            let (kind, name) = (snapshot.edge_types[place as usize], snapshot.edge_names[place as usize]);
            // Most names are outside.
            if !(first..=last).contains(&name) || kind == weak || snapshot.indexed_types[usize::from(kind)] {
                continue;
            }
            match pairs.get(&name) {
                Some(&(pair, table)) if Some(table) == node.id() => push(&mut of_tables, (pair, place))?,
                Some(&(pair, _)) => {
                    of_keys.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
                    of_keys.insert(pair);
                }
                None => {}
            }
        }
    }
    of_tables.retain(|(pair, _)| of_keys.contains(pair));
    let places: Vec<u32> = of_tables.into_iter().map(|(_, place)| place).collect();
    for place in places {
        snapshot.edge_types[place as usize] = weak;
    }
    Ok(())
}

/// The pair in the name of an edge to a value, and the id of its table: `7 / part of key (Conn @5)
/// -> value (Meta @9) pair in WeakMap (table @3)`. Each holder counts its own edges, so the number
/// is not part of the pair.
fn pair(name: &[u8]) -> Option<(&[u8], u64)> {
    let inner = std::str::from_utf8(name.strip_suffix(b")")?).ok()?;
    let (before, table) = inner.rsplit_once(" pair in WeakMap (table @")?;
    let start = before.find(" / part of key (")?;
    Some((&name[start..], table.parse().ok()?))
}

/// The number of a type.
fn place(types: &[String], name: &str) -> Option<u8> {
    let place = types.iter().position(|own| own == name)?;
    u8::try_from(place).ok()
}

/// The edges that are properties of plain objects.
#[derive(Clone, Copy)]
struct Properties {
    kind: Option<u8>,
    /// The name of what is none.
    prototype: Option<u32>,
}

impl Properties {
    /// The names of an object's properties.
    fn of(self, node: Node<'_>) -> impl Iterator<Item = u32> {
        let own = node.edges().filter(move |edge| Some(edge.type_index()) == self.kind);
        own.filter_map(move |edge| match edge.name()? {
            crate::EdgeName::String(name) if Some(name) != self.prototype => Some(name),
            _ => None,
        })
    }
}

/// Names plain objects by their properties, those of which there is a second.
fn shapes(snapshot: &mut Snapshot) -> Result<(), Problem> {
    let Some(object) = place(&snapshot.node_type_names, "object") else {
        return Ok(());
    };
    let mut strings = 0..snapshot.strings.len() as u32;
    let properties = Properties {
        kind: place(&snapshot.edge_type_names, "property"),
        prototype: strings.find(|&string| snapshot.strings.raw(string) == b"__proto__"),
    };
    let hasher = DefaultHashBuilder::default();
    // By the hash of the properties: the first object, and once there is a second, the name.
    let mut shapes: HashMap<u64, (u32, Option<u32>)> = HashMap::new();
    let mut plain = HashMap::new();
    for ordinal in 0..snapshot.node_count() {
        let name = snapshot.node_names[ordinal as usize];
        if snapshot.node_types[ordinal as usize] != object {
            continue;
        }
        let is_plain = match plain.get(&name) {
            Some(&known) => known,
            None => {
                let is_plain = snapshot.strings.raw(name) == b"Object";
                insert(&mut plain, name, is_plain)?;
                is_plain
            }
        };
        let node = snapshot.node(ordinal);
        let mut names = properties.of(node).filter(|_| is_plain).peekable();
        if names.peek().is_none() {
            continue;
        }
        let shape = names.fold(0, |shape, name| hasher.hash_one((shape, name)));
        let Some(&(first, made)) = shapes.get(&shape) else {
            insert(&mut shapes, shape, (ordinal, None))?;
            continue;
        };
        let name = match made {
            Some(name) => name,
            None => {
                let text = shape_text(node, properties);
                let name = snapshot.strings.push(&text)?;
                insert(&mut shapes, shape, (first, Some(name)))?;
                snapshot.node_names[first as usize] = name;
                name
            }
        };
        snapshot.node_names[ordinal as usize] = name;
    }
    Ok(())
}

/// The name of a plain object: `{id, text}`.
fn shape_text(node: Node<'_>, properties: Properties) -> String {
    let mut text = "{".to_owned();
    for (index, name) in properties.of(node).enumerate() {
        if text.len() > SHAPE {
            text.push_str(", …");
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.extend(node.strings().start(name, SHAPE).chars().take(SHAPE));
    }
    text + "}"
}

/// Adds the places of their functions to the names of closures, and names what belongs to functions.
fn closures(snapshot: &mut Snapshot, locations: &[Location]) -> Result<(), Problem> {
    let closure = place(&snapshot.node_type_names, "closure");
    let (mut made, mut scopes, mut calls) = (HashMap::new(), HashMap::new(), Vec::new());
    let (mut inner, mut classes) = (HashMap::new(), [HashSet::new(), HashSet::new()]);
    for location in locations {
        let Some(node) = (location.node < snapshot.node_count()).then(|| snapshot.node(location.node)) else {
            continue;
        };
        let shared = named_edge(node, &["shared"]);
        let script = shared.and_then(|shared| named_edge(shared, &["script_or_debug_info", "script"]));
        let Some(script) = script.filter(|_| Some(node.type_index()) == closure) else {
            let call = named_edge(node, &["parameters_and_registers"]).and(named_edge(node, &["function"]));
            if let Some(function) = call {
                push(&mut calls, (location.node, function.ordinal()))?;
            }
            continue;
        };
        let scope = shared.and_then(|shared| named_edge(shared, &["name_or_scope_info", "scope_info"]));
        let scope = scope.filter(|&scope| is_scope(scope)).map(Node::ordinal);
        let around = named_edge(node, &["context"]).and_then(|context| named_edge(context, &["scope_info"]));
        let around = around.map(Node::ordinal);
        let own = snapshot.node_names[location.node as usize];
        if named_edge(node, &["initial_map"]).is_some() {
            let of = &mut classes[usize::from(script.name().starts_with(NODE))];
            of.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
            of.insert(own);
        }
        let key = (own, script.ordinal(), location.line, location.column);
        let name = match made.get(&key) {
            Some(&name) => name,
            None => {
                let function = match snapshot.strings.start(own, LONGEST) {
                    name if name.is_empty() => ANONYMOUS.into(),
                    name => name,
                };
                let (line, column) = (location.line.saturating_add(1), location.column.saturating_add(1));
                let text = format!(
                    "{function} {}:{line}:{column}",
                    file(&script.strings().start(script.name_index().unwrap_or(0), LONGEST))
                );
                let name = snapshot.strings.push(&text)?;
                insert(&mut made, key, name)?;
                name
            }
        };
        if let Some(scope) = scope {
            insert(&mut scopes, scope, name)?;
        }
        let place = (location.line, location.column, name);
        if let Some(around) = around.filter(|around| inner.get(around).is_none_or(|&first| place < first)) {
            insert(&mut inner, around, place)?;
        }
        snapshot.node_names[location.node as usize] = name;
    }
    let [of_program, of_node] = classes;
    snapshot.built_in = &of_node - &of_program;
    activations(snapshot, &scopes, &inner, &calls)
}

/// Names the variables of functions, and calls that wait or have yielded. `scopes` has the nodes that
/// describe the functions' scopes, with the names of the functions, and `inner` with that of the
/// first function inside, which is left when the other is gone; `calls` has the calls with their functions.
fn activations(
    snapshot: &mut Snapshot,
    scopes: &HashMap<u32, u32>,
    inner: &HashMap<u32, (u64, u64, u32)>,
    calls: &[(u32, u32)],
) -> Result<(), Problem> {
    let mut strings = 0..snapshot.strings.len() as u32;
    let context = strings.find(|&string| snapshot.strings.raw(string) == b"system / Context");
    let (mut found, mut lost, mut gone) = (Vec::new(), Vec::new(), HashMap::new());
    for node in snapshot.nodes().filter(|node| node.name_index() == context) {
        // An inner scope, such as that of a loop, refers to the one around it.
        let first = named_edge(node, &["scope_info"]);
        let around = std::iter::successors(first, |scope| {
            scope.edges().map(Edge::target).find(|&node| is_scope(node))
        });
        let mut functions = around.take(SCOPES).filter_map(|scope| scopes.get(&scope.ordinal()));
        if let Some(&function) = functions.next() {
            push(&mut found, ("scope", node.ordinal(), function))?;
        } else if let Some((scope, inner)) = first.and_then(|scope| Some((scope, inner.get(&scope.ordinal())?))) {
            push(&mut lost, (node.ordinal(), scope.ordinal(), inner.2))?;
        }
    }
    for (node, scope, inner) in lost {
        let function = match gone.get(&scope) {
            Some(&function) => function,
            None => {
                let own = function_of(snapshot.node(node), snapshot.node(scope));
                let inner = snapshot.strings.start(inner, LONGEST);
                let place = inner.rsplit(' ').next().unwrap_or_default();
                let text = format!("{own} {place}");
                let function = snapshot.strings.push(&text)?;
                insert(&mut gone, scope, function)?;
                function
            }
        };
        push(&mut found, ("scope", node, function))?;
    }
    for &(call, function) in calls {
        push(&mut found, ("call", call, snapshot.node_names[function as usize]))?;
    }
    let mut made = HashMap::new();
    for (what, node, function) in found {
        let name = match made.get(&(what, function)) {
            Some(&name) => name,
            None => {
                let text = format!("{what} of {}", snapshot.strings.start(function, LONGEST));
                let name = snapshot.strings.push(&text)?;
                insert(&mut made, (what, function), name)?;
                name
            }
        };
        snapshot.node_names[node as usize] = name;
    }
    Ok(())
}

/// The name of the function with these variables: in the description of its scope, it is what names
/// none of them.
fn function_of(variables: Node<'_>, scope: Node<'_>) -> String {
    let names = scope
        .edges()
        .map(Edge::target)
        .filter(|node| node.type_name() == "string");
    let is_variable = |name: &str| variables.edges().any(|edge| edge.name_text() == name);
    let mut names = names.map(|node| node.name().into_owned());
    let name = names.find(|name| !name.is_empty() && !is_variable(name));
    name.unwrap_or_else(|| ANONYMOUS.to_owned())
}

/// Whether a node describes the scope of a function, or an inner one.
fn is_scope(node: Node<'_>) -> bool {
    node.name() == "system / ScopeInfo"
}

/// The target of the first edge with one of these names.
fn named_edge<'s>(node: Node<'s>, names: &[&str]) -> Option<Node<'s>> {
    let mut edges = node.edges();
    let found = edges.find(|edge| match edge.name() {
        Some(crate::EdgeName::String(name)) => names.iter().any(|wanted| node.string(name) == wanted.as_bytes()),
        _ => false,
    });
    found.map(|edge| edge.target())
}

/// The part of a script's path that a reader needs: from the package on, or the last name, and of
/// an index the folder, too.
fn file(path: &str) -> &str {
    if let Some((_, inner)) = path.rsplit_once("/node_modules/") {
        return inner;
    }
    let Some((folder, name)) = path.rsplit_once('/') else {
        return path;
    };
    if name.starts_with("index.") {
        let start = folder.rfind('/').map_or(0, |slash| slash + 1);
        return &path[start..];
    }
    if path.starts_with(NODE) { path } else { name }
}

/// Tells detached nodes of a document.
fn detached(snapshot: &mut Snapshot, nodes: &[u32]) -> Result<(), Problem> {
    let mut made = HashMap::new();
    for &node in nodes {
        let own = snapshot.node_names[node as usize];
        let name = match made.get(&own) {
            Some(&name) => name,
            None => {
                let text = snapshot.strings.start(own, LONGEST).into_owned();
                // Objects of Node.js itself have the mark and no document.
                let is_told = text.starts_with("Detached ") || text.starts_with("Node / ");
                let name = if is_told {
                    own
                } else {
                    snapshot.strings.push(&format!("Detached {text}"))?
                };
                insert(&mut made, own, name)?;
                name
            }
        };
        snapshot.node_names[node as usize] = name;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{file, pair};

    #[test]
    fn the_table_of_a_pair_is_the_last_id() {
        let name = b"7 / part of key (Conn @5) -> value (a pair in WeakMap (table @1) @9) pair in WeakMap (table @3)";
        assert_eq!(pair(name), Some((&name[1..], 3)));
        for other in [
            &b"table @3)"[..],
            b" pair in WeakMap (table @3)",
            b"1 / part of key (A @1) pair in WeakMap (table @)",
        ] {
            assert_eq!(pair(other), None);
        }
    }

    #[test]
    fn a_script_is_told_by_what_names_it() {
        let paths = [
            "/app/js/small.js",
            "file:///x/lib/index.mjs",
            "/a/node_modules/b/lib/c.js",
            "node:internal/timers",
            "evalmachine",
        ];
        assert_eq!(
            paths.map(file),
            [
                "small.js",
                "lib/index.mjs",
                "b/lib/c.js",
                "node:internal/timers",
                "evalmachine"
            ]
        );
    }
}
