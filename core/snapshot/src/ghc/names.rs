//! Names of Haskell code as in its source. GHC encodes them in symbols that linkers accept:
//! `containerszm0zi6_DataziMap_insert_info` (GHC's `Encoding.hs`).

/// The endings of symbols of Haskell code and closures.
const ENDINGS: [&str; 4] = ["_con_info", "_static_info", "_info", "_closure"];

/// Characters by the letter after a `z`.
const SMALL: &str = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz";
/// Characters by the letter after a `Z`.
const CAPITAL: &str = "C:L(R)M[N]ZZ";

/// Whether a symbol names Haskell code or a closure.
pub(super) fn is_haskell(symbol: &str) -> bool {
    ENDINGS.iter().any(|ending| symbol.ends_with(ending))
}

/// A symbol as a name in Haskell, with the module and without the package: `Data.Map.insert`.
pub(super) fn readable(symbol: &str) -> String {
    let name = ENDINGS
        .iter()
        .find_map(|ending| symbol.strip_suffix(ending))
        .unwrap_or(symbol);
    let parts: Vec<&str> = name.split('_').collect();
    // Names of the runtime itself, and of local code, are not encoded.
    match parts[..] {
        [.., module, name] if parts.len() < 4 && module.starts_with(|first: char| first.is_ascii_uppercase()) => {
            format!("{}.{}", decode(module), decode(name))
        }
        _ => name.to_owned(),
    }
}

/// The name of a constructor, which has the package before the module: `base:GHC.Maybe.Just`.
pub(super) fn constructor(description: &str) -> &str {
    description.split_once(':').map_or(description, |(_, name)| name)
}

fn decode(name: &str) -> String {
    let mut decoded = String::new();
    let mut rest = name;
    while let Some(at) = rest.find(['z', 'Z']) {
        decoded.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let table = if rest[at..].starts_with('z') { SMALL } else { CAPITAL };
        let letters = table.chars().step_by(2).zip(table.chars().skip(1).step_by(2));
        let digits = code.len()
            - code
                .trim_start_matches(|digit: char| digit.is_ascii_hexdigit() && !digit.is_ascii_uppercase())
                .len();
        let number = &code[..digits];
        let ending = code[digits..].chars().next();
        if let Some((letter, meant)) = letters.clone().find(|(letter, _)| code.starts_with(*letter)) {
            decoded.push(meant);
            rest = &code[letter.len_utf8()..];
        } else if let (Some('T' | 'H'), Ok(parts)) = (ending, number.parse::<usize>()) {
            let commas = ",".repeat(parts.saturating_sub(1).min(64));
            let is_boxed = ending == Some('T');
            decoded.push_str(&if is_boxed {
                format!("({commas})")
            } else {
                format!("(#{commas}#)")
            });
            rest = &code[digits + 1..];
        } else if let (Some('U'), Ok(unicode)) = (ending, u32::from_str_radix(number, 16)) {
            decoded.extend(char::from_u32(unicode));
            rest = &code[digits + 1..];
        } else {
            decoded.push_str(&rest[at..=at]);
            rest = code;
        }
    }
    decoded + rest
}

#[cfg(test)]
mod tests {
    use super::{constructor, readable};

    #[test]
    fn symbols_are_read_as_haskell_names() {
        for (symbol, name) in [
            ("Main_primes_closure", "Main.primes"),
            (
                "containerszm0zi6zi4zi1_DataziMapziInternal_zdwinsert_info",
                "Data.Map.Internal.$winsert",
            ),
            ("ghczmprim_GHCziTypes_ZC_con_info", "GHC.Types.:"),
            ("ghczmprim_GHCziTuple_Z3T_con_info", "GHC.Tuple.(,,)"),
            ("base_GHCziBase_zgzgze_info", "GHC.Base.>>="),
            ("Main_z3bbU_info", "Main.λ"),
            ("Main_zzz_info", "Main.zz"),
            ("stg_ap_2_upd_info", "stg_ap_2_upd"),
            ("sat_s4Xy_info", "sat_s4Xy"),
        ] {
            assert_eq!(readable(symbol), name, "{symbol}");
        }
        assert_eq!(constructor("main:Main.Session"), "Main.Session");
    }
}
