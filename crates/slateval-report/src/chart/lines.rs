//! Intervals below each other, a line for each: differences in segments.

use slateval::Interval;

use super::canvas::{Canvas, Place, Role};
use super::frame::{Frame, Size};
use super::scale::Scale;
use crate::standing::{Standing, ends};

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

    /// How high the chart is.
    pub(crate) fn height(&self) -> f64 {
        TOP + BOTTOM + self.line_height() * self.lines.len() as f64
    }

    fn range(&self) -> (f64, f64) {
        let values = |(_, i): &(usize, &Interval)| [i.estimate, ends(i).0, ends(i).1].into_iter().flatten();
        let all = self.lines.iter().flat_map(|line| &line.intervals).flat_map(values);
        let (low, high) = all.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let room = 0.05 * (high - low);
        (low - room, high + room)
    }

    /// Draws it into a place of this width, whose corner is at `(dx, dy)`.
    pub(crate) fn draw(&self, canvas: &mut Canvas, size: Size, (dx, dy): (f64, f64), title: &str) {
        let (left, right) = (dx + NAMES, dx + size.width - 14.0);
        let (top, bottom) = (dy + TOP, dy + self.height() - BOTTOM);
        let frame = Frame { x: Scale::new(self.range(), (left, right)), y: Scale::new((0.0, 1.0), (bottom, top)) };
        for (value, label) in frame.x.ticks(((right - left) / 90.0).clamp(2.0, 8.0) as usize) {
            let x = frame.x.at(value);
            canvas.line(Role::Grid, (x, bottom), (x, top));
            canvas.text(Role::Tick, (x, bottom + 18.0), Place::Middle, label);
        }
        let zero = frame.x.at(0.0);
        canvas.line(Role::Axis, (zero, bottom), (zero, top));
        canvas.line(Role::Axis, (left, bottom), (right, bottom));
        canvas.text(Role::Label, ((left + right) / 2.0, bottom + 38.0), Place::Middle, title);
        for (i, line) in self.lines.iter().enumerate() {
            let from = top + self.line_height() * i as f64;
            canvas.text(Role::Tick, (left - 7.0, from + self.line_height() / 2.0 + 4.0), Place::End, &line.name);
            for (k, (policy, interval)) in line.intervals.iter().enumerate() {
                let y = from + ROOM / 2.0 + INTERVAL * (k as f64 + 0.5);
                draw_interval(canvas, &frame, y, *policy, interval);
            }
        }
    }
}

fn draw_interval(canvas: &mut Canvas, frame: &Frame, y: f64, policy: usize, interval: &Interval) {
    if let (Some(lower), Some(upper)) = ends(interval) {
        let (from, to) = (frame.x.at(lower), frame.x.at(upper));
        let role =
            if Standing::of(interval) == Standing::Conditional { Role::Edge(policy) } else { Role::Band(policy) };
        canvas.rect(role, from, y - 4.0, (to - from).max(1.0), 8.0);
    }
    if let Some(estimate) = interval.estimate {
        canvas.circle(Role::Dot(policy), (frame.x.at(estimate), y), 3.5);
    }
}
