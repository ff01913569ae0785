//! One definition of a record: the Rust type, the JSON keys and the tables of `docs/results.md`
//! come from the same lines.
//!
//! `documented!` takes a plain struct in which each field has a comment. It makes the struct (with
//! serde) and a table of its fields from the comments. The struct needs a `Default`: a record is
//! read into that, key by key. (serde's own derive keeps every field in a variable until the end of
//! the object; of structs with sixty fields the compiler makes much larger code of it, in three
//! times the time.) A field that older files may lack ends in
//! `= default`. With `from source: Type` after the name of the struct, each field ends in
//! `=> value`, and the struct is made from a `Type` by these values. The tables of
//! `docs/results.md` are made from the table of fields, and `tests/it/docs.rs` fails when the page
//! is out of date.
//!
//! A field with `#[shown("title", Unit)]` is a figure of reports and CSV files, under this title
//! and in this unit: `Record::SHOWN` has them.
//!
//! Rule of absence: an `Option` that is `None` is not written at all, and a missing key or a `null`
//! reads as `None`. serde_json writes numbers that are not finite as `null`, so that they are read
//! as absent, too.

use crate::unit::Unit;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::fmt;

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

/// A field of a record `R` that reports show.
#[derive(Debug)]
pub struct Shown<R> {
    /// The key in the JSON object, which is the name of the column in CSV files.
    pub key: &'static str,
    /// The name in tables and charts.
    pub title: &'static str,
    /// The unit in which it is written.
    pub unit: Unit,
    /// Reads it from the record; `None` where the record does not have it.
    pub of: fn(&R) -> Option<f64>,
}

/// The way in which the figures of all collections make one of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Their sum.
    Sum,
    /// The largest one.
    Most,
}

/// A field that has a number to show.
pub(crate) trait Number {
    /// The number, unless it is absent.
    fn number(&self) -> Option<f64>;
}

impl Number for Option<u64> {
    fn number(&self) -> Option<f64> {
        self.map(|count| count as f64)
    }
}

impl Number for Option<f64> {
    fn number(&self) -> Option<f64> {
        *self
    }
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
    /// Whether a missing key reads as the default.
    const MAY_BE_ABSENT: bool = false;

    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    const MAY_BE_ABSENT: bool = true;

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// Whether a field ends in `= default`.
pub(crate) const fn is_default(word: &str) -> bool {
    !word.is_empty()
}

/// The keys of an object that is read into a struct.
pub(crate) struct Keys {
    fields: &'static [Field],
    found: Vec<bool>,
    /// The place after that of the last key: most objects have their keys in the order of the
    /// fields.
    next: usize,
}

impl Keys {
    /// No key of an object with these fields.
    pub(crate) fn new(fields: &'static [Field]) -> Keys {
        Keys {
            fields,
            found: vec![false; fields.len()],
            next: 0,
        }
    }

    /// Reads the next key: the place of its field, or a place beyond all of them if there is no
    /// such field.
    pub(crate) fn next<'de, A: MapAccess<'de>>(&mut self, entries: &mut A) -> Result<Option<usize>, A::Error> {
        let Some(place) = entries.next_key_seed(Key(self))? else {
            return Ok(None);
        };
        if let Some(found) = self.found.get_mut(place) {
            if std::mem::replace(found, true) {
                return Err(A::Error::duplicate_field(self.fields[place].name));
            }
            self.next = place + 1;
        }
        Ok(Some(place))
    }

    fn place(&self, key: &str) -> usize {
        let is_key = |field: &Field| field.name == key;
        let (before, after) = self.fields.split_at(self.next);
        let after = after.iter().position(is_key).map(|place| place + self.next);
        let place = after.or_else(|| before.iter().position(is_key));
        place.unwrap_or(self.fields.len())
    }

    /// Checks that there was a key for each field that is not optional.
    pub(crate) fn all_found<E: Error>(&self, optional: &[bool]) -> Result<(), E> {
        let found = self.found.iter().zip(optional);
        match found
            .zip(self.fields)
            .find(|((found, optional), _)| !**found && !**optional)
        {
            Some((_, field)) => Err(E::missing_field(field.name)),
            None => Ok(()),
        }
    }
}

/// Reads a key as the place of its field.
struct Key<'k>(&'k Keys);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("field identifier")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<usize, E> {
        Ok(self.0.place(key))
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
        $(
            $(#[doc = $meaning:literal])+ $(#[shown($title:literal, $unit:ident)])?
            pub $field:ident : $type:ty $(= $default:ident)?,
        )*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $meaning])+
                #[serde(skip_serializing_if = "crate::schema::Absent::is_absent")]
                pub $field: $type,
            )*
        }

        impl $crate::schema::Absent for $name {}

        const _: () = {
            use $crate::schema::{Absent, Documented, is_default};
            use serde::de::{Deserialize, Deserializer, MapAccess};

            #[allow(non_camel_case_types, reason = "they are the names of fields")]
            enum Place {
                $($field),*
            }

            /// Whether each key may be missing.
            const OPTIONAL: &[bool] = &[
                $(<$type as Absent>::MAY_BE_ABSENT || is_default(stringify!($($default)?))),*
            ];

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                    from.deserialize_struct($name::NAME, &[], Visitor)
                }
            }

            struct Visitor;

            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = $name;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(concat!("struct ", stringify!($name)))
                }

                fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<$name, A::Error> {
                    let mut made = $name::default();
                    let mut keys = $crate::schema::Keys::new($name::FIELDS);
                    while let Some(place) = keys.next(&mut entries)? {
                        match place {
                            $(_ if place == Place::$field as usize => made.$field = entries.next_value()?,)*
                            _ => {
                                entries.next_value::<serde::de::IgnoredAny>()?;
                            }
                        }
                    }
                    keys.all_found(OPTIONAL)?;
                    Ok(made)
                }
            }
        };

        impl $name {
            /// The fields that reports show.
            pub const SHOWN: &'static [$crate::schema::Shown<$name>] = &[
                $($($crate::schema::Shown {
                    key: stringify!($field),
                    title: $title,
                    unit: $crate::Unit::$unit,
                    of: |record| $crate::schema::Number::number(&record.$field),
                },)?)*
            ];
        }

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
        $(
            $(#[doc = $meaning:literal])+ $(#[shown($title:literal, $unit:ident)])?
            pub $field:ident : $type:ty $(= $default:ident)? => $value:expr,
        )*
    }) => {
        $crate::schema::documented! {
            $(#[$meta])* pub struct $name {
                $( $(#[doc = $meaning])+ $(#[shown($title, $unit)])? pub $field : $type $(= $default)?, )*
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
