//! Axes: the things that a sweep varies, and their values.
//!
//! A *point* has a value for each of some axes. An [`Axis`] is a list of points: the values of one
//! flag, a list of points in the file, or parallel lists. A sweep is the product of its axes
//! ([`product`]); an experiment has the points of all its sweeps.

use std::collections::{BTreeMap, BTreeSet};

use crate::runtime::{Setting, Value};

/// The prefix of axes that are variables of the environment.
pub const ENV: &str = "env.";

/// The prefix of axes that are arguments.
pub const ARGS: &str = "args.";

/// The prefix of flags that are letters of OCaml's.
pub const OCAML: &str = "ocaml.";

/// The axes that choose from a list of the file: a point with one of them applies only to that
/// name.
pub const CHOICES: [&str; 5] = ["collector", "workload", "program", "build", "heap"];

/// A value for each of some axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// Flags, by their names in experiment files.
    pub flags: Setting,
    /// Variables of the environment, by name.
    pub env: BTreeMap<String, String>,
    /// The values of arguments, by name.
    pub args: BTreeMap<String, String>,
    /// The names that the point is for: the keys are of [`CHOICES`].
    pub only: BTreeMap<&'static str, String>,
}

impl Point {
    /// The point with only these flags.
    pub fn of(flags: Setting) -> Point {
        Point {
            flags,
            ..Point::default()
        }
    }

    /// Whether the point may be a run's with this name: of a collector, a workload and so on.
    pub fn is_for(&self, choice: &str, name: &str) -> bool {
        self.only.get(choice).is_none_or(|wanted| wanted == name)
    }

    /// This point with the values of another one.
    fn and(&self, other: &Point) -> Point {
        let mut both = self.clone();
        both.flags
            .extend(other.flags.iter().map(|(key, value)| (*key, value.clone())));
        let add = |to: &mut BTreeMap<String, String>, from: &BTreeMap<String, String>| {
            to.extend(from.iter().map(|(name, value)| (name.clone(), value.clone())));
        };
        add(&mut both.env, &other.env);
        add(&mut both.args, &other.args);
        both.only
            .extend(other.only.iter().map(|(key, name)| (*key, name.clone())));
        both
    }

    /// The name of each axis and the text of its value.
    pub fn words(&self) -> impl Iterator<Item = (String, &str)> {
        let only = self.only.iter().map(|(key, name)| ((*key).to_owned(), name.as_str()));
        let flags = self.flags.iter().map(|(key, value)| ((*key).to_owned(), value.text()));
        let env = self
            .env
            .iter()
            .map(|(name, value)| (format!("{ENV}{name}"), value.as_str()));
        let args = self
            .args
            .iter()
            .map(|(name, value)| (format!("{ARGS}{name}"), value.as_str()));
        only.chain(flags).chain(env).chain(args)
    }
}

/// One axis of a sweep: its points are of the same flag, or each has values of several axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The points, in the order of the file.
    pub points: Vec<Point>,
}

impl Axis {
    /// The axis of one flag.
    pub fn of_flag(flag: &'static str, values: impl IntoIterator<Item = Value>) -> Axis {
        let point = |value| Point::of([(flag, value)].into());
        Axis {
            points: values.into_iter().map(point).collect(),
        }
    }

    /// The axis in words: `A = 1m 4m`; of points with several values, `(A=1m n=0) (A=4m n=1m)`.
    pub fn describe(&self) -> String {
        let words: Vec<Vec<(String, &str)>> = self.points.iter().map(|point| point.words().collect()).collect();
        let name = words.first().and_then(|first| first.first()).map(|(name, _)| name);
        let single = |point: &Vec<(String, &str)>| point.len() == 1 && Some(&point[0].0) == name;
        if let Some(name) = name.filter(|_| words.iter().all(single)) {
            let values: Vec<&str> = words.iter().map(|point| point[0].1).collect();
            return format!("{name} = {}", values.join(" "));
        }
        let point = |point: &Vec<(String, &str)>| {
            let values: Vec<String> = point.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("({})", values.join(" "))
        };
        words.iter().map(point).collect::<Vec<_>>().join(" ")
    }
}

