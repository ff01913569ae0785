//! The document of a comparison: the answer, what changed, and all figures.

use super::{Comparison, Figure, Mean, Means, Row};
use crate::document::{Cell, Column, Document, Look, Part, Place, Section, Table, Tone};
use crate::format::{self, ABSENT, counted, percent, short_list};
use crate::metric::Metric;
use crate::verdict::Verdict;
use gclab_results::inference::Effect;

/// From this smallest visible change on, a comparison says only that it is too noisy: a factor of two.
const TOO_WIDE: f64 = 1.0;

impl Comparison {
    /// The number of configurations with a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.configurations.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The answer in a sentence or two.
    pub(super) fn answer(&self) -> Vec<String> {
        let all = counted(self.configurations.len(), "configuration");
        if self.count(Verdict::Identical) == self.configurations.len() {
            return vec![format!("Identical runs: both hold the same runs of {all}.")];
        }
        let said = |words: &str, verdict: Verdict| {
            let most = self
                .largest(verdict)
                .map_or_else(String::new, |largest| format!(": {largest}"));
            format!("{words} in {} of {all}{most}.", self.count(verdict))
        };
        let mut answer = Vec::new();
        for (words, verdict) in [
            ("Worse", Verdict::Worse),
            ("Better", Verdict::Better),
            ("Disturbed", Verdict::Disturbed),
        ] {
            if self.count(verdict) > 0 {
                answer.push(said(words, verdict));
            }
        }
        if self.count(Verdict::Disturbed) > 0 {
            answer.push("Stop other programs and repeat.".to_owned());
        }
        let disturbed = |row: &&Row| {
            let mut figures = row.figures.iter();
            row.verdict.is_change() && figures.any(|figure| figure.verdict == Verdict::Disturbed)
        };
        match self.configurations.iter().filter(disturbed).count() {
            0 => {}
            count => answer.push(format!(
                "In {count} of these, other programs disturbed the times, which are not judged."
            )),
        }
        let (same, unclear) = (
            self.count(Verdict::Same),
            self.count(Verdict::Unclear) + self.count(Verdict::TooNoisy),
        );
        if answer.is_empty() || same + unclear > 0 {
            let within = percent(self.threshold);
            let open = match (unclear, self.least_clear()) {
                (0, _) => String::new(),
                (n, Some((_, effect, visible))) if visible >= TOO_WIDE => {
                    format!("{n} too noisy to compare; {}", format::advice(&effect, self.threshold))
                }
                (n, Some((metric, effect, visible))) => format!(
                    "{n} unclear: changes of {} below {} would not have been seen; {}",
                    metric.title,
                    percent(visible),
                    format::advice(&effect, self.threshold)
                ),
                (n, None) => {
                    let mut figures = self.configurations.iter().flat_map(|row| &row.figures);
                    let open = figures.find(|figure| figure.verdict == Verdict::Unclear && figure.remark.is_some());
                    match open {
                        Some(figure) => format!(
                            "{n} unclear: {}: {}",
                            figure.metric.title,
                            figure.remark.as_deref().unwrap_or_default()
                        ),
                        None => format!("{n} unclear: too few runs"),
                    }
                }
            };
            let same = if same > 0 {
                format!("{same} the same within ±{within}")
            } else {
                String::new()
            };
            let parts: Vec<String> = [same, open].into_iter().filter(|part| !part.is_empty()).collect();
            let begin = if answer.is_empty() {
                format!("No change shown in {all}: ")
            } else {
                "The others: ".to_owned()
            };
            answer.push(format!("{begin}{}.", parts.join(", ")));
        }
        answer
    }

