//! Info tables: the facts common to all closures of one Rust type.
//!
//! An info table is a `static` that `#[derive(Closure)]` writes (or, for `MutVar<T>` and
//! `MutArray<T>`, a constant). It is 64-aligned, so that its address leaves room in the header
//! ([`super::header`]). Profilers print its name, type and module. Collectors read its [`Kind`]
//! only for closures whose layout is not in the header.

/// The count that means "variable: the payload says".
pub(crate) const VARIABLE: u8 = 255;

/// The kind of a closure, in GHC's words (`rts/storage/ClosureTypes.h`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum Kind {
    /// Immutable data: pointers, then words. `CONSTR`.
    Constr,
    /// Data with pointers that the mutator may overwrite. `MUT_PRIM`.
    MutConstr,
    /// One mutable pointer. `MUT_VAR`.
    MutVar,
    /// A mutable array of pointers; the first word of payload is its length. `MUT_ARR_PTRS`.
    MutArrPtrs,
    /// An array of bytes; the first word of payload is its length in bytes. `ARR_WORDS`.
    ArrWords,
    /// Mutable pointers and bytes whose numbers are known only at run time; the first word of
    /// payload holds both. `RECORD`. (`Header::is_sane` relies on this kind being the last one.)
    Record,
}

impl Kind {
    /// Whether closures of this kind are data of a program's own type, with named fields. Profiles
    /// know such closures by their constructor and follow their uses.
    pub const fn is_data(self) -> bool {
        matches!(self, Kind::Constr | Kind::MutConstr)
    }

    /// GHC's name, as profiles print it for closures that are not data.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Constr => "CONSTR",
            Kind::MutConstr => "MUT_PRIM",
            Kind::MutVar => "MUT_VAR",
            Kind::MutArrPtrs => "MUT_ARR_PTRS",
            Kind::ArrWords => "ARR_WORDS",
            Kind::Record => "RECORD",
        }
    }
}

/// The info table of a closure type.
#[derive(Debug)]
#[repr(align(64))]
pub struct TypeInfo {
    /// The kind of these closures.
    pub kind: Kind,
    /// Number of pointers, at the front of the payload; 255 = variable.
    pub(crate) ptrs: u8,
    /// Words of payload, pointers included; 255 = variable.
    pub(crate) words: u8,
    /// The name of the closure: the Rust type's, or the constructor's.
    pub name: &'static str,
    /// The module that defines it (`module_path!()`).
    pub module: &'static str,
    /// The type of the pointees, where a closure is known by that too: `MutVar<T>` and
    /// `MutArray<T>` have the table of `T` here. Such a table is a constant, and the compiler may
    /// make several copies of it: two tables describe one type if kind and element are equal,
    /// wherever the tables lie.
    pub element: Option<&'static TypeInfo>,
    /// The name of the Rust type, where the closure has another name.
    pub(crate) type_name: Option<&'static str>,
}

impl TypeInfo {
    /// Makes the info table of closures with `ptrs` pointers, then `words - ptrs` words of other
    /// data.
    ///
    /// # Panics
    /// At compile time, when used in a `static`: if there are more pointers than words, or 255
    /// words or more (larger closures are arrays or records).
    pub const fn fixed(kind: Kind, name: &'static str, module: &'static str, ptrs: usize, words: usize) -> TypeInfo {
        assert!(ptrs <= words, "a closure has at least as many words as pointers");
        assert!(
            words < VARIABLE as usize,
            "a closure of fixed layout has at most 254 words of payload"
        );
        TypeInfo {
            kind,
            ptrs: ptrs as u8,
            words: words as u8,
            name,
            module,
            element: None,
            type_name: None,
        }
    }

    /// The same table, for closures whose pointers lead to closures that `element` describes.
    pub(crate) const fn of(self, element: &'static TypeInfo) -> TypeInfo {
        TypeInfo {
            element: Some(element),
            ..self
        }
    }

    /// Makes the info table of closures that carry their size in the first word of their payload.
    pub(crate) const fn variable(kind: Kind, name: &'static str) -> TypeInfo {
        let ptrs = if matches!(kind, Kind::ArrWords) { 0 } else { VARIABLE };
        TypeInfo {
            kind,
            ptrs,
            words: VARIABLE,
            name,
            module: "gclab_core",
            element: None,
            type_name: None,
        }
    }

    /// The same table, for closures of the Rust type with this name.
    #[doc(hidden)]
    pub const fn of_type(self, name: &'static str) -> TypeInfo {
        TypeInfo {
            type_name: Some(name),
            ..self
        }
    }

    /// The name of the type. Several types may share one name of closures: `MutArray<Tree>`.
    pub fn type_name(&self) -> String {
        let name = self.type_name.unwrap_or(self.name);
        match self.element {
            Some(element) => format!("{name}<{}>", element.type_name()),
            None => name.to_owned(),
        }
    }
}
