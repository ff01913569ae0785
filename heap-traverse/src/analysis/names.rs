//! Objects by name. The name is that of the class, if the file has one; other objects, such as
//! strings, whose names are their texts, count together under their type.

use super::classes::Classes;
use crate::memory::{OutOfMemory, push, with_capacity};
use gclab_snapshot::{Node, Snapshot};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Types whose names are class names. Names of other types are values, or empty.
const NAMED: [&str; 9] = [
    "object",
    "native",
    "closure",
    "object array",
    "primitive array",
    "constructor",
    "function",
    "thunk",
    "CAF",
];

/// Classes of every program, which say nothing about this one.
const CONTAINERS: [&str; 12] = [
    "Object",
    "Array",
    "Map",
    "Set",
    "WeakMap",
    "WeakSet",
    "MUT_VAR",
    "MVAR",
    "TVAR",
    "MUT_ARR_PTRS",
    "SMALL_MUT_ARR_PTRS",
    "STACK",
];
/// The variables of a function that closures use: of one that is known, and of another.
const SCOPES: [&str; 2] = ["scope of ", "system / Context"];
/// What V8's names of its own objects begin with.
const INTERNAL: &str = "system / ";
/// The beginnings of names of such classes: of V8, of the JDK, and of GHC's own packages.
const LIBRARIES: [&str; 22] = [
    INTERNAL,
    "blink::",
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "GHC.",
    "Control.",
    "Foreign.",
    "System.",
    "Data.Map.",
    "Data.Set.",
    "Data.IntMap.",
    "Data.IntSet.",
    "Data.Sequence.",
    "Data.ByteString.",
    "Data.Text.",
    "Data.Array.",
    "stg_",
    "ARR_WORDS",
    "TSO",
];
/// Such classes whose names may begin those of others: of JavaScript, and of events in Chrome.
const BUILT_IN: [&str; 19] = [
    "ArrayBuffer",
    "SharedArrayBuffer",
    "DataView",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
    "Promise",
    "Generator",
    "native_bind",
    "EventListener",
    "V8EventListener",
];
/// The start of a constant's name, which its module follows.
const CONSTANT: &str = "CAF ";

/// Characters kept of a name.
const LONGEST: usize = 200;

/// What the name of a class tells a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// It is a class of the program, or a function.
    Own,
    /// It is a class of the language's libraries: an array, a map, a plain object.
    Library,
    /// It is the scope of a function, or of the whole program.
    Scope,
}

/// The names of all classes. Classes of several types may share a name, and those without one are
/// named by their type, in brackets.
#[derive(Debug)]
pub struct Names {
    /// By class: the number of its name.
    of: Vec<u32>,
    all: Vec<String>,
    /// By number.
    ranks: Vec<Rank>,
}

impl Names {
    /// Collects the names of all classes.
    ///
    /// # Errors
    /// If there is not enough memory for a text for each.
    pub fn of(snapshot: &Snapshot, classes: &Classes) -> Result<Self, OutOfMemory> {
        let (mut names, mut numbers) = (
            Names {
                of: Vec::new(),
                all: Vec::new(),
                ranks: Vec::new(),
            },
            HashMap::new(),
        );
        let mut number_of = |text: String, all: &mut Vec<String>| {
            numbers.try_reserve(1).map_err(|_| OutOfMemory)?;
            let number = *numbers.entry(text).or_insert_with_key(|text| {
                all.push(text.clone());
                all.len() as u32 - 1
            });
            Ok(number)
        };
        let mut of_type = vec![None; snapshot.node_type_names().len()];
        for class in 0..classes.len() as u32 {
            let node = snapshot.node(classes.figures(class).first);
            let kind = usize::from(node.type_index());
            let text = || text(snapshot, node.name_index());
            let number = match node.type_name() {
                kind @ ("class" | "CAF") => number_of(format!("{kind} {}", text()), &mut names.all)?,
                _ if has_class_name(snapshot, node.ordinal()) => number_of(text().into_owned(), &mut names.all)?,
                "hidden" if text().starts_with(INTERNAL) => {
                    number_of(format!("({})", &text()[INTERNAL.len()..]), &mut names.all)?
                }
                // Names are texts of the program: there may be many, and long ones.
                name => match of_type[kind] {
                    Some(number) => number,
                    None => *of_type[kind].insert(number_of(format!("({name})"), &mut names.all)?),
                },
            };
            push(&mut names.of, number)?;
            if number as usize == names.ranks.len() {
                push(&mut names.ranks, rank_of(node, &names.all[number as usize]))?;
            }
        }
        Ok(names)
    }