    /// The most important figure that is unclear somewhere, with its widest effect and the smallest
    /// change that would have been seen everywhere.
    fn least_clear(&self) -> Option<(Metric, Effect, f64)> {
        let unclear = self.configurations.iter().flat_map(|row| {
            // The first figure is the most important one.
            row.figures.iter().enumerate().filter_map(|(place, figure)| {
                let is_unclear = matches!(figure.verdict, Verdict::Unclear | Verdict::TooNoisy);
                let effect = figure.effect.filter(|_| is_unclear)?;
                Some((place, figure.metric, effect, effect.visible()?))
            })
        });
        let unclear: Vec<(usize, Metric, Effect, f64)> = unclear.collect();
        let (_, first, ..) = *unclear.iter().min_by_key(|(place, ..)| *place)?;
        let of_first = unclear.into_iter().filter(|(_, metric, ..)| *metric == first);
        let (_, metric, effect, visible) = of_first.max_by(|one, other| one.3.total_cmp(&other.3))?;
        Some((metric, effect, visible.max(self.threshold)))
    }

    /// The largest change with this verdict: `gcbench, copying: total 1.10× (1.08–1.12)`.
    fn largest(&self, verdict: Verdict) -> Option<String> {
        let rows = self.configurations.iter().filter(|row| row.verdict == verdict);
        // The first figure is the most important one.
        let first = |row: &&Row| row.figures.iter().position(|figure| figure.verdict == verdict);
        let changed = rows.filter_map(|row| Some((row, &row.figures[first(&row)?])));
        let size = |figure: &Figure| figure.effect.map_or(f64::INFINITY, |effect| effect.ratio().ln().abs());
        match changed.max_by(|(_, a), (_, b)| size(a).total_cmp(&size(b))) {
            Some((row, figure)) => Some(format!(
                "{}: {} {}",
                row.name,
                figure.metric.title,
                figure.change().text
            )),
            None => {
                let row = self.configurations.iter().find(|row| row.verdict == verdict)?;
                Some(format!("{}: {}", row.name, row.note.as_ref()?))
            }
        }
    }

    /// The document; `all` figures, or those that changed.
    pub fn document(&self, all: bool) -> Document {
        let mut sections = vec![Section {
            title: "Changes",
            place: Place::Answer,
            parts: self.parts(false),
            ..Section::default()
        }];
        sections.push(Section {
            title: "All figures",
            place: if all { Place::Answer } else { Place::Detail },
            parts: self.parts(true),
            ..Section::default()
        });
        sections.retain(|section| !section.parts.is_empty());
        if all {
            sections.retain(|section| section.title != "Changes");
        }
        if !self.means.is_empty() {
            sections.insert(
                0,
                Section {
                    title: "Over all workloads",
                    place: Place::Answer,
                    parts: vec![Part::Table(self.means_table())],
                    ..Section::default()
                },
            );
        }
        let places = if self.sides.is_some() {
            ["without a partner"; 2]
        } else {
            ["only in the base", "only in the new one"]
        };
        let alone = places
            .into_iter()
            .zip([&self.only_base, &self.only_new])
            .filter(|(_, list)| !list.is_empty());
        let alone: Vec<Part> = alone
            .map(|(place, list)| Part::Paragraph(format!("{place}: {}.", short_list(list, 12))))
            .collect();
        if !alone.is_empty() {
            sections.push(Section {
                title: "Not compared",
                place: Place::Detail,
                parts: alone,
                ..Section::default()
            });
        }
        let taken_back = match self.taken_back {
            0 => String::new(),
            some => format!("; {} may be chance among so many", counted(some, "change")),
        };
        let judged = format!(
            "{} figures were judged together: of those called changed at most one in twenty is expected to be chance \
             (Benjamini and Hochberg){taken_back}",
            self.judged_together
        );
        Document {
            name: match &self.sides {
                Some((base, new)) => format!("{new} over {base}"),
                None => "comparison".to_owned(),
            },
            answer: self.answer(),
            facts: [format!("threshold {}", percent(self.threshold))]
                .into_iter()
                .chain((self.judged_together > 1).then_some(judged))
                .collect(),
            cautions: self.cautions.clone(),
            sections,
            ..Document::default()
        }
    }

