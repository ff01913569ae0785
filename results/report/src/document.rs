//! A report as sections of text, tables and charts, before it gets a format.
//!
//! `sections` makes a [`Report`] of a folder; `render` writes it as HTML, Markdown or text. A
//! renderer chooses sections by their [`Topic`], and knows nothing of the analyses behind them.

use crate::chart::{Chart, Forest, Stack};
use crate::format::{self, ABSENT};
use crate::inference::{Ratio, Spread};
use crate::metric::{Metric, Unit};
use gclab_core::words::size::read_number;
use std::borrow::Cow;

/// All that is reported on one folder.
#[derive(Debug)]
pub(crate) struct Report {
    /// The experiment's name.
    pub(crate) name: String,
    /// The experiment's question.
    pub(crate) question: Option<String>,
    /// Counts and other facts for the head of the report.
    pub(crate) facts: Vec<String>,
    /// The flags that all runs share, with their values.
    pub(crate) fixed: Vec<(String, String)>,
    /// The things that a reader must know before believing the figures.
    pub(crate) cautions: Vec<String>,
    /// The number of runs that are done.
    pub(crate) done: usize,
    /// The number of runs that are planned.
    pub(crate) planned: usize,
    /// The greatest number of good runs of a configuration.
    pub(crate) most_runs: usize,
    /// The least number of good runs of a configuration that has any.
    pub(crate) least_runs: usize,
    /// The seed of the order of runs.
    pub(crate) seed: u64,
    /// The command that repeats the experiment.
    pub(crate) command: String,
    /// The sections in the order of the page, each topic at most once. Those that answer the
    /// question come first.
    pub(crate) sections: Vec<Section>,
}

impl Report {
    /// The section on a topic, if these runs have one.
    pub(crate) fn section(&self, topic: Topic) -> Option<&Section> {
        self.sections.iter().find(|section| section.topic == topic)
    }

    /// The sections that answer the question.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.topic.is_answer())
    }

    /// The sentences that answer the question, the same in all formats.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = &String> {
        self.answers().flat_map(|section| &section.text)
    }
}

/// The subject of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Topic {
    /// The fastest collectors at each multiple of the least heap.
    #[default]
    Budgets,
    /// The least heaps that the budgets are multiples of.
    LeastHeaps,
    /// Advice on parallel collection.
    Sharing,
    /// One figure over all workloads.
    Overall,
    /// The value from which on a swept flag does not matter.
    Knee,
    /// Latency of requests.
    Latency,
    /// The largest bands of heap profiles.
    Bands,
    /// The best configuration of each workload.
    Best,
    /// Charts of parallel collection.
    Parallel,
    /// Charts of time against memory.
    Curves,
    /// The lower bound of the cost of garbage collection.
    Overhead,
    /// Charts of times and memory against the swept flags.
    Panels,
    /// Charts of memory over the time of a run.
    Timeline,
    /// The distribution of pauses.
    Pauses,
    /// Pauses, utilisation and allocation from event logs.
    EventLogs,
    /// Heap profiles.
    Profiles,
    /// Runs that failed.
    Failed,
    /// A table of configurations for each workload.
    Workloads,
    /// One table of all configurations, and one of all runs.
    Configurations,
    /// The mutator's shares of what performance counters counted.
    Shares,
    /// A table of a collector's own figures for each collector that has any.
    OwnFigures,
    /// Drift over the time of the experiment, and runs that stand apart.
    Steadiness,
    /// The machine and the build.
    Machine,
    /// The command, the experiment file and the plan.
    Repeat,
}

impl Topic {
    /// The title of the section.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Topic::Budgets => "Which collector for which budget?",
            Topic::LeastHeaps => "Least heaps",
            Topic::Sharing => "Should collections be parallel?",
            Topic::Overall => "Over all workloads",
            Topic::Knee => "From which value on?",
            Topic::Latency => "Latency",
            Topic::Bands => "The largest bands",
            Topic::Best => "The best configurations",
            Topic::Parallel => "Parallel collection",
            Topic::Curves => "Time against memory",
            Topic::Overhead => "The cost of collection, at least",
            Topic::Panels => "Time and memory",
            Topic::Timeline => "Memory over time",
            Topic::Pauses => "Pauses",
            Topic::EventLogs => "Event logs",
            Topic::Profiles => "Heap profiles",
            Topic::Failed => "Failed runs",
            Topic::Workloads => "Workloads",
            Topic::Configurations => "All configurations",
            Topic::Shares => "Misses of the mutator and of collections",
            Topic::OwnFigures => "Figures of single collectors",
            Topic::Steadiness => "Did the machine hold still?",
            Topic::Machine => "Environment",
            Topic::Repeat => "Repeat it",
        }
    }

    /// Whether the section answers the question of the experiment.
    pub(crate) fn is_answer(self) -> bool {
        matches!(
            self,
            Topic::Budgets
                | Topic::LeastHeaps
                | Topic::Sharing
                | Topic::Overall
                | Topic::Knee
                | Topic::Latency
                | Topic::Bands
                | Topic::Best
        )
    }
}

