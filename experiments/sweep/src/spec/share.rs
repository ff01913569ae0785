//! Shares in experiment files and on the command line.

/// A share from `"2%"`: above 0 %, below 100 %.
///
/// # Errors
/// The form that is right.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let percent = text
        .strip_suffix('%')
        .and_then(|percent| percent.trim().parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0);
    share
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "expected a number and %, such as 2%: more than 0%, less than 100%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_its_sign() {
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
        for wrong in ["2", "0%", "100%", "-1%", "%", "x%", "NaN%", ""] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }
}
