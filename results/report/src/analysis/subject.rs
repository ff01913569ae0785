//! The runs behind the marks of charts.

use crate::chart::Subject;
use crate::summary::Group;

/// All runs of some configurations.
pub(crate) fn runs_of<'g, 'a: 'g>(groups: impl IntoIterator<Item = &'g Group<'a>>) -> Subject {
    let cells = groups.into_iter().filter_map(|group| group.runs.first());
    Subject::Configurations(cells.map(|run| run.cell.clone()).collect())
}
