//! Units: how a value is measured, and how it is written.

/// The unit in which a value is measured, and the one in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, written as seconds.
    Seconds,
    /// Seconds, written as milliseconds.
    Milliseconds,
    /// Bytes, written as MiB.
    Mebibytes,
    /// Bytes per second, written as MiB per second.
    MebibytesPerSecond,
    /// Byte seconds, written as MiB seconds.
    MebibyteSeconds,
    /// A number without a unit.
    Count,
    /// A share from 0 to 1, written in percent.
    Percent,
}

impl Unit {
    /// The unit's name in columns and on axes; empty for counts.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Mebibytes => "MiB",
            Unit::MebibytesPerSecond => "MiB/s",
            Unit::MebibyteSeconds => "MiB·s",
            Unit::Count => "",
            Unit::Percent => "%",
        }
    }

    /// The value in the unit in which it is written.
    pub fn shown(self, value: f64) -> f64 {
        match self {
            Unit::Milliseconds => value * 1e3,
            Unit::Mebibytes | Unit::MebibytesPerSecond | Unit::MebibyteSeconds => value / f64::from(1 << 20),
            Unit::Percent => value * 100.0,
            Unit::Seconds | Unit::Count => value,
        }
    }

    /// The value as text without its unit. Times have three decimals, or up to six if it takes more
    /// to show three significant digits.
    pub fn text(self, value: f64) -> String {
        let shown = self.shown(value);
        match self {
            Unit::Seconds | Unit::Milliseconds => {
                let decimals = if shown == 0.0 {
                    3.0
                } else {
                    2.0 - shown.abs().log10().floor()
                };
                format!("{shown:.*}", decimals.clamp(3.0, 6.0) as usize)
            }
            Unit::Mebibytes | Unit::MebibytesPerSecond | Unit::MebibyteSeconds | Unit::Percent => {
                format!("{shown:.1}")
            }
            Unit::Count if shown.fract() == 0.0 => format!("{shown:.0}"),
            Unit::Count => format!("{shown:.1}"),
        }
    }

    /// The value as text with its unit.
    pub fn text_with_unit(self, value: f64) -> String {
        format!("{} {}", self.text(value), self.name()).trim_end().to_owned()
    }
}
