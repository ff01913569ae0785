//! The fields of a program by which a reader finds objects of libraries.

use gclab_heap_traverse::OutOfMemory;
use gclab_heap_traverse::analysis::{Analysis, Merged, Rank, is_scope};
use gclab_snapshot::Edge;
use std::collections::HashMap;

use super::words::{ANONYMOUS, INNER, class_word, is_place, name, way};

/// The most references from a field of the program to what a reader finds by it.
const FAR: usize = 6;
/// The most objects of one distance that are looked through for it.
const MANY: usize = 1000;
/// The most holders of an object, each within the next, whose references tell a reader anything.
const DEEPEST: usize = 1000;
/// References to what is there anyway.
const SELVES: [&str; 5] = [".this", ".__proto__", ".globalThis", ".window", ".self"];
/// Types of what belongs to classes and functions rather than to a program's data.
const CODE: [&str; 4] = ["code", "hidden", "object shape", "class"];

/// How a reader finds an object of a library.
#[derive(Default)]
pub(super) struct Owner {
    /// The steps to it from the program's object: `class Natives`, `.CLEANER Cleaner`.
    pub(super) steps: Vec<String>,
    /// The last of the references.
    pub(super) way: String,
    pub(super) field: Option<Field>,
}

/// Where a reader finds an object: `Natives.CLEANER`, `.bus EventEmitter._events`, or `.pending of
/// start server.js:4:13`.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) before: String,
    /// The class of the object with the fields, or a function.
    pub(super) class: String,
    pub(super) fields: String,
    /// Whether a reader knows the object by nothing else.
    pub(super) is_needed: bool,
}

impl Owner {
    /// In words, from a path of [`paths`].
    pub(super) fn of(analysis: &Analysis<'_>, path: &Path) -> Owner {
        let edges = path.iter().map(|&(_, edge)| analysis.snapshot().edge(edge));
        let (mut ways, mut classes) = (Vec::new(), Vec::new());
        for edge in edges {
            ways.push(way(analysis, edge).unwrap_or_default());
            classes.push(class_word(&name(analysis, edge.target().ordinal())).to_owned());
        }
        let owner = path.first().map_or(0, |&(owner, _)| owner);
        let (class, rank) = (name(analysis, owner), analysis.rank(owner));
        if rank == Rank::Scope && is_global(&class) {
            ways[0].insert_str(0, "global");
        }
        let words = ways.iter().zip(&classes);
        let mut steps: Vec<String> = words
            .map(|(way, class)| format!("{way} {class}").trim().to_owned())
            .collect();
        steps.pop();
        let is_class = analysis.snapshot().node(owner).type_name() == "class";
        let field = match rank {
            Rank::Own => {
                steps.insert(0, format!("{}{class}", if is_class { "class " } else { "" }));
                let inside = classes.iter().take_while(|class| class.is_empty()).count();
                let fields = named(ways.iter().take(inside + 1).map(String::as_str));
                Some((without_place(&class).to_owned(), fields))
            }
            _ => steps.first().map(|first| (first.clone(), String::new())),
        };
        let field = field.map(|(class, fields)| Field {
            before: String::new(),
            class,
            fields,
            is_needed: true,
        });
        let field = variable(&class, &ways[0]).or(field);
        steps.splice(0..0, function(&class).map(str::to_owned));
        Owner {
            steps,
            way: ways.pop().unwrap_or_default(),
            field,
        }
    }
}

/// References from one object to the next, as far as they have names.
fn named<'w>(ways: impl Iterator<Item = &'w str>) -> String {
    ways.take_while(|way| way.starts_with('.') && !INNER.contains(way))
        .collect()
}

/// A variable of a function with a name.
pub(super) fn variable(scope: &str, way: &str) -> Option<Field> {
    Some(Field {
        before: format!("{way} of "),
        class: function(scope)?.strip_prefix("scope of ")?.to_owned(),
        fields: String::new(),
        is_needed: true,
    })
}

/// A scope of a function with a name.
pub(super) fn function(scope: &str) -> Option<&str> {
    Some(scope).filter(|name| is_scope(name) && name.starts_with("scope of ") && !name.contains(ANONYMOUS))
}

