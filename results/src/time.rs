//! Moments as text.

use std::time::SystemTime;

/// A moment in UTC as RFC 3339, in whole seconds: `2026-01-31T12:00:00Z`. Moments after the year
/// 9999 are shown as the start of 1970.
pub fn rfc3339(moment: SystemTime) -> String {
    let moment = jiff::Timestamp::try_from(moment).unwrap_or_default();
    jiff::Timestamp::from_second(moment.as_second())
        .unwrap_or_default()
        .to_string()
}
