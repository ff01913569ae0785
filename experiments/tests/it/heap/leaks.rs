//! `gclab heap diff` on random heaps that churn, with and without a leak of a known kind.

use super::json;
use crate::support::Bench;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a heap leaks, and what its holder must be called.
const KINDS: [(Kind, &[&str]); 15] = [
    (Kind::Array, &[".items", "Leak"]),
    (Kind::Copied, &[".items", "Leak"]),
    (Kind::List("{next, v}"), &["{next, v}", "Leak"]),
    (Kind::List("Link"), &["Link", "Leak"]),
    (Kind::Appended, &["{next, v}", "Leak"]),
    (Kind::Alternating, &["Pong"]),
    (Kind::Classes, &[".head"]),
    (Kind::Swapped, &["Backend", ".rows", "Leak"]),
    (Kind::Ring, &[".ring", "Leak"]),
    (Kind::Everywhere, &["Tenant", "Leak"]),
    (Kind::OneOfMany, &["Tenant", "Leak"]),
    (Kind::Grows, &["Log"]),
    (Kind::Replaced, &["Buffer"]),
    (Kind::Doubles, &["Builder", ".value byte[]"]),
    (Kind::Shared, &["Leak"]),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// An array holds ever more.
    Array,
    /// It is replaced by a longer copy.
    Copied,
    /// A list of this class, newest first.
    List(&'static str),
    /// A list, oldest first.
    Appended,
    /// A list of two classes in turn.
    Alternating,
    /// A list in which each object has its own class.
    Classes,
    /// An array in the field of an object that is replaced by one of another class.
    Swapped,
    /// A list in both directions.
    Ring,
    /// Many holders that grow a little.
    Everywhere,
    /// One of many equal holders grows.
    OneOfMany,
    /// One object grows.
    Grows,
    /// A larger object takes the place of another.
    Replaced,
    /// A text is appended to: an array of twice the size takes the place of another.
    Doubles,
    /// Two maps hold each object.
    Shared,
}

#[derive(Default)]
struct Object {
    class: String,
    size: u64,
    /// By name of the reference, or number of the element.
    fields: BTreeMap<String, u64>,
}

/// A heap: its objects by id. That with the id 5 is the global one.
pub(super) struct Heap {
    objects: BTreeMap<u64, Object>,
    /// Those that are in V8's table of strings, too.
    interned: Vec<u64>,
    next: u64,
    random: u64,
}

impl Default for Heap {
    fn default() -> Self {
        Heap {
            objects: BTreeMap::new(),
            interned: Vec::new(),
            next: GLOBAL,
            random: 1,
        }
    }
}

const GLOBAL: u64 = 5;
const TENANTS: u64 = 40;

impl Heap {
    /// A heap with a configuration and 40 tenants.
    fn new(seed: u64) -> Self {
        let mut heap = Heap {
            random: seed * 2 + 1,
            ..Heap::default()
        };
        heap.object("global", 16);
        let app = heap.object("App", 64);
        heap.set(GLOBAL, "app", app);
        let config = heap.object("Config", 32);
        heap.set(app, "config", config);
        for section in 0..30 {
            let own = heap.object("Section", 500);
            heap.set(config, &format!("section{section}"), own);
        }
        let tenants = heap.object("Array", 16);
        heap.set(app, "tenants", tenants);
        for tenant in 0..TENANTS {
            let (own, queue) = (heap.object("Tenant", 48), heap.object("Array", 16));
            heap.set(tenants, &tenant.to_string(), own);
            heap.set(own, "queue", queue);
        }
        for (name, class) in [
            ("lru", "Map"),
            ("previous", "Map"),
            ("current", "Map"),
            ("pending", "Array"),
            ("items", "Array"),
        ] {
            let own = heap.object(class, 32);
            heap.set(app, name, own);
        }
        (0..300).for_each(|number| heap.row("lru", number));
        heap
    }

    pub(super) fn object(&mut self, class: &str, size: u64) -> u64 {
        let (id, class) = (self.next, class.to_owned());
        self.objects.insert(
            id,
            Object {
                class,
                size,
                ..Object::default()
            },
        );
        self.next += 2;
        id
    }

    pub(super) fn set(&mut self, object: u64, field: &str, value: u64) {
        self.objects
            .get_mut(&object)
            .unwrap()
            .fields
            .insert(field.to_owned(), value);
    }

    fn get(&self, object: u64, field: &str) -> Option<u64> {
        self.objects[&object].fields.get(field).copied()
    }

    fn of_app(&self, field: &str) -> u64 {
        self.get(self.get(GLOBAL, "app").unwrap(), field).unwrap()
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % most
    }

    fn row(&mut self, of: &str, number: u64) {
        let (row, text) = (self.object("Row", 60), self.object("Text", 40));
        self.set(row, "text", text);
        self.set(self.of_app(of), &number.to_string(), row);
    }

    /// What a program does that leaks nothing: it rebuilds a cache, replaces the oldest entries of
    /// another, swaps two generations, and has some requests in flight.
    fn churn(&mut self, round: u64) {
        let app = self.get(GLOBAL, "app").unwrap();
        let cache = self.object("Array", 16);
        self.set(app, "cache", cache);
        let rows = 300 + self.below(2);
        (0..rows).for_each(|number| self.row("cache", number));
        let lru = self.of_app("lru");
        for number in 0..50 {
            let oldest = round * 50 + number;
            self.objects.get_mut(&lru).unwrap().fields.remove(&oldest.to_string());
            self.row("lru", 300 + oldest);
        }
        self.set(app, "previous", self.of_app("current"));
        let current = self.object("Map", 32);
        self.set(app, "current", current);
        (0..100).for_each(|number| self.row("current", number));
        for number in 0..10 {
            let request = self.object("Request", 80 + self.next % 16);
            self.set(self.of_app("pending"), &number.to_string(), request);
        }
    }

    fn leak(&mut self) -> u64 {
        let (leak, data) = (self.object("Leak", 40), self.object("Data", 60));
        self.set(leak, "data", data);
        leak
    }

    fn grow(&mut self, kind: Kind, count: u64, round: u64) {
        let app = self.get(GLOBAL, "app").unwrap();
        if let Kind::Copied = kind {
            let copy = self.object("Array", 16);
            self.objects.get_mut(&copy).unwrap().fields = self.objects[&self.of_app("items")].fields.clone();
            self.set(app, "items", copy);
        }
        if let Kind::Swapped = kind {
            let backend = self.object(&format!("Backend{round}"), 32);
            let rows = match self.get(app, "backend") {
                Some(before) => self.get(before, "rows").unwrap(),
                None => self.object("Array", 16),
            };
            self.set(backend, "rows", rows);
            self.set(app, "backend", backend);
        }
        for number in 0..count {
            let index = (round * count + number).to_string();
            let link = |class: &str, heap: &mut Heap| {
                let (link, leak) = (heap.object(class, 32), heap.leak());
                heap.set(link, "v", leak);
                link
            };
            match kind {
                Kind::Array | Kind::Copied => {
                    let leak = self.leak();
                    self.set(self.of_app("items"), &index, leak);
                }
                Kind::Swapped => {
                    let leak = self.leak();
                    self.set(self.get(self.of_app("backend"), "rows").unwrap(), &index, leak);
                }
                Kind::List(_) | Kind::Alternating | Kind::Classes => {
                    let class = match kind {
                        Kind::List(class) => class.to_owned(),
                        Kind::Classes => format!("C{index}"),
                        _ if number % 2 == 0 => "Ping".to_owned(),
                        _ => "Pong".to_owned(),
                    };
                    let head = link(&class, self);
                    if let Some(next) = self.get(app, "head") {
                        self.set(head, "next", next);
                    }
                    self.set(app, "head", head);
                }
                Kind::Appended => {
                    let last = link("{next, v}", self);
                    match self.get(app, "tail") {
                        Some(tail) => self.set(tail, "next", last),
                        None => self.set(app, "head", last),
                    }
                    self.set(app, "tail", last);
                }
                Kind::Ring => {
                    let ring = self
                        .get(app, "ring")
                        .unwrap_or_else(|| self.object("{next, previous}", 32));
                    self.set(app, "ring", ring);
                    let (link, last) = (link("Link", self), self.get(ring, "previous").unwrap_or(ring));
                    for (from, field, to) in [
                        (last, "next", link),
                        (link, "previous", last),
                        (link, "next", ring),
                        (ring, "previous", link),
                    ] {
                        self.set(from, field, to);
                    }
                }
                Kind::Everywhere | Kind::OneOfMany => {
                    let tenant = if let Kind::OneOfMany = kind {
                        7
                    } else {
                        number % TENANTS
                    };
                    let tenant = self.get(self.of_app("tenants"), &tenant.to_string()).unwrap();
                    let leak = self.leak();
                    self.set(self.get(tenant, "queue").unwrap(), &index, leak);
                }
                Kind::Shared => {
                    let leak = self.leak();
                    for map in ["byName", "byNumber"] {
                        let own = self.get(GLOBAL, map).unwrap_or_else(|| self.object("Map", 32));
                        self.set(GLOBAL, map, own);
                        self.set(own, &index, leak);
                    }
                }
                Kind::Grows | Kind::Replaced | Kind::Doubles => {}
            }
        }
        if let Kind::Doubles = kind {
            let builder = self.get(app, "text").unwrap_or_else(|| self.object("Builder", 24));
            let array = self.object("byte[]", (count * 100) << round);
            self.set(app, "text", builder);
            return self.set(builder, "value", array);
        }
        let (class, size) = match kind {
            Kind::Grows => ("Log", 0),
            Kind::Replaced => ("Buffer", round * count * 100),
            _ => return,
        };
        let own = self
            .get(app, "own")
            .filter(|_| size == 0)
            .unwrap_or_else(|| self.object(class, size));
        self.set(app, "own", own);
        self.objects.get_mut(&own).unwrap().size += count * 100;
    }

    /// The reachable part as a snapshot: with the ids of its objects, or as our dumps have it, in
    /// another order and with other ids each time.
    pub(super) fn snapshot(&mut self, by_id: bool) -> String {
        let (mut order, mut open) = (Vec::new(), vec![GLOBAL]);
        let mut place = BTreeMap::new();
        while let Some(id) = open.pop() {
            if place.insert(id, 0).is_none() {
                open.extend(self.objects[&id].fields.values());
                order.push(id);
            }
        }
        if !by_id {
            for at in 2..order.len() {
                let other = 1 + self.below(at as u64) as usize;
                order.swap(at, other);
            }
        }
        order
            .iter()
            .enumerate()
            .for_each(|(at, id)| *place.get_mut(id).unwrap() = at + 2);
        let roots = if by_id { "(Internalized strings)" } else { "(Frames)" };
        let (mut strings, mut numbers) = (vec![String::new(), roots.to_owned()], BTreeMap::new());
        let mut string = |text: &str| {
            *numbers.entry(text.to_owned()).or_insert_with(|| {
                strings.push(text.to_owned());
                strings.len() - 1
            })
        };
        let interned = || self.interned.iter().map(|id| format!(",1,0,{}", 5 * place[id]));
        let mut nodes = format!("0,0,1,0,2,0,1,3,0,{}", interned().len());
        let mut edges = "1,0,5,1,0,10".to_owned();
        edges.extend(interned());
        let mut count = 2 + interned().len();
        for (at, id) in order.iter().enumerate() {
            let own = &self.objects[id];
            let shown = if by_id { *id } else { 2 * at as u64 + 5 };
            let _ = write!(
                nodes,
                ",1,{},{shown},{},{}",
                string(&own.class),
                own.size,
                own.fields.len()
            );
            count += own.fields.len();
            for (name, to) in &own.fields {
                let (kind, name) = name.parse().map_or_else(|_| (0, string(name)), |index| (1, index));
                let _ = write!(edges, ",{kind},{name},{}", 5 * place[to]);
            }
        }
        format!(
            r#"{{"snapshot":{{"meta":{{"node_fields":["type","name","id","self_size","edge_count"],
            "node_types":[["synthetic","object"],"string","number","number","number"],
            "edge_fields":["type","name_or_index","to_node"],"edge_types":[["property","element"],"string_or_number","node"]}},
            "node_count":{},"edge_count":{count}}},"nodes":[{nodes}],"edges":[{edges}],"strings":{}}}"#,
            order.len() + 2,
            serde_json::to_string(&strings).unwrap()
        )
    }
}