/// The names of a run: of its collector, its workload, and so on, by the keys of [`CHOICES`].
pub type Names<'n> = [(&'static str, &'n str)];

/// Runs that are left out: those that have all these values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exclude {
    /// The number of the table in the file, from 0.
    pub number: usize,
    /// Flags, each with the texts of the values that are meant.
    pub flags: BTreeMap<&'static str, BTreeSet<String>>,
    /// Variables of the environment, by name.
    pub env: BTreeMap<String, String>,
    /// The values of arguments, by name.
    pub args: BTreeMap<String, String>,
    /// The names that are chosen, by the keys of [`CHOICES`].
    pub only: BTreeMap<&'static str, String>,
}

impl Exclude {
    /// Whether a run with this point and these names is left out.
    pub fn takes(&self, point: &Point, names: &Names<'_>) -> bool {
        let has = |of_run: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>| {
            wanted.iter().all(|(name, value)| of_run.get(name) == Some(value))
        };
        self.only
            .iter()
            .all(|(key, wanted)| names.iter().any(|(of, name)| of == key && name == wanted))
            && self
                .flags
                .iter()
                .all(|(key, texts)| point.flags.get(key).is_some_and(|value| texts.contains(value.text())))
            && has(&point.env, &self.env)
            && has(&point.args, &self.args)
    }
}

/// The points of these sweeps, each with the fixed flags: the product of the axes of each sweep,
/// the last axis varying fastest; several sweeps one after another. A point of two sweeps occurs
/// once. Without a sweep there is one point.
pub fn product(fixed: &Setting, sweeps: &[Vec<Axis>]) -> Vec<Point> {
    let fixed = Point::of(fixed.clone());
    if sweeps.is_empty() {
        return vec![fixed];
    }
    let of_sweep = |axes: &Vec<Axis>| {
        axes.iter().fold(vec![fixed.clone()], |points, axis| {
            let with = |point: &Point| axis.points.iter().map(|other| point.and(other)).collect::<Vec<_>>();
            points.iter().flat_map(with).collect()
        })
    };
    if let [one] = sweeps {
        return of_sweep(one);
    }
    let mut seen = BTreeSet::new();
    let all = sweeps.iter().flat_map(of_sweep);
    all.filter(|point| seen.insert(point.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(flag: &str, text: &str) -> Value {
        crate::runtime::GCLAB.read(flag, text).expect("a legal value")
    }

    fn axis(flag: &'static str, values: &[&str]) -> Axis {
        Axis::of_flag(flag, values.iter().map(|text| value(flag, text)))
    }

    fn words(points: &[Point]) -> Vec<String> {
        let point = |point: &Point| {
            let words: Vec<String> = point.words().map(|(name, value)| format!("{name}={value}")).collect();
            words.join(" ")
        };
        points.iter().map(point).collect()
    }

    #[test]
    fn the_last_axis_varies_fastest_and_lists_of_points_are_axes() {
        let points = Axis {
            points: vec![
                Point {
                    env: [("LANG".to_owned(), "C".to_owned())].into(),
                    only: [("collector", "copying".to_owned())].into(),
                    ..Point::of([("n", value("n", "0"))].into())
                },
                Point::of([("n", value("n", "1m"))].into()),
            ],
        };
        assert_eq!(
            points.describe(),
            "(collector=copying n=0 env.LANG=C) (n=1m)",
            "points have several values"
        );
        assert_eq!(axis("A", &["1m", "4m"]).describe(), "A = 1m 4m");
        let fixed = [("F", value("F", "2"))].into();
        assert_eq!(
            words(&product(&fixed, &[vec![axis("A", &["1m", "4m"]), points]])),
            [
                "collector=copying A=1m F=2 n=0 env.LANG=C",
                "A=1m F=2 n=1m",
                "collector=copying A=4m F=2 n=0 env.LANG=C",
                "A=4m F=2 n=1m"
            ]
        );
        assert_eq!(words(&product(&fixed, &[])), ["F=2"]);
    }
}
