//! Shapes, and what they look like.

use std::fmt::{self, Display, Write};

use slateval::Interval;

use crate::markup::{Escaped, Markup};
use crate::standing::{Standing, ends};

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

/// Colours that the colour-blind tell apart (after Okabe and Ito, darkened to stand out on white), and dashes that tell
/// lines apart without colours: logging, then targets. Style sheets know a class for each.
const LOOKS: [(&str, &str); 7] = [
    ("#5b6470", "5 4"),
    ("#0072b2", "none"),
    ("#d55e00", "11 3"),
    ("#00805d", "7 3 2 3"),
    ("#a8488a", "3 3"),
    ("#9a6700", "14 4 3 4"),
    ("#2a7fb8", "2 2"),
];

/// Logging has a look of its own; targets share the others.
fn look_of(series: usize) -> usize {
    if series == 0 { 0 } else { 1 + (series - 1) % (LOOKS.len() - 1) }
}

/// The class of a policy's colour.
pub(crate) fn swatch(series: usize) -> String {
    format!("s{}", look_of(series))
}

impl Role {
    /// Attributes that a style sheet finds.
    fn themed(self) -> String {
        let of = |what: &str, series: usize| format!(r#" class="{what} {}" data-series="{series}""#, swatch(series));
        match self {
            Role::Grid => r#" class="grid""#.into(),
            Role::Axis => r#" class="axis""#.into(),
            Role::Tick => r#" class="tick""#.into(),
            Role::Label => r#" class="label""#.into(),
            Role::Line(series) => of("line", series),
            Role::Band(series) => of("band", series),
            Role::Edge(series) => of("edge", series),
            Role::Bar(series) => of("bar", series),
            Role::Dot(series) => of("dot", series),
            Role::Marker => r#" class="marker""#.into(),
        }
    }

    /// Attributes that need no style sheet.
    fn printed(self) -> String {
        let text = |size: u32, fill: &str| format!(r#" font-size="{size}" fill="{fill}""#);
        let stroke = |colour: &str, width: f64| format!(r#" fill="none" stroke="{colour}" stroke-width="{width}""#);
        let colour = |series: usize| LOOKS[look_of(series)].0;
        let fill = |series: usize, opacity: f64| format!(r#" fill="{}" fill-opacity="{opacity}""#, colour(series));
        match self {
            Role::Grid => stroke("#e3e5e8", 1.0),
            Role::Axis => stroke("#4a4f57", 1.2),
            Role::Tick => text(12, "#4a4f57"),
            Role::Label => text(13, "#22252a"),
            Role::Line(series) => {
                let (colour, dashes) = LOOKS[look_of(series)];
                format!(r#"{} stroke-linejoin="round" stroke-dasharray="{dashes}""#, stroke(colour, 2.0))
            }
            Role::Band(series) => fill(series, 0.16),
            Role::Edge(series) => stroke(colour(series), 1.2) + r#" stroke-dasharray="2 3""#,
            Role::Bar(series) | Role::Dot(series) => fill(series, 1.0),
            Role::Marker => stroke("#4a4f57", 1.0),
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
        let look = self.look(role);
        self.markup.raw(format_args!(r#"<path d="{d}"{look}/>"#));
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
        let (look, x, y, width, height) = (self.look(role), Px(x), Px(y), Px(width), Px(height));
        self.markup.raw(format_args!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}"{look}/>"#));
    }

    /// A dot at an estimate and a bar along its interval, at a height; `at` has the pixels of values.
    pub(crate) fn interval(&mut self, policy: usize, interval: &Interval, at: impl Fn(f64) -> f64, y: f64) {
        if let (Some(lower), Some(upper)) = ends(interval) {
            let (from, to) = (at(lower), at(upper));
            let role = if interval.conditional { Role::Edge(policy) } else { Role::Band(policy) };
            self.rect(role, from, y - 4.0, (to - from).max(1.0), 8.0);
        }
        if let Some(estimate) = interval.estimate {
            let (look, x, y) = (self.look(Role::Dot(policy)), Px(at(estimate)), Px(y));
            self.markup.raw(format_args!(r#"<circle cx="{x}" cy="{y}" r="3.5"{look}/>"#));
        }
    }

    pub(crate) fn text(&mut self, role: Role, (x, y): (f64, f64), place: Place, text: impl Display) {
        let anchor = match place {
            Place::Start => "start",
            Place::Middle => "middle",
            Place::End => "end",
        };
        let (look, x, y, text) = (self.look(role), Px(x), Px(y), Escaped(&text));
        self.markup.raw(format_args!(r#"<text x="{x}" y="{y}" text-anchor="{anchor}"{look}>{text}</text>"#));
    }

    fn look(&self, role: Role) -> String {
        match self.ink {
            Ink::Printed => role.printed(),
            Ink::Themed => role.themed(),
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