/// The difference of `files` snapshots of a heap that churns and may leak, and the bytes that it
/// leaked between the first and the last.
fn difference(seed: u64, kind: Option<Kind>, by_id: bool, files: u64) -> (Value, u64) {
    let bench = Bench::new();
    let mut heap = Heap::new(seed);
    let count = 150 + heap.below(100);
    let mut names = Vec::new();
    heap.churn(0);
    for round in 0..files {
        heap.churn(round + 1);
        if let Some(kind) = kind {
            heap.grow(kind, count, round);
        }
        names.push(format!("{round}.heapsnapshot"));
        bench.write(names.last().unwrap(), &heap.snapshot(by_id));
    }
    let words: Vec<&str> = ["heap", "diff", "--json"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    (json(&bench.gclab(&words).exits(0).stdout), (files - 1) * count * 100)
}

#[test]
fn a_leak_of_any_kind_is_told_from_churn_and_its_holder_is_named() {
    let mut wrong = Vec::new();
    for (seed, (kind, names)) in (0..).zip(KINDS) {
        for (by_id, files) in [(true, 2), (true, 3), (false, 2), (false, 3)] {
            let (report, leaked) = difference(seed, Some(kind), by_id, files);
            let first = &report["holders"][0];
            let bytes = first["bytes"].as_u64().unwrap_or_default();
            let said = first.to_string();
            let is_named = names.iter().all(|name| said.contains(name));
            if report["leak"] != true || !is_named || !(leaked * 3 / 4..=leaked * 5 / 3).contains(&bytes) {
                wrong.push(format!("{kind:?} by id {by_id}, {files} files, {leaked} bytes: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first line for a heap that churns, by what it also has in each round.
fn first_line(by_id: bool, rounds: impl IntoIterator<Item = impl Fn(&mut Heap)>) -> String {
    let bench = Bench::new();
    let mut heap = Heap::new(1);
    let mut words = vec!["heap".to_owned(), "diff".to_owned()];
    heap.churn(0);
    for (round, own) in (0..).zip(rounds) {
        heap.churn(round + 1);
        own(&mut heap);
        words.push(format!("{round}.heapsnapshot"));
        bench.write(&words[words.len() - 1], &heap.snapshot(by_id));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = bench.gclab(&words).exits(0).stdout;
    text.lines().next().unwrap().to_owned()
}

/// A buffer that is full is replaced by one of twice the size, and then has room.
#[test]
fn a_buffer_that_doubles_in_one_step_of_several_is_what_grew() {
    for (by_id, sizes) in [true, false]
        .into_iter()
        .flat_map(|by_id| [[1, 2, 2], [1, 1, 2]].map(|sizes| (by_id, sizes)))
    {
        let double = |size: u64| {
            move |heap: &mut Heap| {
                let app = heap.get(GLOBAL, "app").unwrap();
                let builder = heap.get(app, "text").unwrap_or_else(|| heap.object("Builder", 24));
                let array = heap.object("byte[]", size * 30_000);
                heap.set(app, "text", builder);
                heap.set(builder, "value", array);
            }
        };
        let line = first_line(by_id, sizes.map(double));
        let is_told = line.starts_with("30.0 kB new, but not in every step: .text Builder");
        assert!(
            is_told && line.ends_with(" > .value byte[]"),
            "by id {by_id}, {sizes:?}: {line}"
        );
    }
}

#[test]
fn a_cache_that_grows_less_and_less_is_no_leak() {
    for (by_id, rows) in [(true, [0, 600, 600]), (false, [0, 600, 600]), (true, [0, 500, 600])] {
        let fill = |count: u64| move |heap: &mut Heap| (0..count).for_each(|number| heap.row("items", number));
        let line = first_line(by_id, rows.map(fill));
        let is_told = line.starts_with("No leak: 60.0 kB new, little in the last step: App.items ");
        assert!(
            is_told && line.ends_with(" holds 600 Row"),
            "by id {by_id}, {rows:?}: {line}"
        );
    }
}

/// It is less than a hundredth of the heap, and beside a cache that was filled. A kilobyte is what any heap
/// varies by.
#[test]
fn a_leak_that_grows_by_little_in_every_step_is_told() {
    for (by_id, leaks) in [(true, 100), (false, 100), (true, 5)] {
        let grow = |round: u64| {
            move |heap: &mut Heap| {
                heap.grow(Kind::Array, leaks, round);
                let ballast = heap.object("Ballast", 4_000_000);
                heap.set(GLOBAL, "ballast", ballast);
                (0..[0, 300, 300][round as usize]).for_each(|number| heap.row("pending", 1000 + number));
            }
        };
        let line = first_line(by_id, [0, 1, 2].map(grow));
        let is_right = match leaks {
            100 => {
                line.starts_with("20.0 kB of ") && line.ends_with(" kB new, 10.0 kB a step: App.items holds 200 Leak")
            }
            _ => line.starts_with("No leak: "),
        };
        assert!(is_right, "by id {by_id}, {leaks} in each step: {line}");
    }
}

/// The entries of the inner maps were taken for those of the outer one, or the map for a list.
#[test]
fn maps_in_maps_are_told_by_what_the_program_put_into_them() {
    let hash = "java.util.HashMap";
    let [table, node] = [format!("{hash}$Node[]"), format!("{hash}$Node")];
    let java = [(hash, "table"), (&table, "0"), (&node, "value")];
    let script = [("Map", "table"), ("(array)", "0")];
    for (by_id, map) in [(true, &java[..]), (false, &java), (true, &script), (false, &script)] {
        let fill = |round: u64| {
            move |heap: &mut Heap| {
                for number in 0..300 {
                    // Each has its own map of maps of maps, and is smaller than these.
                    let mut value = heap.object("Leak", 16);
                    for (class, field) in map.iter().rev().cycle().take(3 * map.len()) {
                        let above = heap.object(class, 60);
                        heap.set(above, field, value);
                        value = above;
                    }
                    heap.set(heap.of_app("items"), &(300 * round + number).to_string(), value);
                }
            }
        };
        let line = first_line(by_id, [0, 1, 2].map(fill));
        let is_told = line.ends_with(": App.items holds 600 Leak");
        assert!(is_told, "by id {by_id}: {line}");
    }
}

/// Where objects have no ids, those that moved look new at their place.
#[test]
fn objects_that_move_to_what_grows_are_not_new() {
    let grow = |round: u64| {
        move |heap: &mut Heap| {
            let app = heap.get(GLOBAL, "app").unwrap();
            if round == 0 {
                for (field, class) in [("store", "Store"), ("backlog", "Backlog")] {
                    let own = heap.object(class, 32);
                    heap.set(app, field, own);
                }
            }
            let (store, backlog) = (heap.of_app("store"), heap.of_app("backlog"));
            for number in 0..300 {
                let task = heap.object("Task", 100);
                heap.set(backlog, &(1000 * round + number).to_string(), task);
            }
            for number in 0..100 {
                let field = (1000 * round + 900 + number).to_string();
                if round == 0 {
                    for later in [1, 2] {
                        let task = heap.object("Task", 100);
                        heap.set(store, &(1000 * later + 900 + number).to_string(), task);
                    }
                } else {
                    let task = heap.objects.get_mut(&store).unwrap().fields.remove(&field).unwrap();
                    heap.set(backlog, &field, task);
                }
            }
        }
    };
    let line = first_line(false, [0, 1, 2].map(grow));
    let bytes: f64 = line.split(' ').next().unwrap().parse().unwrap();
    assert!(bytes < 65.0 && line.ends_with(" holds 600 Task"), "{line}");
}

/// A thread refers to the queue of an executor, too, so that the executor does not hold what is in it.
#[test]
fn an_object_of_a_library_is_named_by_the_field_of_the_program_that_leads_to_it() {
    for by_id in [true, false] {
        let grow = |round: u64| {
            move |heap: &mut Heap| {
                if round == 0 {
                    let app = heap.get(GLOBAL, "app").unwrap();
                    let pool = "java.util.concurrent.ThreadPoolExecutor";
                    let [timer, thread] = [pool, "java.lang.Thread"].map(|class| heap.object(class, 32));
                    let queue = heap.object("java.util.concurrent.DelayQueue", 32);
                    heap.set(app, "timer", timer);
                    heap.set(timer, "queue", queue);
                    heap.set(GLOBAL, "0", thread);
                    heap.set(thread, "target", queue);
                }
                let app = heap.get(GLOBAL, "app").unwrap();
                let queue = heap.get(heap.get(app, "timer").unwrap(), "queue").unwrap();
                for number in 0..300 {
                    let leak = heap.leak();
                    heap.set(queue, &(300 * round + number).to_string(), leak);
                }
            }
        };
        let line = first_line(by_id, [0, 1, 2].map(grow));
        assert!(
            line.ends_with(" a step: App.timer holds 600 Leak"),
            "by id {by_id}: {line}"
        );
    }
}

/// Each thread of a pool has one of a library's objects for its variable, and another holds most each
/// time.
#[test]
fn what_threads_hold_is_told_by_its_class_whichever_holds_most() {
    let map = "java.lang.ThreadLocal$ThreadLocalMap";
    let [table, entry] = [format!("{map}$Entry[]"), format!("{map}$Entry")];
    for most in [1, 8] {
        let grow = |round: u64| {
            let chain = [
                (&*entry, "value"),
                (&table, "0"),
                (map, "table"),
                ("java.lang.Thread", "threadLocals"),
            ];
            move |heap: &mut Heap| {
                for thread in 0..4 {
                    let own = heap.of_app("pending");
                    let size = 10_000 * (round + 1) * if thread == round { most } else { 1 };
                    let mut value = heap.object("byte[]", size);
                    for (class, field) in chain {
                        let above = heap.object(class, 16);
                        heap.set(above, field, value);
                        value = above;
                    }
                    heap.set(own, &(20 + thread).to_string(), value);
                }
            }
        };
        let line = first_line(false, [0, 1, 2].map(grow));
        let is_told = line.ends_with(" a step: App.pending holds 4 byte[]");
        assert!(is_told, "{most}: {line}");
    }
}

/// A set of texts, which are keys of an object: V8 has them in a table, too.
#[test]
fn a_table_of_all_strings_holds_none_that_an_object_has() {
    let add = |round: u64| {
        move |heap: &mut Heap| {
            let app = heap.get(GLOBAL, "app").unwrap();
            let seen = heap.get(app, "seen").unwrap_or_else(|| heap.object("Seen", 24));
            heap.set(app, "seen", seen);
            for number in 0..300 {
                let key = heap.object("https://example.com", 100);
                heap.set(seen, &format!("{}", round * 300 + number), key);
                heap.interned.push(key);
            }
        }
    };
    let line = first_line(true, [0, 1, 2].map(add));
    assert!(line.starts_with("60.0 kB new, 30.0 kB a step: Seen @"), "{line}");
}

/// An object holds its values, and its table of properties the keys.
#[test]
fn an_object_and_its_table_are_one_holder() {
    let add = |round: u64| {
        move |heap: &mut Heap| {
            let app = heap.get(GLOBAL, "app").unwrap();
            let names = heap.get(app, "names").unwrap_or_else(|| heap.object("Names", 24));
            heap.set(app, "names", names);
            let table = heap
                .get(names, "properties")
                .unwrap_or_else(|| heap.object("(array)", 24));
            heap.set(names, "properties", table);
            for number in round * 300..(round + 1) * 300 {
                let (key, value) = (heap.object("Key", 100), heap.object("Value", 100));
                heap.set(table, &number.to_string(), key);
                heap.set(names, &number.to_string(), value);
            }
        }
    };
    let line = first_line(true, [0, 1, 2].map(add));
    assert!(line.starts_with("120 kB new, 60.0 kB a step: Names @"), "{line}");
}

#[test]
fn a_heap_that_only_churns_has_no_leak() {
    for seed in 0..5 {
        for (by_id, files) in [(true, 2), (true, 3), (false, 2), (false, 3)] {
            let (report, _) = difference(seed, None, by_id, files);
            assert_eq!(report["leak"], false, "by id {by_id}, {files} files: {report:#}");
        }
    }
}