/// One section of a report.
#[derive(Debug)]
pub(crate) struct Section {
    /// The subject, which has the title.
    pub(crate) topic: Topic,
    /// The message in paragraphs, the most important first.
    pub(crate) text: Vec<String>,
    /// Tables, charts and explanations.
    pub(crate) parts: Vec<Part>,
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Part {
    /// The title of the parts that follow, such as a workload.
    Heading(String),
    /// A title of lower rank.
    Subheading(String),
    /// A paragraph for all formats.
    Paragraph(String),
    /// A caution that belongs to the part before it. HTML and Markdown have all cautions at their
    /// beginning.
    Caution(String),
    /// An explanation of the parts around it, for HTML only.
    Note(String),
    /// Styles of lines with their names.
    Legend(Vec<(usize, String)>),
    /// Charts side by side.
    Charts(Vec<Chart>),
    /// A chart of ratios by setting.
    Forest(Forest),
    /// A table of any size.
    Table(Table),
    /// The table of all runs.
    Runs(Runs),
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    /// Parts that a reader has to open.
    Details(&'static str, Vec<Part>),
    /// Text that is shown as it is.
    Code(String),
    /// A heap profile.
    Profile(Box<Profile>),
}

/// A heap profile of one run.
#[derive(Debug)]
pub(crate) struct Profile {
    /// The configuration and the flags of the profile.
    pub(crate) label: String,
    /// The bands over time; absent without a census.
    pub(crate) chart: Option<Stack>,
    /// The bands of the peak; absent without a census.
    pub(crate) peak: Option<Table>,
    /// Remarks on the profile.
    pub(crate) notes: String,
    /// The file with the whole profile; absent if the run wrote none.
    pub(crate) file: Option<String>,
}

/// The table of all runs.
#[derive(Debug)]
pub(crate) struct Runs {
    /// A row for each run; the first column is its place in the order of runs.
    pub(crate) table: Table,
    /// The id of the configuration of each run.
    pub(crate) cells: Vec<String>,
    /// The command of each run.
    pub(crate) commands: Vec<String>,
}

/// A table, which each format writes in its own way.
#[derive(Debug)]
pub(crate) struct Table {
    /// The look in HTML.
    pub(crate) look: Look,
    /// The columns, from left to right.
    pub(crate) columns: Vec<Column>,
    /// The rows, with one cell for each column.
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// The look of a table in HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Few rows with words that may wrap.
    Answers,
    /// Figures; the button in a heading sorts the rows.
    Sortable,
    /// Figures in a fixed order.
    Fixed,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The heading without the unit.
    pub(crate) title: String,
    /// The unit; empty for words and counts.
    pub(crate) unit: Cow<'static, str>,
    /// Whether it holds figures, which are aligned to the right.
    pub(crate) figures: bool,
    /// Whether a terminal leaves it out.
    pub(crate) wide_only: bool,
}

impl Column {
    /// A column of words.
    pub(crate) fn words(title: impl Into<String>) -> Column {
        Column {
            title: title.into(),
            unit: Cow::Borrowed(""),
            figures: false,
            wide_only: false,
        }
    }

    /// A column of figures without a unit.
    pub(crate) fn figures(title: impl Into<String>) -> Column {
        Column {
            figures: true,
            ..Column::words(title)
        }
    }

    /// The column of a metric.
    pub(crate) fn metric(metric: &Metric) -> Column {
        Column {
            unit: metric.unit.name().into(),
            ..Column::figures(metric.title)
        }
    }

    /// The heading with the unit.
    pub(crate) fn heading(&self) -> String {
        format!("{} {}", self.title, self.unit).trim_end().to_owned()
    }
}

/// A cell of a table.
#[derive(Debug)]
pub(crate) enum Cell {
    /// Text, with a second part.
    Text(Text),
    /// A figure over the runs of a configuration.
    Figure(Metric, Option<Spread>),
    /// The number of good runs and of all runs, and the failures by kind.
    Runs(usize, usize, Vec<(&'static str, usize)>),
    /// Names with their values.
    Pairs(Vec<(String, String)>),
    /// A command and the end of its standard error.
    Output(String, String),
}

/// The text of a cell.
#[derive(Debug, Default, Clone)]
pub(crate) struct Text {
    /// The main part.
    pub(crate) text: String,
    /// The second part, which is smaller or in parentheses; may be empty.
    pub(crate) more: String,
    /// The number to sort by; absent for words.
    pub(crate) sort: Option<f64>,
    /// Whether it is emphasised.
    pub(crate) strong: bool,
    /// Whether it tells of a failure.
    pub(crate) failed: bool,
}

impl Cell {
    /// A word, which is sorted by its number if it is one.
    pub(crate) fn word(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell::Text(Text {
            sort: read_number(&text),
            text,
            ..Text::default()
        })
    }

    /// Text that is no number.
    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell::Text(Text {
            text: text.into(),
            ..Text::default()
        })
    }

    /// Text that is emphasised.
    pub(crate) fn strong(text: impl Into<String>) -> Cell {
        Cell::Text(Text {
            text: text.into(),
            strong: true,
            ..Text::default()
        })
    }

    /// A figure as text, and the number to sort by.
    pub(crate) fn number(text: String, sort: f64) -> Cell {
        Cell::Text(Text {
            text,
            sort: Some(sort),
            ..Text::default()
        })
    }

    /// A share from 0 to 1 in percent, without the sign.
    pub(crate) fn percent(share: f64) -> Cell {
        Cell::number(Unit::Percent.text(share), share)
    }

    /// A length of time in milliseconds, without the unit.
    pub(crate) fn milliseconds(nanoseconds: u64) -> Cell {
        Cell::number(format::milliseconds(nanoseconds), nanoseconds as f64)
    }

    /// A ratio with its interval.
    pub(crate) fn ratio(ratio: Option<&Ratio>) -> Cell {
        Cell::text(format::ratio_or_absent(ratio))
    }

    /// The cell of a figure that is not known.
    pub(crate) fn absent() -> Cell {
        Cell::text(ABSENT)
    }
}
