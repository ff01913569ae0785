//! Rules for the header and for payloads, which other readers of logs rely on.

use super::complaints::{Complaint, Complaints};
use crate::event::Event;
use crate::header::Header;
use crate::kind::{Size, status_text, status_text_of_7_8_2};
use crate::kinds::{self, number};
use crate::value::{Value, texts};

/// The rules that the header breaks.
pub(super) fn header(header: &Header, complaints: &mut Complaints) {
    let mut complain = |rule, text: String| {
        complaints.add(rule, || Complaint {
            offset: None,
            time: 0,
            cap: None,
            text,
        });
    };
    for declared in header.declared() {
        let Some(known) = kinds::numbered(declared.number).filter(|_| declared.kind.is_none()) else {
            continue;
        };
        let size = |size: Option<u16>| size.map_or("a variable size".to_owned(), |size| format!("{size} bytes"));
        complain(
            "every type has the size that GHC gives it",
            format!(
                "{} is declared with {}, expected {}: its events are skipped",
                known.name,
                size(declared.size),
                size(known.payload_size())
            ),
        );
    }
    if header.has_statuses_of_7_8_2() {
        complain(
            "type 58 is declared with type 59",
            "type 58 (user markers) is declared without type 59: ghc-events takes the log for one of GHC 7.8.2 and misreads stop reasons"
                .to_owned(),
        );
    }
    // Logs without type 58 come from GHC 7.6 and older, which declared 6 or 10 bytes.
    let is_old = header.numbered(number::USER_MARKER).is_none();
    if let Some(stop) = header.numbered(number::STOP_THREAD)
        && stop.size != Some(10)
        && !(is_old && stop.size == Some(6))
        && stop.kind.is_some()
    {
        complain(
            "STOP_THREAD has 10 bytes",
            "STOP_THREAD is not declared with 10 bytes: ThreadScope does not read such logs".to_owned(),
        );
    }
}

/// The fault of a `STOP_THREAD` whose reason is unknown. `old`: reasons are numbered as in GHC
/// 7.8.2.
pub(super) fn status(event: &Event<'_>, old: bool) -> Option<(&'static str, String)> {
    let [_, Some(status)] = event.numbers() else {
        return None;
    };
    let known = if old {
        status_text_of_7_8_2(status)
    } else {
        status_text(status)
    };
    let text = || format!("STOP_THREAD with the reason {status}, expected 0 to 20: ghc-events fails on it");
    known.is_none().then(|| ("threads stop for a known reason", text()))
}

/// What is wrong with an event's payload, if anything.
pub(super) fn payload(event: &Event<'_>) -> Option<(&'static str, String)> {
    let kind = event.kind()?;
    let Size::Variable { required } = kind.size else {
        return None;
    };
    let mut fields = event.fields();
    for (field, value) in fields.by_ref() {
        let is_utf8 = match value {
            Value::Text(text) => std::str::from_utf8(text).is_ok(),
            Value::List(list) => texts(list).all(|text| std::str::from_utf8(text).is_ok()),
            _ => true,
        };
        if !is_utf8 {
            let text = format!(
                "{}: `{}` is not UTF-8: ghc-events ends the log here",
                kind.name, field.name
            );
            return Some(("texts are UTF-8", text));
        }
    }
    let taken = kind.fields.len() - fields.left().len();
    let fault = match (fields.left(), fields.rest().len()) {
        (_, 0) if taken >= required => return None,
        ([], more) => format!("{}: {more} bytes follow the last field", kind.name),
        ([field, ..], _) => format!("{}: the payload ends within `{}`", kind.name, field.name),
    };
    Some(("a payload has the length of its fields", fault))
}
