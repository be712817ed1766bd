//! Shapes, and what they look like.

use std::fmt::{self, Display, Write};

use crate::markup::Markup;
use crate::standing::Standing;

/// A place in pixels, to a tenth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.1}", self.0);
        let text = text.strip_suffix(".0").unwrap_or(&text);
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Who decides about colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The page's style sheet.
    Themed,
    /// The drawing itself: dark on white.
    Printed,
}

/// What a shape is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Grid,
    Axis,
    Tick,
    Label,
    /// A policy's line, by the policy's place.
    Line(usize),
    Band(usize),
    /// An end of a band that holds only under a condition.
    Edge(usize),
    Bar(usize),
    Dot(usize),
    /// What a script moves.
    Marker,
}

/// Colours that the colour-blind tell apart (after Okabe and Ito, darkened to stand out on white): logging, then targets.
const COLOURS: [&str; 7] = ["#5b6470", "#0072b2", "#d55e00", "#00805d", "#a8488a", "#9a6700", "#2a7fb8"];

/// So that lines can be told apart without colours too.
const DASHES: [&str; 7] = ["5 4", "none", "11 3", "7 3 2 3", "3 3", "14 4 3 4", "2 2"];

/// Style sheets know a class for each of the colours.
const SERIES: [&str; 7] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6"];

/// Logging has a colour of its own; targets share the others.
fn colour(series: usize) -> usize {
    if series == 0 { 0 } else { 1 + (series - 1) % (COLOURS.len() - 1) }
}

/// The class of a policy's colour.
pub(crate) fn swatch(series: usize) -> &'static str {
    SERIES[colour(series)]
}

impl Role {
    fn class(self) -> String {
        let of = |what: &str, series: usize| format!("{what} {}", swatch(series));
        match self {
            Role::Grid => "grid".into(),
            Role::Axis => "axis".into(),
            Role::Tick => "tick".into(),
            Role::Label => "label".into(),
            Role::Line(series) => of("line", series),
            Role::Band(series) => of("band", series),
            Role::Edge(series) => of("edge", series),
            Role::Bar(series) => of("bar", series),
            Role::Dot(series) => of("dot", series),
            Role::Marker => "marker".into(),
        }
    }

    fn printed(self) -> Vec<(&'static str, String)> {
        let text = |size: f64, fill: &str| vec![("font-size", size.to_string()), ("fill", fill.to_owned())];
        let stroke = |colour: &str, width: &str| {
            vec![("fill", "none".to_owned()), ("stroke", colour.to_owned()), ("stroke-width", width.to_owned())]
        };
        let fill = |series: usize, opacity: &str| {
            vec![("fill", COLOURS[colour(series)].to_owned()), ("fill-opacity", opacity.to_owned())]
        };
        match self {
            Role::Grid => stroke("#e3e5e8", "1"),
            Role::Axis => stroke("#4a4f57", "1.2"),
            Role::Tick => text(12.0, "#4a4f57"),
            Role::Label => text(13.0, "#22252a"),
            Role::Line(series) => {
                let mut line = stroke(COLOURS[colour(series)], "2");
                line.push(("stroke-linejoin", "round".to_owned()));
                line.push(("stroke-dasharray", DASHES[colour(series)].to_owned()));
                line
            }
            Role::Band(series) => fill(series, "0.16"),
            Role::Edge(series) => {
                let mut edge = stroke(COLOURS[colour(series)], "1.2");
                edge.push(("stroke-dasharray", "2 3".to_owned()));
                edge
            }
            Role::Bar(series) | Role::Dot(series) => fill(series, "1"),
            Role::Marker => stroke("#4a4f57", "1"),
        }
    }

    fn series(self) -> Option<usize> {
        match self {
            Role::Line(s) | Role::Band(s) | Role::Edge(s) | Role::Bar(s) | Role::Dot(s) => Some(s),
            _ => None,
        }
    }
}

/// Where text stands relative to its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Start,
    Middle,
    End,
}

/// A drawing in the making.
#[derive(Debug)]
pub(crate) struct Canvas {
    pub(crate) markup: Markup,
    pub(crate) ink: Ink,
}

impl Canvas {
    pub(crate) fn new(ink: Ink) -> Self {
        Canvas { markup: Markup::default(), ink }
    }

    pub(crate) fn path(&mut self, role: Role, d: &str) {
        self.shape("path", role, &[("d", &d)]);
    }

    /// A policy's band: filled, or two dashed lines if it holds only under a condition.
    pub(crate) fn band(&mut self, policy: usize, standing: Standing, lower: &[(f64, f64)], upper: &[(f64, f64)]) {
        match standing {
            Standing::Conditional => [lower, upper].iter().for_each(|side| self.path(Role::Edge(policy), &path(side))),
            Standing::Stands | Standing::Refuted => self.path(Role::Band(policy), &area(lower, upper)),
        }
    }

    pub(crate) fn line(&mut self, role: Role, from: (f64, f64), to: (f64, f64)) {
        self.path(role, &path(&[from, to]));
    }

    pub(crate) fn rect(&mut self, role: Role, x: f64, y: f64, width: f64, height: f64) {
        self.shape("rect", role, &[("x", &Px(x)), ("y", &Px(y)), ("width", &Px(width)), ("height", &Px(height))]);
    }