/// The fields from an object, which is found by `way` if it is of a library, to what holds most: up to
/// the first object of a library's class that is more than an array or a plain object.
pub(super) fn fields(merged: &Merged, way: &str, place: u32, below: &[u32]) -> Option<Field> {
    let class = merged.class(place);
    let is_inner = |at: u32| merged.rank(at) != Rank::Library || class_word(merged.class(at)).is_empty();
    let inside = below.iter().take_while(|&&at| is_inner(at)).count();
    let fields = named(below.iter().take(inside + 1).map(|&at| merged.way(at)));
    let is_library = merged.rank(place) == Rank::Library;
    (class == without_place(class) && !fields.is_empty()).then(|| Field {
        before: if is_library {
            format!("{way} ").trim_start().to_owned()
        } else {
            String::new()
        },
        class: class.strip_prefix("class ").unwrap_or(class).to_owned(),
        fields,
        is_needed: false,
    })
}

/// A function without its place.
fn without_place(name: &str) -> &str {
    name.rsplit_once(' ')
        .filter(|(_, place)| is_place(place))
        .map_or(name, |(function, _)| function)
}

/// Objects, each with the place of its reference to the next.
type Path = [(u32, u32)];

/// By node: the way from the nearest field of the program, or variable; or if there is none, from what
/// refers to it by a name. To an object of the program itself only the last step is of use.
///
/// # Errors
/// If there is not enough memory for the references.
pub(super) fn paths(analysis: &Analysis<'_>, nodes: &[u32]) -> Result<HashMap<u32, Vec<(u32, u32)>>, OutOfMemory> {
    struct Search {
        node: u32,
        /// By object that was looked at: its reference on the way to the node.
        next: HashMap<u32, u32>,
        open: Vec<u32>,
    }
    let target = |edge| analysis.snapshot().edge(edge).target().ordinal();
    let mut found = HashMap::new();
    let start = |&node: &u32| Search {
        node,
        next: HashMap::new(),
        open: vec![node],
    };
    let mut searches: Vec<Search> = nodes.iter().map(start).collect();
    for _ in 0..FAR {
        searches.retain(|search| (1..MANY).contains(&search.open.len()));
        let open: Vec<u32> = searches.iter().flat_map(|search| search.open.clone()).collect();
        if open.is_empty() {
            break;
        }
        let referrers = analysis.referrers(&open)?;
        for Search { node, next, open } in &mut searches {
            let (mut best, mut further) = ((0, *node), Vec::new());
            let edges = open
                .iter()
                .flat_map(|&at| referrers.to(at))
                .filter(|(_, edge)| edge.is_strong());
            for (source, edge) in edges {
                let Some(worth) = worth(analysis, source, edge).filter(|_| !holds(analysis, *node, source)) else {
                    continue;
                };
                if worth > best.0 || worth == 0 && !next.contains_key(&source) {
                    next.insert(source, edge.place());
                    further.push(source);
                }
                if worth > best.0 {
                    best = (worth, source);
                }
                if edge.target().ordinal() == *node && ["property", "field", "static"].contains(&edge.type_name()) {
                    found.entry(*node).or_insert_with(|| vec![(source, edge.place())]);
                }
            }
            if best.0 > 0 {
                let step = |at: u32| next.get(&at).map(|&edge| (at, edge));
                let path = std::iter::successors(step(best.1), |&(_, edge)| step(target(edge)));
                found.insert(*node, path.collect());
                further.clear();
            } else if analysis.rank(*node) == Rank::Own {
                further.clear();
            }
            *open = further;
        }
    }
    Ok(found)
}

/// How much a reference tells a reader: as a property of the global object, a variable or another
/// property of the program; 0 if nothing, but what refers to its source may. None if not even that.
fn worth(analysis: &Analysis<'_>, source: u32, edge: Edge<'_>) -> Option<u32> {
    let is_code = CODE.contains(&analysis.snapshot().node(source).type_name());
    let rank = analysis.rank(source);
    let way = way(analysis, edge).filter(|way| !SELVES.contains(&way.as_str()));
    match (edge.type_name(), rank) {
        _ if analysis.is_synthetic(source) || way.is_none() => None,
        // Functions of Node.js are properties of any program's.
        ("property", Rank::Scope) if name(analysis, edge.target().ordinal()).contains(" node:") => None,
        ("property", Rank::Scope) if is_global(&name(analysis, source)) => Some(4),
        ("context", Rank::Scope) => Some(3),
        ("static", Rank::Own) => Some(2),
        ("property" | "field", Rank::Own) => Some(1),
        _ => Some(0).filter(|_| !is_code),
    }
}

/// Whether it is the global object.
fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Whether every path to `other` goes through `node`, or through so many others that none of them
/// tells anything, as in a list.
pub(super) fn holds(analysis: &Analysis<'_>, node: u32, other: u32) -> bool {
    let mut up = std::iter::successors(Some(other), |&at| analysis.holder(at));
    up.by_ref().take(DEEPEST).any(|at| at == node) || up.next().is_some()
}
