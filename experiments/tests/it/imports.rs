//! Import cycles between the files of a crate.
//!
//! File A imports file B if a path in A, outside tests, names an item defined in B. Paths come from
//! `use` declarations, expressions, types and macro arguments, and are resolved through `crate`,
//! `self`, `super`, imported names and re-exports. A `pub use` alone is not an import, so that a
//! parent module can be the face of its children. Methods and fields are not followed.

use crate::docs::{files, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A module path below the crate root: `["trace", "copier"]`.
type ModulePath = Vec<String>;

/// A module of a crate.
#[derive(Debug, Default)]
struct Module {
    /// Names that the module itself defines, except child modules.
    defines: BTreeSet<String>,
    /// Names that `use` brings in: name, and path as written.
    uses: Vec<(String, Vec<String>)>,
    /// The paths of `uses` that are not re-exported.
    private_uses: Vec<Vec<String>>,
    /// Paths of `use some::module::*`.
    globs: Vec<Vec<String>>,
    /// All paths that the module's code mentions.
    mentions: BTreeSet<Vec<String>>,
    /// The file that holds the module.
    file: PathBuf,
}

/// The modules of one crate.
#[derive(Debug, Default)]
struct Imports {
    modules: BTreeMap<ModulePath, Module>,
    /// The name in `extern crate self as name`.
    own_name: Option<String>,
}

/// One file importing another, with one of the names imported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Import {
    /// The importing file.
    from: PathBuf,
    /// The file that defines the name.
    to: PathBuf,
    /// The imported name.
    name: String,
}

impl Imports {
    /// Reads the crate whose root file is `root`, with all modules that it declares.
    ///
    /// # Panics
    /// If a file cannot be read or is not Rust.
    fn of(root: &Path) -> Imports {
        let mut imports = Imports::default();
        imports.read(root, root.parent().expect("a file is in a folder"), Vec::new());
        imports
    }

    /// Reads `file`, which is module `path`; its child modules are files in `folder`.
    fn read(&mut self, file: &Path, folder: &Path, path: ModulePath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(&parsed.items, file, folder, path);
    }

    fn add(&mut self, items: &[syn::Item], file: &Path, folder: &Path, path: ModulePath) {
        let mut module = Module {
            file: file.to_path_buf(),
            ..Module::default()
        };
        let mut children = Vec::new();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let syn::Item::Mod(child) = item {
                children.push(child);
                continue;
            }
            if let syn::Item::ExternCrate(item) = item
                && item.ident == "self"
            {
                self.own_name = item.rename.as_ref().map(|(_, name)| name.to_string());
            }
            module.define(item);
            module.visit_item(item);
        }
        self.modules.insert(path.clone(), module);
        for child in children {
            let name = child.ident.to_string();
            let below = [path.as_slice(), std::slice::from_ref(&name)].concat();
            if let Some((_, items)) = &child.content {
                self.add(items, file, &folder.join(&name), below);
                continue;
            }
            let given = child.attrs.iter().find_map(path_attribute);
            let candidates = match &given {
                Some(given) => vec![file.parent().expect("a file is in a folder").join(given)],
                None => vec![folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")],
            };
            if let Some(found) = candidates.iter().find(|candidate| candidate.exists()) {
                self.read(found, &folder.join(&name), below);
            }
        }
    }

    /// The imports, one for each pair of files.
    fn edges(&self) -> Vec<Import> {
        let mut edges = BTreeMap::new();
        for (at, module) in &self.modules {
            for path in module.private_uses.iter().chain(&module.mentions) {
                let Some((to, name)) = self.resolve(at, path, 0) else {
                    continue;
                };
                let to = &self.modules[&to].file;
                if *to != module.file {
                    edges.entry((module.file.clone(), to.clone())).or_insert(name);
                }
            }
        }
        edges
            .into_iter()
            .map(|((from, to), name)| Import { from, to, name })
            .collect()
    }

    /// The module that defines the item at `path`, as seen from module `at`, and the item's name.
    /// `None` for names of other crates, the prelude and local variables. `depth` bounds
    /// re-exports.
    fn resolve(&self, at: &[String], path: &[String], depth: usize) -> Option<(ModulePath, String)> {
        if depth > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let start: ModulePath = match first.as_str() {
            "crate" | "$crate" => Vec::new(),
            name if self.calls_itself(name) => Vec::new(),
            "self" => at.to_vec(),
            "super" => at.split_last()?.1.to_vec(),
            _ => return self.lookup(at, path, depth),
        };
        if rest.is_empty() {
            return Some((start, first.clone()));
        }
        if rest[0] == "super" {
            return self.resolve(&start, rest, depth + 1);
        }
        self.lookup(&start, rest, depth)
    }

