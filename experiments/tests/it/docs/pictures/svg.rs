//! SVG pictures of boxes, text and arrows. Text that does not fit its box is an error.

use std::fmt::Write as _;

/// A picture under construction.
pub(super) struct Picture {
    body: String,
    width: f64,
    height: f64,
    about: String,
}

/// A rectangle of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A font: size and weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Font {
    pub size: f64,
    pub bold: bool,
}

pub(super) const TITLE: Font = Font { size: 13.0, bold: true };
pub(super) const TEXT: Font = Font {
    size: 12.0,
    bold: false,
};
pub(super) const SMALL: Font = Font {
    size: 11.0,
    bold: false,
};

/// The space between a box's border and its text.
const PADDING: f64 = 10.0;
/// The height of a line of text, in font sizes.
const LINE: f64 = 1.4;

const STYLE: &str = ".white{fill:#fff}.plain{fill:#fff;stroke:#7a808a;stroke-dasharray:4 3}.blue{fill:#e8eefb;stroke:#4467a5}.green{fill:#e6f4ea;stroke:#3d7f52}\
    .sand{fill:#fbf3e0;stroke:#a5813b}.grey{fill:#f0f1f3;stroke:#7a808a}.red{fill:#fbe9e7;stroke:#a9483a}\
    rect{stroke-width:1.3}text{fill:#1b2a41}.more{fill:#45526b}\
    .arrow{stroke:#55617a;stroke-width:1.4;fill:none;marker-end:url(#tip)}.line{stroke:#55617a;stroke-width:1.2;fill:none}\
    .dash{stroke:#55617a;stroke-width:1.2;fill:none;stroke-dasharray:4 3}";

/// An upper bound for the width of a text in common sans-serif fonts.
pub(super) fn width_of(text: &str, font: Font) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.34,
        'f' | 'r' | 't' | '(' | ')' | ' ' | '-' | '/' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' => 0.98,
        'A'..='Z' | '×' | '–' | '+' | '<' | '>' | '=' => 0.76,
        _ => 0.64,
    };
    let bold = if font.bold { 1.1 } else { 1.0 };
    text.chars().map(em).sum::<f64>() * font.size * bold
}

/// The lines of a text wrapped to a width.
pub(super) fn wrap(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), font) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Rect {
    pub(super) fn new(x: f64, y: f64, width: f64, height: f64) -> Rect {
        Rect { x, y, width, height }
    }

    pub(super) fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }

    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

impl Picture {
    /// An empty picture. `about` describes it in words.
    pub(super) fn new(width: f64, height: f64, about: &str) -> Picture {
        Picture {
            body: String::new(),
            width,
            height,
            about: about.to_owned(),
        }
    }

    /// An empty box.
    pub(super) fn rect(&mut self, rect: Rect, class: &str) {
        self.within(rect.right(), rect.bottom());
        let Rect { x, y, width, height } = rect;
        writeln!(
            self.body,
            r#"<rect class="{class}" x="{x:.0}" y="{y:.0}" width="{width:.0}" height="{height:.0}" rx="5"/>"#
        )
        .unwrap();
    }

    /// A line of text that starts at `x`, with its baseline at `y`.
    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, font: Font) {
        self.within(x + width_of(text, font), y);
        self.put_text(x, y, text, font, "start");
    }

    /// A line of text centred at `x`, with its baseline at `y`.
    pub(super) fn centred(&mut self, x: f64, y: f64, text: &str, font: Font) {
        self.within(x + width_of(text, font) / 2.0, y);
        self.put_text(x, y, text, font, "middle");
    }

    fn put_text(&mut self, x: f64, y: f64, text: &str, font: Font, anchor: &str) {
        let weight = if font.bold {
            r#" font-weight="600""#
        } else {
            r#" class="more""#
        };
        writeln!(
            self.body,
            r#"<text{weight} x="{x:.0}" y="{y:.0}" font-size="{}" text-anchor="{anchor}">{}</text>"#,
            font.size,
            escape(text)
        )
        .unwrap();
    }

    /// A box with a title and wrapped text.
    #[track_caller]
    pub(super) fn boxed(&mut self, rect: Rect, class: &str, title: &str, text: &str) {
        self.rect(rect, class);
        let room = rect.width - 2.0 * PADDING;
        let mut foot = rect.y + 6.0;
        let titles = wrap(title, TITLE, room);
        let lines = wrap(text, TEXT, room);
        let all = titles
            .iter()
            .map(|line| (line, TITLE))
            .chain(lines.iter().map(|line| (line, TEXT)));
        for (line, font) in all {
            assert!(width_of(line, font) <= room, "{line:?} is wider than its box");
            foot += font.size * LINE;
            self.put_text(rect.x + PADDING, foot, line, font, "start");
        }
        assert!(
            foot + 4.0 <= rect.bottom(),
            "{title:?}: the text is higher than its box"
        );
    }

    /// A box with one centred line.
    #[track_caller]
    pub(super) fn label(&mut self, rect: Rect, class: &str, text: &str, font: Font) {
        self.rect(rect, class);
        let lines = wrap(text, font, rect.width - 4.0);
        let height = font.size * LINE;
        let mut foot = rect.y + (rect.height - height * lines.len() as f64) / 2.0 + font.size * 1.05;
        assert!(
            height * lines.len() as f64 <= rect.height,
            "{text:?} is higher than its box"
        );
        for line in &lines {
            assert!(
                width_of(line, font) <= rect.width - 4.0,
                "{line:?} is wider than its box"
            );
            self.put_text(rect.middle(), foot, line, font, "middle");
            foot += height;
        }
    }

    /// A line through these points, with an arrow at its end if the class is `arrow`.
    pub(super) fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.0} {y:.0}")).collect();
        writeln!(self.body, r#"<path class="{class}" d="M{}"/>"#, points.join(" L")).unwrap();
    }

    /// SVG text made elsewhere.
    pub(super) fn raw(&mut self, svg: &str) {
        self.body.push_str(svg);
        self.body.push('\n');
    }

    #[track_caller]
    fn within(&self, right: f64, bottom: f64) {
        assert!(
            right <= self.width && bottom <= self.height,
            "({right:.0}, {bottom:.0}) is outside of the picture"
        );
    }

    /// The whole file.
    pub(super) fn finish(self) -> String {
        let Picture {
            body,
            width,
            height,
            about,
        } = self;
        let about = escape(&about);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif\" role=\"img\" aria-label=\"{about}\">\n\
             <title>{about}</title>\n<style>{STYLE}</style>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0 0 10 5 0 10z\" fill=\"#55617a\"/></marker></defs>\n\
             <rect class=\"white\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n{body}</svg>\n"
        )
    }
}
