//! Two logs side by side: the settings that differ, and every figure of both with its change.

mod contents;
mod figures;
mod side;

pub use figures::Amount;
pub use side::Side;

/// A setting of the two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name of the setting.
    pub name: &'static str,
    /// The values in the first and the second log; `None` if the log lacks it.
    pub values: [Option<String>; 2],
}

/// A figure of the two logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The part of the run that the figure is about.
    pub group: String,
    /// The name of the figure within its group.
    pub name: String,
    /// The amounts in the first and the second log; `None` if the log lacks it.
    pub amounts: [Option<Amount>; 2],
}

impl Row {
    /// Whether the figure differs.
    pub fn differs(&self) -> bool {
        self.amounts[0] != self.amounts[1]
    }

    /// The mark of the figure if its log is damaged: `>` for sums and maxima, which are lower
    /// bounds, and `~` for means, shares and rates, which are approximate.
    pub fn mark_if_damaged(&self) -> &'static str {
        let is_share = self.amounts.iter().flatten().any(|amount| amount.unit() == "share");
        if is_share || figures::is_near(&self.name) {
            "~"
        } else {
            ">"
        }
    }

    /// The second amount as a multiple of the first; `None` if undefined.
    pub fn ratio(&self) -> Option<f64> {
        let [Some(first), Some(second)] = self.amounts.map(|amount| amount.map(Amount::number)) else {
            return None;
        };
        (first != 0.0).then(|| second / first)
    }
}

/// The settings of two logs, whether equal or not.
pub fn settings(first: &Side, second: &Side) -> Vec<Setting> {
    let sides = [first, second];
    let lists = sides.map(figures::settings);
    let [first, second] = lists;
    let pairs = first.into_iter().zip(second);
    pairs
        .map(|((name, first), (_, second))| Setting {
            name,
            values: [first, second],
        })
        .collect()
}

/// The figures that at least one of two logs has, group by group.
pub fn rows(first: &Side, second: &Side) -> Vec<Row> {
    let both = figures::Both::of([first, second]);
    let [first, second] = [first, second].map(|side| figures::figures(side, &both));
    let pairs = first.into_iter().zip(second);
    let rows = pairs.map(|((group, name, first), (_, _, second))| Row {
        group,
        name,
        amounts: [first, second],
    });
    rows.filter(|row| row.amounts != [None; 2]).collect()
}
