//! The settings that a search may try, as points of a grid: each flag is an axis with its values.
//!
//! One value of each axis means that the flag is not given; the default setting has that value of
//! every axis.

/// An axis of a space: the texts of a flag's values in order, and `None` where it is not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The key of the flag.
    pub key: String,
    /// The values to choose from; `None` is the default.
    pub values: Vec<Option<String>>,
}

/// A setting: the number of a value of each axis.
pub type Point = Vec<usize>;

/// The settings of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    axes: Vec<Axis>,
    points: Vec<Point>,
    default: usize,
}

impl Space {
    /// The points of the product of `axes` that `is_legal` accepts. The default is always among
    /// them.
    ///
    /// # Panics
    /// Panics if an axis lacks the value `None`.
    pub fn new(axes: Vec<Axis>, mut is_legal: impl FnMut(&[Axis], &Point) -> bool) -> Space {
        let absent = |axis: &Axis| axis.values.iter().position(Option::is_none);
        let default: Point = axes.iter().map(|axis| absent(axis).expect("a default")).collect();
        let product = axes.iter().fold(vec![Point::new()], |points, axis| {
            let with = |point: &Point| {
                let point = point.clone();
                (0..axis.values.len()).map(move |value| [&point[..], &[value]].concat())
            };
            points.iter().flat_map(with).collect()
        });
        let points: Vec<Point> = product
            .into_iter()
            .filter(|point| *point == default || is_legal(&axes, point))
            .collect();
        let default = points.iter().position(|point| *point == default).expect("it was kept");
        Space { axes, points, default }
    }

    /// The number of settings.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is nothing to choose from: the default setting is the only one.
    pub fn is_empty(&self) -> bool {
        self.points.len() == 1
    }

    /// The number of the default setting.
    pub fn default_setting(&self) -> usize {
        self.default
    }

    /// The flags of the space.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The flags that a setting gives, with the text of their values.
    pub fn flags(&self, setting: usize) -> Vec<(&str, &str)> {
        given(&self.axes, &self.points[setting])
    }

    /// The point of a setting.
    pub(super) fn point(&self, setting: usize) -> &[usize] {
        &self.points[setting]
    }
}

/// The flags that a point gives.
pub fn given<'a>(axes: &'a [Axis], point: &[usize]) -> Vec<(&'a str, &'a str)> {
    let pairs = axes.iter().zip(point);
    pairs
        .filter_map(|(axis, value)| Some((axis.key.as_str(), axis.values[*value].as_deref()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(key: &str, values: &[Option<&str>]) -> Axis {
        Axis {
            key: key.to_owned(),
            values: values.iter().map(|value| value.map(str::to_owned)).collect(),
        }
    }

    #[test]
    fn a_space_has_the_legal_points_and_the_default() {
        let axes = vec![
            axis("A", &[Some("1m"), None, Some("16m"), Some("64m")]),
            axis("gc", &[None, Some("Serial"), Some("G1")]),
        ];
        // No G1 with the largest size; and the default is kept although it is refused here.
        let space = Space::new(axes, |_, point| *point != [3, 2] && *point != [1, 0]);
        assert_eq!(space.len(), 11);
        assert_eq!(space.flags(space.default_setting()), []);
        let named = |setting: usize| -> String {
            let flags = space.flags(setting).into_iter();
            flags.map(|(key, value)| format!("{key}={value} ")).collect()
        };
        let all: Vec<String> = (0..space.len()).map(named).collect();
        assert!(all.contains(&"A=16m gc=G1 ".to_owned()), "{all:?}");
        assert!(!all.contains(&"A=64m gc=G1 ".to_owned()), "{all:?}");
    }
}
