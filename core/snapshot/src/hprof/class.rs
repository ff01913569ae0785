//! Classes of a dump.

use crate::error::Error;
use crate::hprof::cursor::{Basic, Cursor};

/// A class of a dump.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) id: u64,
    pub(super) superclass: u64,
    /// Class loader, signers, protection domain.
    pub(super) others: [u64; 3],
    /// Static fields that are references: name and value.
    pub(super) statics: Vec<(u64, u64)>,
    /// Types of all static fields.
    pub(super) static_types: Vec<Basic>,
    /// Fields that the class itself declares, in the order of an object's fields: name and type.
    pub(super) fields: Vec<(u64, Basic)>,
}

impl Class {
    /// Reads the rest of a class after its tag.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        const WHAT: &str = "the rest of a class";
        let id = cursor.id("the id of a class")?;
        cursor.skip(4, WHAT)?;
        let superclass = cursor.id(WHAT)?;
        let others = [cursor.id(WHAT)?, cursor.id(WHAT)?, cursor.id(WHAT)?];
        // Skip two reserved ids, and the size of the fields, which follows from the fields.
        cursor.skip(2 * u64::from(cursor.id_bytes) + 4, WHAT)?;
        for _ in 0..cursor.u2(WHAT)? {
            cursor.skip(2, WHAT)?;
            let basic = cursor.basic("the type of a constant")?;
            cursor.skip(u64::from(basic.bytes(cursor.id_bytes)), WHAT)?;
        }
        let (mut statics, mut static_types) = (Vec::new(), Vec::new());
        for _ in 0..cursor.u2(WHAT)? {
            let name = cursor.id(WHAT)?;
            let basic = cursor.basic("the type of a static field")?;
            static_types.push(basic);
            if basic == Basic::Object {
                statics.push((name, cursor.id(WHAT)?));
            } else {
                cursor.skip(u64::from(basic.bytes(cursor.id_bytes)), WHAT)?;
            }
        }
        let mut fields = Vec::new();
        for _ in 0..cursor.u2(WHAT)? {
            let name = cursor.id(WHAT)?;
            fields.push((name, cursor.basic("the type of a field")?));
        }
        Ok(Class {
            id,
            superclass,
            others,
            statics,
            static_types,
            fields,
        })
    }
}

/// The name of a class in Java source: `java/lang/String` is `java.lang.String`, `[[I` is
/// `int[][]`. The address of a hidden class, which differs from run to run, is left out:
/// `Main$$Lambda$14+0x00007f5a00002a40` is `Main$$Lambda$14`.
pub(super) fn source_name(name: &str) -> String {
    let address = name.rsplit_once(['+', '/', '.']).filter(|(_, last)| {
        last.strip_prefix("0x")
            .is_some_and(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
    });
    let name = address.map_or(name, |(class, _)| class);
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    let element = match element {
        "Z" => "boolean",
        "C" => "char",
        "F" => "float",
        "D" => "double",
        "B" => "byte",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        class => class
            .strip_prefix('L')
            .and_then(|class| class.strip_suffix(';'))
            .unwrap_or(class),
    };
    element.replace('/', ".") + &"[]".repeat(dimensions)
}

#[cfg(test)]
mod tests {
    use super::source_name;

    #[test]
    fn names_are_those_of_source() {
        let names = ["java/lang/String", "[I", "[[J", "[Ljava/lang/String;", "a.B", ""].map(source_name);
        assert_eq!(
            names,
            ["java.lang.String", "int[]", "long[][]", "java.lang.String[]", "a.B", ""]
        );
        for hidden in ["a/B$$Lambda$7+0x00007f5a00002a40", "a/B$$Lambda$7/0x00007f5a00002a40"] {
            assert_eq!(source_name(hidden), "a.B$$Lambda$7");
        }
    }
}