    pub(crate) fn circle(&mut self, role: Role, (x, y): (f64, f64), radius: f64) {
        self.shape("circle", role, &[("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(radius))]);
    }

    pub(crate) fn text(&mut self, role: Role, (x, y): (f64, f64), place: Place, text: impl Display) {
        let anchor = match place {
            Place::Start => "start",
            Place::Middle => "middle",
            Place::End => "end",
        };
        let own: [(&'static str, &dyn Display); 3] = [("x", &Px(x)), ("y", &Px(y)), ("text-anchor", &anchor)];
        let look = self.look(role);
        let all: Vec<(&'static str, &dyn Display)> =
            own.into_iter().chain(look.iter().map(|(k, v)| (*k, v as &dyn Display))).collect();
        self.markup.element("text", &all, text);
    }

    fn shape(&mut self, tag: &'static str, role: Role, own: &[(&'static str, &dyn Display)]) {
        let look = self.look(role);
        let all: Vec<(&'static str, &dyn Display)> =
            own.iter().copied().chain(look.iter().map(|(k, v)| (*k, v as &dyn Display))).collect();
        self.markup.empty(tag, &all);
    }

    fn look(&self, role: Role) -> Vec<(&'static str, String)> {
        match self.ink {
            Ink::Printed => role.printed(),
            Ink::Themed => {
                let series = role.series().map(|s| ("data-series", s.to_string()));
                [("class", role.class())].into_iter().chain(series).collect()
            }
        }
    }
}

/// How far a line may be from where it should be, in pixels: less than anybody sees.
const CLOSE: f64 = 0.2;

/// A path through points, without those that nobody would miss; runs along an axis take one number each.
pub(crate) fn path(points: &[(f64, f64)]) -> String {
    trace(&simplified(points))
}

/// The points that a line needs to stay close to all of them (Ramer, Douglas and Peucker).
fn simplified(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; points.len()];
    (kept[0], kept[last]) = (true, true);
    let mut spans = vec![(0, last)];
    while let Some((from, to)) = spans.pop() {
        let far = (from + 1..to).map(|i| (distance(points[i], points[from], points[to]), i));
        if let Some((_, i)) = far.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(far, _)| *far > CLOSE) {
            kept[i] = true;
            spans.extend([(from, i), (i, to)]);
        }
    }
    points.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// How far a point is from the line between two others.
fn distance(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (along, up) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (point.0 - from.0, point.1 - from.1);
    let length = along * along + up * up;
    if length == 0.0 {
        return x.hypot(y);
    }
    let part = ((x * along + y * up) / length).clamp(0.0, 1.0);
    (x - part * along).hypot(y - part * up)
}

fn trace(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    let mut last: Option<(String, String)> = None;
    for &(x, y) in points {
        let (x, y) = (Px(x).to_string(), Px(y).to_string());
        // Writing to a string cannot fail.
        let _ = match &last {
            None => write!(out, "M{x} {y}"),
            Some((a, b)) if *a == x && *b == y => Ok(()),
            Some((_, b)) if *b == y => write!(out, "H{x}"),
            Some((a, _)) if *a == x => write!(out, "V{y}"),
            Some(_) => write!(out, "L{x} {y}"),
        };
        last = Some((x, y));
    }
    out
}

/// The area between two lines with the same places.
fn area(lower: &[(f64, f64)], upper: &[(f64, f64)]) -> String {
    let mut around = simplified(upper);
    around.extend(simplified(lower).iter().rev());
    let mut d = trace(&around);
    d.push('Z');
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short() {
        assert_eq!(path(&[(0.0, 0.0), (1.0, 0.0), (1.04, 2.0), (9.0, 4.25)]), "M0 0H1V2L9 4.2");
        assert_eq!(path(&[(0.0, 1.0), (0.01, 1.0)]), "M0 1");
        let straight: Vec<(f64, f64)> = (0..=100).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect();
        assert_eq!(path(&straight), "M0 0L100 200");
        assert_eq!(path(&[(0.0, 0.0), (5.0, 3.0), (5.0, -3.0), (10.0, 0.0)]), "M0 0L5 3V-3L10 0");
        assert_eq!(area(&[(0.0, 0.0), (1.0, 0.0)], &[(0.0, 2.0), (1.0, 2.0)]), "M0 2H1V0H0Z");
    }

    #[test]
    fn bands_with_a_condition_are_not_filled() {
        let (lower, upper) = ([(0.0, 9.0), (5.0, 8.0)], [(0.0, 4.0), (5.0, 3.0)]);
        let drawn = |standing: Standing| {
            let mut canvas = Canvas::new(Ink::Themed);
            canvas.band(1, standing, &lower, &upper);
            canvas.markup.into_string()
        };
        let dashed = drawn(Standing::Conditional);
        assert_eq!((dashed.matches("class=\"edge s1\"").count(), dashed.contains("band")), (2, false), "{dashed}");
        assert!(drawn(Standing::Stands).contains("class=\"band s1\""));
        assert_eq!(drawn(Standing::Stands), drawn(Standing::Refuted));
    }

    #[test]
    fn only_printed_drawings_carry_colours() {
        for (ink, expected) in [(Ink::Themed, false), (Ink::Printed, true)] {
            let mut canvas = Canvas::new(ink);
            canvas.line(Role::Line(9), (0.0, 0.0), (1.0, 1.0));
            assert_eq!(canvas.markup.into_string().contains('#'), expected);
        }
    }
}
