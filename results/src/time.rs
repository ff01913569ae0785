//! Moments as text.

use jiff::Timestamp;
use std::time::SystemTime;

/// A moment as text: UTC, RFC 3339, whole seconds, e.g. `2026-01-31T12:00:00Z`. Moments that are out of the calendar's range are shown as 1970.
pub fn rfc3339(moment: SystemTime) -> String {
    let moment = Timestamp::try_from(moment).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%FT%TZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::rfc3339;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn whole_seconds_in_utc() {
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00Z");
        // By `date -u -d @1795248783`.
        assert_eq!(
            rfc3339(UNIX_EPOCH + Duration::from_millis(1_795_248_783_999)),
            "2026-11-21T08:13:03Z"
        );
    }
}
