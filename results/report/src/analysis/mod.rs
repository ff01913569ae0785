//! The answers of the runs of a folder, as data. No format is known here.

pub(crate) mod answers;
pub(crate) mod checksums;
pub(crate) mod comparable;
pub(crate) mod compare;
pub(crate) mod conditions;
pub(crate) mod facts;
pub(crate) mod history;
pub(crate) mod logs;
pub(crate) mod memory;
pub(crate) mod overhead;
pub(crate) mod panels;
pub(crate) mod parallel;
pub(crate) mod pauses;
pub(crate) mod places;
pub(crate) mod profiles;
pub(crate) mod rivals;
pub(crate) mod steadiness;
pub(crate) mod subject;
pub(crate) mod timeline;
pub(crate) mod verdict;