    /// The name of a class, by its number in [`Classes`].
    pub fn number(&self, class: u32) -> u32 {
        self.of[class as usize]
    }

    /// What each name tells a reader, by number.
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// All names, by number.
    pub fn all(&self) -> &[String] {
        &self.all
    }
}

/// A string of the file for a name, on one line, cut if it is very long.
pub(super) fn text(snapshot: &Snapshot, index: Option<u32>) -> Cow<'_, str> {
    let text = index.map_or(Cow::Borrowed(""), |index| snapshot.strings().start(index, LONGEST));
    match text.contains(char::is_control) {
        true => Cow::Owned(text.replace(char::is_control, " ")),
        false => text,
    }
}

/// Whether objects of a class may hold anything, so that one inside another does not make a list.
pub(super) fn is_container(name: &str) -> bool {
    CONTAINERS.contains(&name) || is_scope(name) || name.ends_with("[]") || name.starts_with(['{', '('])
}

/// Whether objects of a class only link the contents of a collection, such as `HashMap$Node`.
pub fn is_entry(name: &str) -> bool {
    name.contains('$') && ["Node", "Entry"].iter().any(|end| name.ends_with(end)) && rank(name) == Rank::Library
}

/// Whether objects of a class are the variables of a function.
pub fn is_scope(name: &str) -> bool {
    SCOPES.iter().any(|scope| name.starts_with(scope))
}

/// What the name of a class tells a reader.
pub fn rank(name: &str) -> Rank {
    let name = name.strip_prefix(CONSTANT).unwrap_or(name);
    if name.contains(" node:") {
        Rank::Library
    } else if is_scope(name) || ["global", "globalThis"].contains(&name) {
        Rank::Scope
    } else if is_container(name)
        || BUILT_IN.contains(&name)
        || LIBRARIES.iter().any(|library| name.starts_with(library))
    {
        Rank::Library
    } else {
        Rank::Own
    }
}

/// What the name of a node's class tells a reader.
pub(super) fn rank_of(node: Node<'_>, name: &str) -> Rank {
    if node.is_built_in() { Rank::Library } else { rank(name) }
}

/// The number and the bytes of some objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number of objects.
    pub count: u64,
    /// The bytes of all of them.
    pub bytes: u64,
}

impl Sum {
    pub(super) fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

/// The objects of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// A node that has the name, or the type in place of a name.
    pub example: u32,
    /// The objects of this name.
    pub sum: Sum,
}

/// Whether the name of a node is a class name.
pub(super) fn has_class_name(snapshot: &Snapshot, node: u32) -> bool {
    let node = snapshot.node(node);
    match node.type_name() {
        // V8 hides proxies among its own objects.
        "hidden" => node.name() == "system / JSProxy",
        kind => NAMED.contains(&kind) && node.name_bytes() > 0,
    }
}

/// The `count` names whose objects have the most bytes of their own, most bytes first; of equals,
/// the one that sorts first. A name shared by several types counts as one. Takes four bytes a
/// class.
pub(super) fn census(snapshot: &Snapshot, classes: &Classes, count: usize) -> Result<Vec<Named>, OutOfMemory> {
    let key = |class: &u32| {
        let own = snapshot.node(classes.figures(*class).first);
        if has_class_name(snapshot, own.ordinal()) {
            (0, own.name_index().map_or(&[][..], |name| snapshot.strings().raw(name)))
        } else {
            (1, own.type_name().as_bytes())
        }
    };
    let mut by_name: Vec<u32> = with_capacity(classes.len())?;
    by_name.extend(0..classes.len() as u32);
    by_name.sort_unstable_by(|one, other| (key(one), one).cmp(&(key(other), other)));
    // The largest so far, with the least of them on top.
    let mut largest = BinaryHeap::new();
    for (place, same) in (0_usize..).zip(by_name.chunk_by(|one, other| key(one) == key(other))) {
        let mut sum = Sum::default();
        for &class in same {
            let figures = classes.figures(class);
            sum.add(Sum {
                count: u64::from(figures.count),
                bytes: figures.shallow,
            });
        }
        let example = classes.figures(same[0]).first;
        largest.push((Reverse(sum.bytes), place, example, sum.count));
        if largest.len() > count {
            largest.pop();
        }
    }
    let named = |(Reverse(bytes), _, example, count)| Named {
        example,
        sum: Sum { count, bytes },
    };
    Ok(largest.into_sorted_vec().into_iter().map(named).collect())
}
