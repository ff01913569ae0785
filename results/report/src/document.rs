//! A report, a comparison or a history as sections of text, tables and charts, independent of
//! format.
//!
//! `topics` fills a [`Document`]; `render` writes it as HTML, Markdown or text, and its JSON is
//! derived. A renderer knows nothing about the analyses behind it.

use crate::chart::{Chart, Forest, Stack};
use crate::format::ABSENT;
use crate::metric::Metric;
use crate::ranking::Ranking;
use gclab_core::words::size::read_number;
use gclab_results::inference::{Effect, Spread};
use serde::Serialize;

/// A whole document.
#[derive(Debug, Default, Serialize)]
pub struct Document {
    /// The name of the experiment, or of the comparison.
    pub(crate) name: String,
    /// The question that it answers.
    pub(crate) question: Option<String>,
    /// The answer in sentences, the most important first; the start of every format.
    pub(crate) answer: Vec<String>,
    /// The command that runs the best configuration, if one was shown to be best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) best: Option<String>,
    /// Counts and other facts for the header.
    pub(crate) facts: Vec<String>,
    /// What readers must know before believing the figures.
    pub(crate) cautions: Vec<String>,
    /// The sections in page order, those that answer the question first.
    pub(crate) sections: Vec<Section>,
    /// The command that repeats the experiment; empty for other documents.
    pub(crate) command: String,
}

/// One section of a document.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section {
    /// The title.
    pub(crate) title: &'static str,
    /// Where the section is shown.
    pub(crate) place: Place,
    /// The sentences of an answer, shown at the top of a document.
    #[serde(skip)]
    pub(crate) text: Vec<String>,
    /// The verdicts that the section states, as data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rankings: Vec<Ranking>,
    /// Tables, charts and explanations.
    pub(crate) parts: Vec<Part>,
}

/// Where a section is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// Below the answer, in every format.
    Answer,
    /// Open on the page and in Markdown; in a terminal with `--wide`.
    Table,
    /// Folded on the page, and in Markdown.
    Detail,
    /// Folded on the page only.
    #[default]
    Page,
}

/// A part of a section.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The title of the parts that follow, such as a workload.
    Heading(String),
    /// A paragraph for all formats.
    Paragraph(String),
    /// An explanation of the parts around it, for the page only.
    Note(String),
    /// Styles of lines with their names.
    Legend(Vec<(usize, String)>),
    /// Charts side by side.
    Charts(Vec<Chart>),
    /// A chart of ratios by setting.
    Forest(Forest),
    /// A table of any size.
    Table(Table),
    /// Names and values.
    Facts(Vec<(&'static str, String)>),
    /// Collapsed parts.
    Details(&'static str, Vec<Part>),
    /// Text that is shown verbatim.
    Code(String),
    /// A heap profile: the bands over time beside the table of its peak.
    Profile(Box<Stack>, Table),
}

/// A table, which each format writes in its own way.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    /// The columns, from left to right.
    pub(crate) columns: Vec<Column>,
    /// The rows, with one cell for each column.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The look.
    pub(crate) look: Look,
    /// For the table of all runs: the configuration and the command of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<Vec<(String, String)>>,
}

/// The look of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Look {
    /// Few rows with words that may wrap.
    Answers,
    /// Figures that a reader sorts.
    #[default]
    Sortable,
    /// The same, but in text rows with the same first cell form a separate table.
    Grouped,
}

/// A column of a table.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Column {
    /// The heading, with the unit.
    pub(crate) title: String,
    /// Whether it holds figures, which are aligned to the right.
    pub(crate) figures: bool,
    /// Whether a terminal shows it only with `--wide`.
    pub(crate) wide: bool,
}

impl Column {
    /// A column of words.
    pub(crate) fn words(title: impl Into<String>) -> Column {
        Column {
            title: title.into(),
            ..Column::default()
        }
    }

    /// A column of figures.
    pub(crate) fn figures(title: impl Into<String>) -> Column {
        Column {
            figures: true,
            ..Column::words(title)
        }
    }

    /// The column of a metric.
    pub(crate) fn metric(metric: &Metric) -> Column {
        Column::figures(metric.heading())
    }

    /// The same column, which a terminal shows only with `--wide`.
    pub(crate) fn wide(self) -> Column {
        Column { wide: true, ..self }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Cell {
    /// The main part.
    pub(crate) text: String,
    /// The secondary part, shown smaller or in parentheses; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) more: String,
    /// The number to sort by, in base units; absent for words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    /// The emphasis.
    #[serde(skip_serializing_if = "Tone::is_plain")]
    pub(crate) tone: Tone,
    /// Collapsed text, such as the output of a failed run; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) folded: String,
}

/// The emphasis of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tone {
    /// None.
    #[default]
    Plain,
    /// The best, or a heading of its row.
    Strong,
    /// A failure.
    Failed,
}

impl Tone {
    fn is_plain(&self) -> bool {
        *self == Tone::Plain
    }
}

impl Cell {
    /// A word; it sorts by its number if it is a size.
    pub(crate) fn word(text: impl Into<String>) -> Cell {
        let text = text.into();
        Cell {
            value: read_number(&text),
            text,
            ..Cell::default()
        }
    }

    /// Text that is not a number.
    pub(crate) fn text(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }

    /// Text that is emphasised.
    pub(crate) fn strong(text: impl Into<String>) -> Cell {
        Cell {
            tone: Tone::Strong,
            ..Cell::text(text)
        }
    }

    /// A figure as text, and the number to sort by.
    pub(crate) fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell {
            value: Some(value),
            ..Cell::text(text)
        }
    }

    /// A figure of a single run.
    pub(crate) fn figure(metric: &Metric, value: Option<f64>) -> Cell {
        let value = value.filter(|value| value.is_finite());
        value.map_or_else(Cell::absent, |value| Cell::number(metric.unit.text(value), value))
    }

    /// A figure over the runs of a configuration: the centre, and the smallest and largest run.
    pub(crate) fn spread(metric: &Metric, spread: Option<Spread>) -> Cell {
        let Some(spread) = spread else { return Cell::absent() };
        let text = |value| metric.unit.text(value);
        let (low, high) = (text(spread.min), text(spread.max));
        Cell {
            more: if low == high {
                String::new()
            } else {
                format!("({low}–{high})")
            },
            ..Cell::number(text(spread.center), spread.center)
        }
    }

    /// An effect with its interval.
    pub(crate) fn effect(effect: Option<&Effect>) -> Cell {
        effect.map_or_else(Cell::absent, |effect| {
            Cell::number(crate::format::effect(effect), effect.ratio())
        })
    }

    /// The cell of an unknown figure.
    pub(crate) fn absent() -> Cell {
        Cell::text(ABSENT)
    }

    /// The text with the second part, in one line.
    pub(crate) fn line(&self) -> String {
        match self.more.as_str() {
            "" => self.text.clone(),
            more if more.starts_with('(') => format!("{} {more}", self.text),
            more => format!("{} ({more})", self.text),
        }
    }
}
