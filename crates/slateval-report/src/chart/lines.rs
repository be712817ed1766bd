//! Intervals below each other, a line for each: differences in segments.

use slateval::Interval;

use super::canvas::{Canvas, Ink, Place, Role};
use super::frame::{Chart, Frame, Size, Titles};
use super::scale::Scale;
use crate::markup::{Markup, html};
use crate::standing::ends;

/// Room for names to the left of the plot.
const NAMES: f64 = 150.0;
/// Height of one interval, and room between lines.
const INTERVAL: f64 = 12.0;
const ROOM: f64 = 10.0;
/// Room above and below the lines.
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;

/// One line: its name, and the intervals of some policies by their places.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) name: String,
    pub(crate) intervals: Vec<(usize, &'a Interval)>,
}

/// Lines of intervals on one scale with 0 in it.
#[derive(Debug)]
pub(crate) struct LineChart<'a> {
    pub(crate) lines: Vec<Line<'a>>,
}

impl LineChart<'_> {
    fn line_height(&self) -> f64 {
        let most = self.lines.iter().map(|line| line.intervals.len()).max().unwrap_or(1).max(1);
        INTERVAL * most as f64 + ROOM
    }

    fn range(&self) -> (f64, f64) {
        let values = |(_, i): &(usize, &Interval)| [i.estimate, ends(i).0, ends(i).1].into_iter().flatten();
        let all = self.lines.iter().flat_map(|line| &line.intervals).flat_map(values);
        let (low, high) = all.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let room = 0.05 * (high - low);
        (low - room, high + room)
    }
}

impl Chart for LineChart<'_> {
    fn height(&self, _: f64) -> f64 {
        TOP + BOTTOM + self.line_height() * self.lines.len() as f64
    }

    fn frame(&self, size: Size) -> Frame {
        let height = self.height(size.height);
        Frame {
            x: Scale::new(self.range(), (NAMES, size.width - 14.0)),
            y: Scale::new((0.0, 1.0), (height - BOTTOM, TOP)),
        }
    }

    fn draw(&self, canvas: &mut Canvas, frame: &Frame, titles: Titles<'_>) {
        let ((left, right), (bottom, top)) = (frame.x.pixels, frame.y.pixels);
        for (value, label) in frame.x.ticks(((right - left) / 90.0).clamp(2.0, 8.0) as usize) {
            let x = frame.x.at(value);
            canvas.line(Role::Grid, (x, bottom), (x, top));
            canvas.text(Role::Tick, (x, bottom + 18.0), Place::Middle, label);
        }
        let zero = frame.x.at(0.0);
        canvas.line(Role::Axis, (zero, bottom), (zero, top));
        canvas.line(Role::Axis, (left, bottom), (right, bottom));
        canvas.text(Role::Label, ((left + right) / 2.0, bottom + 38.0), Place::Middle, titles.x);
        for (i, line) in self.lines.iter().enumerate() {
            let from = top + self.line_height() * i as f64;
            canvas.text(Role::Tick, (left - 7.0, from + self.line_height() / 2.0 + 4.0), Place::End, &line.name);
            for (k, (policy, interval)) in line.intervals.iter().enumerate() {
                let y = from + ROOM / 2.0 + INTERVAL * (k as f64 + 0.5);
                canvas.interval(*policy, interval, |value| frame.x.at(value), y);
            }
        }
    }
}

/// An estimate and its interval on a line, to stand in a table, and where 0 is. The table says the numbers, so the drawing
/// is hidden from screen readers.
pub(crate) fn interval_bar(interval: &Interval, range: (f64, f64), policy: usize) -> Markup {
    const WIDTH: f64 = 150.0;
    const HEIGHT: f64 = 18.0;
    let scale = Scale::new(range, (4.0, WIDTH - 4.0));
    let mut canvas = Canvas::new(Ink::Themed);
    let zero = scale.at(0.0);
    canvas.line(Role::Axis, (zero, 0.0), (zero, HEIGHT));
    let clamped = |value: f64| scale.at(value.clamp(scale.values.0, scale.values.1));
    canvas.interval(policy, interval, clamped, HEIGHT / 2.0);
    let mut m = Markup::default();
    html!(m, r#"<svg class="bar-line" viewBox="0 0 {} {}" aria-hidden="true">"#, WIDTH, HEIGHT);
    m.add(&canvas.markup);
    html!(m, "</svg>");
    m
}
