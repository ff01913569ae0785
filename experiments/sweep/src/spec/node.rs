//! Values of an experiment file whose keys or types are free: read by serde, in the order of the
//! file, with their places.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use toml::Spanned;

/// A name or a text with its place.
pub(super) type Text = Spanned<String>;

/// A string or a number, as text.
pub(super) struct Word(pub String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
        match Node::deserialize(from)? {
            Node::Text(text) => Ok(Word(text)),
            _ => Err(D::Error::custom("expected a string or a number")),
        }
    }
}

pub(super) fn texts(words: Vec<Spanned<Word>>) -> Vec<Text> {
    let text = |word: Spanned<Word>| Spanned::new(word.span(), word.into_inner().0);
    words.into_iter().map(text).collect()
}

/// Any value of the file. Numbers and booleans count as their text.
pub(super) enum Node {
    Text(String),
    List(Vec<Spanned<Node>>),
    /// In the order of the file.
    Table(Vec<(Text, Spanned<Node>)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Node;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, true/false, an array or a table")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Text(value.to_string()))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Text(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Node::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Node, A::Error> {
                entries_in_order(entries).map(Node::Table)
            }
        }
        from.deserialize_any(Any)
    }
}

/// A table with free keys.
#[derive(Default)]
pub(super) struct Table(pub Vec<(Text, Spanned<Node>)>);

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Table, D::Error> {
        in_order(from).map(Table)
    }
}

/// The entries of a table in the order of the file.
pub(super) fn in_order<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<(Text, T)>, D::Error> {
    struct Entries<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(Text, T)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table")
        }
        fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
            entries_in_order(entries)
        }
    }
    from.deserialize_map(Entries(PhantomData))
}

fn entries_in_order<'de, A: MapAccess<'de>, T: Deserialize<'de>>(mut entries: A) -> Result<Vec<(Text, T)>, A::Error> {
    let mut all: Vec<(Text, T)> = Vec::new();
    while let Some(entry) = entries.next_entry()? {
        all.push(entry);
    }
    // TOML's tables are sorted by key.
    all.sort_by_key(|(key, _)| key.span().start);
    Ok(all)
}

/// A text, or a table with these keys.
enum TextOr<K> {
    Text(String),
    Table(K),
}

impl<'de, K: Deserialize<'de>> Deserialize<'de> for TextOr<K> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<K>(PhantomData<K>);
        impl<'de, K: Deserialize<'de>> Visitor<'de> for Either<K> {
            type Value = TextOr<K>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a table")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<TextOr<K>, E> {
                Ok(TextOr::Text(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<TextOr<K>, A::Error> {
                K::deserialize(MapAccessDeserializer::new(entries)).map(TextOr::Table)
            }
        }
        from.deserialize_any(Either(PhantomData))
    }
}

/// A text with its place, or else a table with these keys.
pub(super) fn text_or_table<'de, D: Deserializer<'de>, K: Deserialize<'de>>(
    from: D,
) -> Result<Result<Text, K>, D::Error> {
    let found = Spanned::<TextOr<K>>::deserialize(from)?;
    let place = found.span();
    Ok(match found.into_inner() {
        TextOr::Text(text) => Ok(Spanned::new(place, text)),
        TextOr::Table(keys) => Err(keys),
    })
}

/// One table, or an array of them.
pub(super) struct OneOrMore<T>(pub Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        OneOrMore(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table, or an array of tables")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(all)
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Vec<T>, A::Error> {
                Ok(vec![T::deserialize(MapAccessDeserializer::new(entries))?])
            }
        }
        from.deserialize_any(Either(PhantomData)).map(OneOrMore)
    }
}

/// A list with at least one item.
pub(super) struct Listed<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(from)?;
        if items.is_empty() {
            return Err(D::Error::custom("this list is empty: there would be nothing to run"));
        }
        Ok(Listed(items))
    }
}
