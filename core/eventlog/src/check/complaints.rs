//! Complaints about a log, with their places. Only the first few of each rule are kept.

/// Complaints kept per rule.
const MOST: usize = 8;

/// A complaint about one place of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The bytes of the file before the event; `None` if the complaint is about the log as a whole.
    pub offset: Option<u64>,
    /// The time stamp of the event; 0 if the complaint is about a place rather than an event.
    pub time: u64,
    /// The capability of the event.
    pub cap: Option<u16>,
    /// The complaint in words.
    pub text: String,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(offset) = self.offset else {
            return f.write_str(&self.text);
        };
        write!(f, "byte {offset}")?;
        if self.time > 0 {
            write!(f, ", {} ns", self.time)?;
        }
        if let Some(cap) = self.cap {
            write!(f, ", cap {cap}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// All complaints, by rule.
#[derive(Debug, Default)]
pub struct Complaints {
    rules: Vec<Rule>,
}

/// The complaints of one rule.
#[derive(Debug)]
pub struct Rule {
    /// The rule broken.
    pub rule: &'static str,
    /// How often it was broken.
    pub count: u64,
    /// The first complaints.
    pub first: Vec<Complaint>,
}

impl Complaints {
    /// The rules broken, in the order in which each first was.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The number of complaints.
    pub fn count(&self) -> u64 {
        self.rules.iter().map(|rule| rule.count).sum()
    }

    /// Adds a complaint about `rule`.
    #[cold]
    pub(super) fn add(&mut self, rule: &'static str, complaint: impl FnOnce() -> Complaint) {
        let known = self.rules.iter().position(|known| known.rule == rule);
        let place = known.unwrap_or_else(|| {
            self.rules.push(Rule {
                rule,
                count: 0,
                first: Vec::new(),
            });
            self.rules.len() - 1
        });
        let entry = &mut self.rules[place];
        entry.count += 1;
        if entry.first.len() < MOST {
            entry.first.push(complaint());
        }
    }
}
