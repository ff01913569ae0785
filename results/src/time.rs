//! Moments in time as text.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_OF_A_DAY: u64 = 86_400;

/// A moment as text: UTC, RFC 3339, whole seconds, e.g. `2026-01-31T12:00:00Z`. A moment before
/// 1970 or after the year 9999 is shown as the beginning of 1970.
pub fn rfc3339(moment: SystemTime) -> String {
    text_of(moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// The same text of a moment that is this many seconds after the beginning of 1970.
pub fn text_of(seconds: u64) -> String {
    let (year, month, day) = match date(seconds / SECONDS_OF_A_DAY) {
        date @ (..=9999, _, _) => date,
        _ => return text_of(0),
    };
    let time = seconds % SECONDS_OF_A_DAY;
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The seconds from the beginning of 1970 to a moment; `None` if the text is not one of
/// [`text_of`].
pub fn seconds_of(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let time = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let seconds = day_of(year, month, day)? * SECONDS_OF_A_DAY + time;
    (text_of(seconds) == text).then_some(seconds)
}

/// The inverse of [`date`]: `days_from_civil`; `None` before 1970.
fn day_of(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let month = (month + 9) % 12;
    let day = ((153 * month + 2) / 5 + day).checked_sub(1)?;
    (365 * year + year / 4 + year / 400 + day).checked_sub(year / 100 + EPOCH)
}

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: u64 = 719_468;

/// Year, month and day of a day in the Gregorian calendar; `days` counts from 1970-01-01. After
/// Howard Hinnant's `civil_from_days`: years begin in March, so that a leap day is the last day of
/// its year, and an era has 400 years.
fn date(days: u64) -> (u64, u64, u64) {
    // The days of an era.
    const ERA: u64 = 146_097;
    let (era, day) = ((days + EPOCH) / ERA, (days + EPOCH) % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // March to July and August to December have 153 days each.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> String {
        rfc3339(UNIX_EPOCH + Duration::from_secs(seconds))
    }

    #[test]
    fn whole_seconds_in_utc() {
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00Z");
        // By `date -u -d @1795248783`.
        assert_eq!(
            rfc3339(UNIX_EPOCH + Duration::from_millis(1_795_248_783_999)),
            "2026-11-21T08:13:03Z"
        );
    }

    /// Expected texts by `date -u -d @...`.
    #[test]
    fn leap_years_and_the_ends_of_the_calendar() {
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(at(253_402_300_799), "9999-12-31T23:59:59Z");
        assert_eq!(at(253_402_300_800), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
    /// Every text that is written is read, on either side of leap days and of years; no other is.
    #[test]
    fn a_text_is_its_seconds() {
        let days = (0..2_932_896)
            .step_by(97)
            .chain([11_015, 11_016, 11_017, 11_323, 2_932_896]);
        for seconds in days.map(|day| day * SECONDS_OF_A_DAY + day % SECONDS_OF_A_DAY) {
            assert_eq!(seconds_of(&text_of(seconds)), Some(seconds), "{}", text_of(seconds));
        }
        for other in [
            "",
            "2026-01-31",
            "2026-01-31T12:00:00+01:00",
            "2026-02-30T12:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-01-31T12:00:60Z",
            "2026-00-00T12:00:00Z",
            "+026-01-31T12:00:00Z",
        ] {
            assert_eq!(seconds_of(other), None, "{other}");
        }
    }
}