    /// Resolves `path`, whose first segment is a name in module `at`.
    fn lookup(&self, at: &[String], path: &[String], depth: usize) -> Option<(ModulePath, String)> {
        let (first, rest) = path.split_first()?;
        let module = self.modules.get(at)?;
        let child = [at, std::slice::from_ref(first)].concat();
        if self.modules.contains_key(&child) {
            return match rest {
                [] => Some((child, first.clone())),
                _ => self.lookup(&child, rest, depth + 1).or(Some((child, rest[0].clone()))),
            };
        }
        if module.defines.contains(first) {
            return Some((at.to_vec(), first.clone()));
        }
        if let Some((_, target)) = module.uses.iter().find(|(name, _)| name == first) {
            if target == path {
                return None;
            }
            return self.resolve(at, &[target, rest].concat(), depth + 1);
        }
        module
            .globs
            .iter()
            .find_map(|glob| self.resolve(at, &[glob, path].concat(), depth + 1))
    }

    /// Whether the crate calls itself `name`, by `extern crate self as name`.
    fn calls_itself(&self, name: &str) -> bool {
        self.own_name.as_deref() == Some(name)
    }

    /// The import cycles: the files of each, sorted.
    fn cycles(&self) -> Vec<Vec<PathBuf>> {
        cycles(self.edges().iter().map(|edge| (edge.from.clone(), edge.to.clone())))
    }

    /// The paths named in the code of each file.
    fn mentions(&self) -> impl Iterator<Item = (&Path, String)> {
        self.modules.values().flat_map(|module| {
            let uses = module.uses.iter().map(|(_, path)| path);
            let paths = uses.chain(&module.globs).chain(&module.mentions);
            paths.map(|path| (module.file.as_path(), path.join("::")))
        })
    }
}

impl Module {
    fn define(&mut self, item: &syn::Item) {
        let name = match item {
            syn::Item::Const(item) => &item.ident,
            syn::Item::Enum(item) => &item.ident,
            syn::Item::Fn(item) => &item.sig.ident,
            syn::Item::Static(item) => &item.ident,
            syn::Item::Struct(item) => &item.ident,
            syn::Item::Trait(item) => &item.ident,
            syn::Item::Type(item) => &item.ident,
            syn::Item::Union(item) => &item.ident,
            _ => return,
        };
        self.defines.insert(name.to_string());
    }

    /// Records the names that one tree of a `use` declaration brings in.
    fn bring_in(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.bring_in(&tree.tree, path);
                path.pop();
            }
            syn::UseTree::Name(tree) if tree.ident == "self" => {
                self.uses.push((path.last().cloned().unwrap_or_default(), path.clone()));
            }
            syn::UseTree::Name(tree) => {
                let name = tree.ident.to_string();
                self.uses.push((name.clone(), [path.as_slice(), &[name]].concat()));
            }
            syn::UseTree::Rename(tree) => {
                let target = [path.as_slice(), &[tree.ident.to_string()]].concat();
                self.uses.push((tree.rename.to_string(), target));
            }
            syn::UseTree::Glob(_) => self.globs.push(path.clone()),
            syn::UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.bring_in(tree, path)),
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    /// `pub(crate)` and `pub(super)` are not imports.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let (uses, globs) = (self.uses.len(), self.globs.len());
        self.bring_in(&item.tree, &mut Vec::new());
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.private_uses
                .extend(self.uses[uses..].iter().map(|(_, path)| path.clone()));
            self.private_uses.extend(self.globs[globs..].iter().cloned());
        }
    }

    /// Macro arguments are tokens: paths in them are names joined by `::`.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(" :: ", "::");
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for word in text.split(|c| !is_part(c)) {
            let segments: Vec<String> = word.split("::").map(String::from).collect();
            if segments.len() > 1
                && segments
                    .iter()
                    .all(|segment| !segment.is_empty() && !segment.contains(':'))
            {
                self.mentions.insert(segments);
            }
        }
        visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.leading_colon.is_none() {
            self.mentions.insert(segments);
        }
        visit::visit_path(self, path);
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether the item is only for tests: `#[cfg(test)]`, `#[cfg(all(test, ..))]`, `#[test]`.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string();
            text.starts_with("test") || text.starts_with("all (test") || text.starts_with("all(test")
        }
        meta => meta.path().is_ident("test"),
    })
}