    /// A table of all figures, or of those that changed or were disturbed, and the notes on outcomes.
    fn parts(&self, all: bool) -> Vec<Part> {
        let is_shown = |verdict: Verdict| all || verdict.is_change() || verdict == Verdict::Disturbed;
        let columns = vec![
            Column::words("configuration"),
            Column::words("verdict"),
            Column::words("figure"),
            Column::figures("new/base"),
            Column::figures("base").wide(),
            Column::figures("new").wide(),
            Column::words("remark").wide(),
        ];
        let mut rows = Vec::new();
        for row in self.configurations.iter().filter(|row| is_shown(row.verdict)) {
            let figures: Vec<&Figure> = row.figures.iter().filter(|figure| is_shown(figure.verdict)).collect();
            if figures.is_empty() || row.note.is_some() {
                let note = Cell::text(row.note.clone().unwrap_or_default());
                rows.push(vec![
                    Cell::text(&row.name),
                    verdict_cell(row.verdict),
                    Cell::text("outcome"),
                    Cell::absent(),
                    Cell::absent(),
                    Cell::absent(),
                    note,
                ]);
            }
            rows.extend(figures.into_iter().map(|figure| figure.cells(&row.name)));
        }
        let mut parts = Vec::new();
        if !rows.is_empty() {
            parts.push(Part::Table(Table {
                columns,
                rows,
                look: if all { Look::Grouped } else { Look::Answers },
                runs: None,
            }));
        }
        let note = |row: &Row| Some(format!("{}: {}.", row.name, row.note.as_ref()?));
        parts.extend(
            self.configurations
                .iter()
                .filter(|row| is_shown(row.verdict))
                .filter_map(note)
                .map(Part::Paragraph),
        );
        parts
    }

    fn means_table(&self) -> Table {
        let columns = vec![
            Column::words("setting"),
            Column::words("figure"),
            Column::figures("new/base"),
            Column::figures("workloads"),
        ];
        let row = |mean: &Mean| {
            let setting = if mean.setting.is_empty() { ABSENT } else { &mean.setting };
            vec![
                Cell::text(setting),
                Cell::text(mean.metric.title),
                Cell::effect(Some(&mean.effect)),
                Cell::number(mean.workloads.to_string(), mean.workloads as f64),
            ]
        };
        Table {
            columns,
            rows: self.means.iter().map(row).collect(),
            look: Look::Answers,
            runs: None,
        }
    }
}

impl Figure {
    fn cells(&self, name: &str) -> Vec<Cell> {
        let (base, new) = self.values();
        vec![
            Cell::text(name),
            verdict_cell(self.verdict),
            Cell::text(self.metric.heading()),
            self.change(),
            Cell::figure(&self.metric, base),
            Cell::figure(&self.metric, new),
            Cell::text(self.remark.clone().unwrap_or_default()),
        ]
    }

    /// The centres of both sides.
    fn values(&self) -> (Option<f64>, Option<f64>) {
        let of_effect = self.effect.map(|effect| (effect.base, effect.new));
        of_effect.or(self.means.map(|means| (means.base, means.new))).unzip()
    }

    /// The effect, or `0 → 5` if there is none.
    fn change(&self) -> Cell {
        match self.means {
            None => Cell::effect(self.effect.as_ref()),
            Some(Means { base, new }) => {
                let text = |value| self.metric.unit.text(value);
                Cell::text(format!("{} → {}", text(base), text(new)))
            }
        }
    }
}

/// A verdict as a cell.
pub(in crate::topics) fn verdict_cell(verdict: Verdict) -> Cell {
    Cell {
        tone: match verdict {
            Verdict::Worse => Tone::Failed,
            Verdict::Better => Tone::Strong,
            _ => Tone::Plain,
        },
        ..Cell::text(verdict.word())
    }
}
