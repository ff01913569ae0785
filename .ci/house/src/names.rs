//! The paths that a source file names outside its tests, wherever in the file its tests stand.

use crate::imports::{attributes, is_test};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// The paths of a source, such as `std::sync::Arc`: in `use` declarations, in code, and in the
/// arguments of macros. Items for tests only are left out, and so is all documentation.
///
/// # Panics
/// If the text is not Rust.
pub fn outside_tests(source: &str) -> BTreeSet<String> {
    let parsed = syn::parse_file(source).unwrap_or_else(|error| panic!("no Rust: {error}"));
    let mut names = Names::default();
    names.visit_file(&parsed);
    names.0
}

#[derive(Debug, Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// Notes the paths of one tree of a `use` declaration.
    fn bring_in(&mut self, tree: &syn::UseTree, path: &str) {
        match tree {
            syn::UseTree::Path(tree) => self.bring_in(&tree.tree, &format!("{path}{}::", tree.ident)),
            syn::UseTree::Name(tree) => _ = self.0.insert(format!("{path}{}", tree.ident)),
            syn::UseTree::Rename(tree) => _ = self.0.insert(format!("{path}{}", tree.ident)),
            syn::UseTree::Glob(_) => _ = self.0.insert(format!("{path}*")),
            syn::UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.bring_in(tree, path)),
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    /// An attribute names no item of another crate that the code uses.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.bring_in(&item.tree, "");
    }

    /// The arguments of a macro are tokens.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let text = call.tokens.to_string().replace(" :: ", "::").replace(":: ", "::");
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let words = text.split(|c| !is_part(c)).filter(|word| word.contains("::"));
        self.0.extend(words.map(|word| word.trim_start_matches(':').to_owned()));
        visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.0.insert(segments.join("::"));
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_behind_tests_is_read_and_tests_are_not() {
        let source = "
            #[cfg(test)]
            mod tests { use std::thread::spawn; fn f() { std::fs::read(0); } }
            #[cfg(all(test, not(miri)))]
            fn only_here() { parking_lot::Mutex::new(0) }
            use ::std::{fmt, sync::{atomic::*, Arc as Shared}};
            impl A { fn g() { ::core::sync::atomic::fence(x); say!(crossbeam_epoch::pin(), ::std::mem::take(y)); } }
        ";
        let names = outside_tests(source);
        for name in [
            "std::sync::atomic::*",
            "std::sync::Arc",
            "core::sync::atomic::fence",
            "crossbeam_epoch::pin",
            "std::mem::take",
        ] {
            assert!(names.contains(name), "{name} is not in {names:?}");
        }
        for name in ["std::thread::spawn", "std::fs::read", "parking_lot::Mutex::new"] {
            assert!(!names.contains(name), "{name} is in tests");
        }
    }
}
