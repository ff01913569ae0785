//! One definition of a record: the Rust type, what is written, and what `docs/results.md` says are the same lines.
//!
//! `documented!` takes a plain struct whose fields each open with a comment and makes the struct (with serde), plus a table of
//! its fields from those comments. The tables of `docs/results.md` are made from it, and `tests/it/docs.rs` fails when the page is
//! out of date. With `from source: Type` after the struct's name, each field also says how it is got (`pub field: Type = expression`),
//! and the struct is made from a `Type`.
//!
//! Rule of absence: an `Option` that is `None` is not written at all, and a missing key or a `null` reads as `None`. Numbers
//! that are not finite are written by serde_json as `null`, so that they too come back as absent rather than as a guess.

/// One field of a record, as the documentation shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The key in the JSON object.
    pub name: &'static str,
    /// The Rust type, from which the JSON type follows; `Option` means that the key may be absent.
    pub rust_type: &'static str,
    /// What it means, with its unit.
    pub meaning: &'static str,
}

/// A record whose fields are known as data.
pub trait Documented {
    /// The name of the record in the documentation.
    const NAME: &'static str;
    /// The fields, in the order in which they are written.
    const FIELDS: &'static [Field];
}

/// Whether a value is left out of the JSON: only `None` is.
pub(crate) trait Absent {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

macro_rules! never_absent {
    ($($t:ty),*) => { $(impl Absent for $t {})* };
}
never_absent!(bool, u32, u64, f64, String);
impl<T> Absent for Vec<T> {}
impl<K, V> Absent for std::collections::BTreeMap<K, V> {}

macro_rules! documented {
    (
        $(#[$meta:meta])* pub struct $name:ident {
            $( $(#[doc = $meaning:literal])+ $(#[serde($($serde:tt)*)])? pub $field:ident : $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(
                $(#[doc = $meaning])+
                $(#[serde($($serde)*)])?
                #[serde(skip_serializing_if = "crate::schema::Absent::is_absent")]
                pub $field: $type,
            )*
        }

        impl $crate::schema::Absent for $name {}

        impl $crate::schema::Documented for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::schema::Field] = &[
                $($crate::schema::Field {
                    name: stringify!($field),
                    rust_type: stringify!($type),
                    meaning: concat!($($meaning),+),
                },)*
            ];
        }
    };
    (
        $(#[$meta:meta])* pub struct $name:ident from $source:ident : $source_type:ty {
            $( $(#[doc = $meaning:literal])+ $(#[serde($($serde:tt)*)])? pub $field:ident : $type:ty = $value:expr, )*
        }
    ) => {
        $crate::schema::documented! {
            $(#[$meta])* pub struct $name {
                $( $(#[doc = $meaning])+ $(#[serde($($serde)*)])? pub $field : $type, )*
            }
        }

        impl From<$source_type> for $name {
            fn from($source: $source_type) -> $name {
                $name { $( $field: $value, )* }
            }
        }
    };
}
pub(crate) use documented;