/// The path of `#[path = "..."]`.
fn path_attribute(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    let syn::Expr::Lit(value) = &meta.value else {
        return None;
    };
    match &value.lit {
        syn::Lit::Str(text) if meta.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

/// The sets of two or more nodes that reach each other, each sorted.
fn cycles<T: Ord + Clone>(edges: impl Iterator<Item = (T, T)>) -> Vec<Vec<T>> {
    let mut next: BTreeMap<T, BTreeSet<T>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(to.clone()).or_default();
        next.entry(from).or_default().insert(to);
    }
    let reached = |from: &T| {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from]);
        while let Some(node) = work.pop() {
            for to in &next[node] {
                if seen.insert(to.clone()) {
                    work.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&T, BTreeSet<T>> = next.keys().map(|node| (node, reached(node))).collect();
    let mut found = BTreeSet::new();
    for (node, reaches) in &all {
        let cycle: Vec<T> = reaches
            .iter()
            .filter(|other| all[other].contains(node))
            .cloned()
            .collect();
        if cycle.len() > 1 {
            found.insert(cycle);
        }
    }
    found.into_iter().collect()
}

/// The folders of the workspace's library crates.
fn libraries() -> Vec<PathBuf> {
    let sources = files(&root(), "rs").into_iter();
    let mut roots: Vec<PathBuf> = sources.filter(|file| file.ends_with("src/lib.rs")).collect();
    roots.sort();
    roots
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_cycle() {
    let libraries = libraries();
    assert!(libraries.len() >= 10, "{libraries:?}");
    let mut report = String::new();
    for library in libraries {
        let imports = Imports::of(&library);
        for cycle in imports.cycles() {
            writeln!(report, "{}: a cycle of {} files", library.display(), cycle.len()).unwrap();
            for edge in imports.edges() {
                if cycle.contains(&edge.from) && cycle.contains(&edge.to) {
                    writeln!(
                        report,
                        "    {} -> {}: {}",
                        edge.from.display(),
                        edge.to.display(),
                        edge.name
                    )
                    .unwrap();
                }
            }
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// loom and shuttle only see what goes through `sync`.
#[test]
fn core_takes_atomics_and_locks_from_its_sync_module() {
    let source = root().join("core/src");
    // No model checker looks at mapped memory under Miri, at the choice of a fault, or at printed
    // text.
    let exempt = ["sync", "miri_libc.rs", "mutants.rs", "stats/sink.rs"].map(|name| source.join(name));
    let unseen = ["std::sync", "core::sync", "std::thread", "parking_lot::", "crossbeam_"];
    let imports = Imports::of(&source.join("lib.rs"));
    let mentions: Vec<(&Path, String)> = imports
        .mentions()
        .filter(|(file, _)| !exempt.iter().any(|exempt| file.starts_with(exempt)))
        .collect();
    assert!(mentions.len() > 1000, "only {} paths were found", mentions.len());
    for (file, name) in mentions {
        let seen = !unseen.iter().any(|unseen| name.starts_with(unseen));
        assert!(seen, "{} names {name}", file.display());
    }
}

fn crate_of(files: &[(&str, &str)]) -> (PathBuf, Imports) {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    let folder = std::env::temp_dir().join(format!("gclab-imports-{}-{number}", std::process::id()));
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let imports = Imports::of(&folder.join("lib.rs"));
    std::fs::remove_dir_all(&folder).unwrap();
    (folder, imports)
}

#[test]
fn a_cycle_through_super_and_a_re_export_is_found() {
    let (folder, imports) = crate_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod inner; pub use inner::Thing; "),
        ("a/inner.rs", "use super::super::b; struct Thing(b::Other);"),
        ("b.rs", "struct Other; fn f(_: crate::a::Thing) {}"),
    ]);
    let cycle = ["a/inner.rs", "b.rs"].map(|file| folder.join(file)).to_vec();
    assert_eq!(imports.cycles(), [cycle]);
}

#[test]
fn a_parent_and_a_child_that_use_each_other_are_a_cycle() {
    let (_, imports) = crate_of(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod inner; pub const N: u32 = 1; fn f() { inner::g() }"),
        ("a/inner.rs", "fn g() -> u32 { super::N }"),
    ]);
    assert_eq!(imports.cycles().len(), 1);
}

#[test]
fn tests_and_downward_paths_are_not_a_cycle() {
    let (_, imports) = crate_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
        (
            "b.rs",
            "use crate::a::*; struct B(A); impl B { fn f() -> super::a::A { A } }",
        ),
    ]);
    assert!(imports.cycles().is_empty());
    assert_eq!(imports.edges().len(), 1);
}
