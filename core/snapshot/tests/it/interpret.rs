//! Readable names.

use gclab_snapshot::{Options, Snapshot};

/// A snapshot of these nodes (type, name, detachedness), edges (source, type, name, target) and
/// locations.
fn snapshot(nodes: &[(&str, &str, u8)], edges: &[(usize, &str, &str, usize)], locations: &str) -> Snapshot {
    let types = ["synthetic", "object", "closure", "code", "native", "string"];
    let edge_types = ["property", "internal", "element", "weak"];
    let mut strings: Vec<&str> = vec![""];
    let mut string = |text| {
        let known = strings.iter().position(|&own| own == text);
        known.unwrap_or_else(|| {
            strings.push(text);
            strings.len() - 1
        })
    };
    let place = |names: &[&str], name| names.iter().position(|&own| own == name).unwrap();
    let (mut rows, mut links) = (Vec::new(), Vec::new());
    for (at, &(kind, name, detached)) in nodes.iter().enumerate() {
        let own: Vec<_> = edges.iter().filter(|edge| edge.0 == at).collect();
        let kind = place(&types, kind);
        rows.push(format!(
            "{kind},{},{},10,{},{detached}",
            string(name),
            2 * at + 1,
            own.len()
        ));
        for &&(_, kind, name, to) in &own {
            links.push(format!("{},{},{}", place(&edge_types, kind), string(name), to * 6));
        }
    }
    let text = format!(
        r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count","detachedness"],
        "node_types":[{types:?},"string","number","number","number","number"],
        "edge_fields":["type","name_or_index","to_node"],"edge_types":[{edge_types:?},"string_or_number","node"],
        "location_fields":["object_index","script_id","line","column"]}},
        "node_count":{},"edge_count":{}}},"nodes":[{}],"edges":[{}],"locations":[{locations}],"strings":{strings:?}}}"#,
        nodes.len(),
        edges.len(),
        rows.join(","),
        links.join(","),
    );
    let options = Options {
        interpret: true,
        ..Options::all()
    };
    Snapshot::read(text.as_bytes(), "names", options).unwrap()
}

/// The names of its nodes.
fn names(nodes: &[(&str, &str, u8)], edges: &[(usize, &str, &str, usize)], locations: &str) -> Vec<String> {
    let nodes = snapshot(nodes, edges, locations);
    nodes.nodes().map(|node| node.name().into_owned()).collect()
}

/// No other edge of the file is weak.
#[test]
fn the_edge_of_a_weak_table_has_its_name() {
    let pair = "1 / part of key (Key @3) -> value (Value @5) pair in WeakMap (table @1)";
    let nodes = ["Table", "Key", "Value"].map(|name| ("object", name, 0));
    let found = snapshot(&nodes, &[(0, "internal", pair, 2), (1, "internal", pair, 2)], "");
    let edges = found
        .nodes()
        .flat_map(|node| node.edges().map(|edge| (edge.name_text(), edge.is_strong())));
    assert_eq!(edges.collect::<Vec<_>>(), [(pair.into(), false), (pair.into(), true)]);
}

#[test]
fn plain_objects_are_named_by_the_properties_that_others_have_too() {
    let nodes = ["Object", "Object", "Object", "Point", "Point", "Object"].map(|name| ("object", name, 0));
    let edges = [
        (0, "property", "id", 3),
        (0, "property", "__proto__", 3),
        (0, "property", "text", 3),
        (0, "element", "", 3),
        (1, "property", "id", 4),
        (1, "property", "text", 3),
        (2, "property", "id", 3),
        (3, "property", "x", 4),
        (4, "property", "x", 4),
    ];
    let expected = ["{id, text}", "{id, text}", "Object", "Point", "Point", "Object"];
    assert_eq!(names(&nodes, &edges, ""), expected);
}

#[test]
fn a_long_shape_is_cut() {
    let properties: Vec<String> = (0..100).map(|number| format!("property{number}")).collect();
    let edges: Vec<_> = [0, 1]
        .iter()
        .flat_map(|&node| properties.iter().map(move |name| (node, "property", name.as_str(), 0)))
        .collect();
    let found = names(&[("object", "Object", 0), ("object", "Object", 0)], &edges, "");
    assert_eq!(found[0], "{property0, property1, property2, property3, …}");
}

#[test]
fn closures_are_named_with_their_places_in_the_program() {
    let nodes = [
        ("closure", "onData", 0),
        ("code", "onData", 0),
        ("code", "/srv/app/server.js", 0),
        ("closure", "", 0),
        ("object", "Server", 0),
    ];
    let edges = [
        (0, "internal", "shared", 1),
        (1, "internal", "script_or_debug_info", 2),
        (3, "internal", "shared", 1),
        (4, "internal", "shared", 1),
    ];
    // The file counts lines and columns from 0. There is no node 9.
    let found = names(&nodes, &edges, "0,7,4,95, 18,7,0,3, 24,7,1,1, 54,7,1,1");
    assert_eq!(
        [0, 3, 4].map(|node: usize| found[node].as_str()),
        ["onData server.js:5:96", "anonymous server.js:1:4", "Server"]
    );
}

