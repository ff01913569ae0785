//! Suggestions for a wrong name: the nearest valid name, then all of them.

use gclab_flags::nearest;

/// ``did you mean `x`? known keys: w, x, y``, or only the second part if no name is near. `kind`
/// describes the names.
pub fn suggest(name: &str, kind: &str, names: &[&str]) -> String {
    let all = if names.is_empty() {
        format!("{kind}: none")
    } else {
        format!("{kind}: {}", names.join(", "))
    };
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_the_nearest_first() {
        assert_eq!(
            suggest("copyng", "collectors", &["two-space", "copying"]),
            "did you mean `copying`? collectors: two-space, copying"
        );
        assert_eq!(suggest("immix", "collectors", &["copying"]), "collectors: copying");
        assert_eq!(suggest("immix", "collectors", &[]), "collectors: none");
    }
}
