//! Units of figures in a program's output.

use gclab_results::RunRecord;

/// Units of time, in seconds.
const TIMES: [(&str, f64); 5] = [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];

/// Units of memory, in bytes.
const SIZES: [(&str, f64); 8] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("bytes", 1.0),
];

/// The factor from `unit` to the unit of the figure `name`. `None` if records have no such figure:
/// then it may have any unit, which is shown unchanged. The empty unit means the record's.
///
/// # Errors
/// The valid units.
pub(crate) fn factor(name: &str, unit: &str) -> Result<Option<f64>, String> {
    if RunRecord::default().with_figure(name, 0.0).is_none() {
        return Ok(None);
    }
    if unit.is_empty() {
        return Ok(Some(1.0));
    }
    let (units, whole): (&[(&str, f64)], f64) = match name {
        _ if name.ends_with("_seconds") => (&TIMES, 1.0),
        _ if name.ends_with("_ns") => (&TIMES, 1e9),
        _ if name.ends_with("_bytes") => (&SIZES, 1.0),
        _ => (&[], 1.0),
    };
    let found = units.iter().find(|(known, _)| *known == unit);
    found
        .map(|(_, factor)| Some(factor * whole))
        .ok_or_else(|| match units {
            [] => "it is a number without a unit".to_owned(),
            _ => {
                let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
                format!("its units are {}", names.join(", "))
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_of_the_record_has_units_of_its_kind() {
        assert_eq!(factor("gc_cpu_seconds", "ms"), Ok(Some(1e-3)));
        assert_eq!(factor("gc_cpu_seconds", ""), Ok(Some(1.0)));
        assert_eq!(factor("peak_in_use_bytes", "MiB"), Ok(Some(1_048_576.0)));
        assert_eq!(factor("latency_p99_ns", "s"), Ok(Some(1e9)));
        assert_eq!(factor("p99", "furlongs"), Ok(None));
        assert!(factor("gc_cpu_seconds", "MiB").is_err_and(|right| right.contains("ms")));
        assert!(factor("gcs", "ms").is_err_and(|right| right.contains("without a unit")));
    }
}