/// The scope of a loop is in that of its function.
#[test]
fn variables_and_waiting_calls_have_the_names_of_their_functions() {
    let nodes = [
        ("closure", "call", 0),
        ("code", "call", 0),
        ("code", "/srv/app/rpc.js", 0),
        ("code", "system / ScopeInfo", 0),
        ("object", "system / Context", 0),
        ("code", "system / ScopeInfo", 0),
        ("object", "system / Context", 0),
        ("object", "Generator", 0),
        ("object", "system / Context", 0),
        // A generator has the name of its function.
        ("object", "call", 0),
        // An object of the program that keeps a function.
        ("object", "Route", 0),
    ];
    let edges = [
        (0, "internal", "shared", 1),
        (1, "internal", "script_or_debug_info", 2),
        (1, "internal", "name_or_scope_info", 3),
        (4, "internal", "scope_info", 3),
        (5, "element", "", 3),
        (6, "internal", "scope_info", 5),
        (7, "internal", "function", 0),
        (7, "internal", "parameters_and_registers", 3),
        (9, "internal", "function", 0),
        (9, "internal", "parameters_and_registers", 3),
        (10, "property", "function", 0),
    ];
    let found = names(&nodes, &edges, "0,7,4,5, 42,7,4,5, 54,7,4,5, 60,7,9,1");
    let expected = ["scope", "scope", "call", "call"].map(|what| format!("{what} of call rpc.js:5:6"));
    assert_eq!([4, 6, 7, 9].map(|node: usize| &found[node]), expected.each_ref());
    assert_eq!([8, 10].map(|node: usize| &found[node]), ["system / Context", "Route"]);
}

/// The function is gone, and its scope has its name beside those of its variables.
#[test]
fn variables_of_a_function_that_is_gone_are_told_by_those_inside() {
    let mut nodes = vec![
        ("closure", "", 0),
        ("closure", "step", 0),
        ("code", "", 0),
        ("code", "/srv/app/queue.js", 0),
        ("object", "system / Context", 0),
        ("code", "system / ScopeInfo", 0),
        ("object", "Array", 0),
    ];
    nodes.extend(["pending", "start"].map(|name| ("string", name, 0)));
    let edges = [
        (0, "internal", "shared", 2),
        (0, "internal", "context", 4),
        (1, "internal", "shared", 2),
        (1, "internal", "context", 4),
        (2, "internal", "script_or_debug_info", 3),
        (4, "property", "pending", 6),
        (4, "internal", "scope_info", 5),
        (5, "element", "", 7),
        (5, "element", "", 8),
    ];
    let found = names(&nodes, &edges, "0,7,9,5, 6,7,4,5");
    assert_eq!(found[4], "scope of start queue.js:5:6");
}

/// A class is the program's if it has one of the name.
#[test]
fn classes_of_node_are_told_by_their_scripts() {
    let nodes = [
        ("object", "Channel", 0),
        ("object", "Server", 0),
        ("closure", "Channel", 0),
        ("closure", "Server", 0),
        ("closure", "Server", 0),
        ("code", "", 0),
        ("code", "node:net", 0),
        ("code", "", 0),
        ("code", "/srv/app/server.js", 0),
        ("object", "system / Map", 0),
        ("object", "connect", 0),
        ("closure", "connect", 0),
    ];
    let mut edges = vec![
        (5, "internal", "script_or_debug_info", 6),
        (7, "internal", "script_or_debug_info", 8),
        (11, "internal", "shared", 5),
    ];
    for (closure, shared) in [(2, 5), (3, 5), (4, 7)] {
        edges.extend([
            (closure, "internal", "shared", shared),
            (closure, "internal", "initial_map", 9),
        ]);
    }
    let found = snapshot(&nodes, &edges, "12,7,1,1, 18,7,2,1, 24,8,1,1, 66,7,3,1");
    let built_in = [0, 1, 10].map(|node| found.node(node).is_built_in());
    assert_eq!(built_in, [true, false, false]);
}

#[test]
fn detached_nodes_are_marked() {
    let nodes = [
        ("native", "<div>", 2),
        ("native", "<div>", 1),
        ("native", "<div>", 0),
        ("native", "Node / Binding", 2),
        ("native", "Detached Window", 2),
    ];
    assert_eq!(
        names(&nodes, &[], ""),
        ["Detached <div>", "<div>", "<div>", "Node / Binding", "Detached Window"]
    );
}
