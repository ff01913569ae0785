//! One definition of a record: the Rust type, the JSON keys and the tables of `docs/results.md`
//! come from the same lines.
//!
//! `documented!` takes a plain struct in which each field has a comment. It makes the struct (with
//! serde) and a table of its fields from the comments. A field that older files may lack ends in
//! `= default`. With `from source: Type` after the name of the struct, each field ends in
//! `=> value`, and the struct is made from a `Type` by these values. The tables of
//! `docs/results.md` are made from the table of fields, and `tests/it/docs.rs` fails when the page
//! is out of date.
//!
//! Rule of absence: an `Option` that is `None` is not written at all, and a missing key or a `null`
//! reads as `None`. serde_json writes numbers that are not finite as `null`, so that they are read
//! as absent, too.

/// One field of a record, as the documentation shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The key in the JSON object.
    pub name: &'static str,
    /// The Rust type, from which the JSON type follows; `Option` means that the key may be absent.
    pub rust_type: &'static str,
    /// The meaning, with the unit: the lines of the comment, each with a blank before it.
    pub meaning: &'static str,
}

/// A record with a table of its fields.
pub trait Documented {
    /// The name of the record in the documentation.
    const NAME: &'static str;
    /// The fields in the order in which they are written.
    const FIELDS: &'static [Field];
}

/// Says whether a value is left out of the JSON: only `None` is.
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
never_absent!(bool, i32, u32, u64, f64, String);
impl<T> Absent for Vec<T> {}
impl<K, V> Absent for std::collections::BTreeMap<K, V> {}

macro_rules! documented {
    ($(#[$meta:meta])* pub struct $name:ident {
        $( $(#[doc = $meaning:literal])+ pub $field:ident : $type:ty $(= $default:ident)?, )*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(
                $(#[doc = $meaning])+
                $(#[serde($default)])?
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
    ($(#[$meta:meta])* pub struct $name:ident from $source:ident : $source_type:ty {
        $( $(#[doc = $meaning:literal])+ pub $field:ident : $type:ty $(= $default:ident)? => $value:expr, )*
    }) => {
        $crate::schema::documented! {
            $(#[$meta])* pub struct $name {
                $( $(#[doc = $meaning])+ pub $field : $type $(= $default)?, )*
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
