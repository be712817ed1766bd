//! Curves over levels: tails' means, and differences of quantiles.

use slateval::Interval;

use super::canvas::{Canvas, Ink, Place, Role, path};
use super::frame::{Frame, Size, Titles, wrap};
use crate::markup::Markup;
use crate::standing::{Standing, ends};

/// One curve with its band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series<'a> {
    /// The policy's place, for its colour.
    pub(crate) policy: usize,
    pub(crate) values: &'a [Interval],
}

/// Whether 0 means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Above 0 is better, below is worse.
    Yes,
    No,
}

/// Curves over levels between 0 and 1.
#[derive(Debug)]
pub(crate) struct LevelChart<'a> {
    pub(crate) levels: &'a [f64],
    pub(crate) series: Vec<Series<'a>>,
    pub(crate) difference: Difference,
}

impl LevelChart<'_> {
    fn range(&self) -> (f64, f64) {
        let values = |i: &Interval| [i.estimate, ends(i).0, ends(i).1].into_iter().flatten();
        let all = self.series.iter().flat_map(|s| s.values).flat_map(values);
        let zero = (self.difference == Difference::Yes).then_some(0.0);
        let (low, high) = all.chain(zero).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if !(low.is_finite() && high.is_finite()) {
            return (0.0, 1.0);
        }
        let room = 0.05 * (high - low);
        (low - room, high + room)
    }

    pub(crate) fn frame(&self, size: Size) -> Frame {
        Frame::new(size, (0.0, 100.0), self.range())
    }

    /// The picture for a page. `words` are its name and what it shows.
    pub(crate) fn svg(
        &self,
        id: &str,
        class: &'static str,
        size: Size,
        titles: Titles<'_>,
        words: (&str, &str),
    ) -> Markup {
        let frame = self.frame(size);
        let mut canvas = Canvas::new(Ink::Themed);
        self.draw(&mut canvas, &frame, titles);
        if self.difference == Difference::No {
            let (bottom, top) = frame.y.pixels;
            canvas.line(Role::Marker, (frame.x.pixels.0, bottom), (frame.x.pixels.0, top));
        }
        wrap(id, class, size, &frame, words, &canvas)
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, frame: &Frame, titles: Titles<'_>) {
        frame.draw(canvas, titles);
        if self.difference == Difference::Yes {
            let ((left, right), zero) = (frame.x.pixels, frame.y.at(0.0));
            canvas.line(Role::Axis, (left, zero), (right, zero));
            canvas.text(Role::Tick, (right - 4.0, frame.y.pixels.1 + 12.0), Place::End, "higher rewards ↑");
            canvas.text(Role::Tick, (right - 4.0, frame.y.pixels.0 - 7.0), Place::End, "lower rewards ↓");
        }
        for series in &self.series {
            for run in self.runs(series) {
                let side = |of: fn(&Interval) -> Option<f64>| -> Vec<(f64, f64)> {
                    run.iter().filter_map(|(x, i)| Some(frame.at(*x, of(i)?))).collect()
                };
                let (lower, upper) = (side(|i| ends(i).0), side(|i| ends(i).1));
                let standing = run.first().map_or(Standing::Stands, |(_, i)| Standing::of(i));
                canvas.band(series.policy, standing, &lower, &upper);
            }
        }
        for series in &self.series {
            let points = self.levels.iter().zip(series.values);
            let line: Vec<(f64, f64)> = points.filter_map(|(x, i)| Some(frame.at(100.0 * x, i.estimate?))).collect();
            canvas.path(Role::Line(series.policy), &path(&line));
        }
    }

    /// Levels without a gap in the band: where it is missing nothing is drawn.
    fn runs<'s>(&self, series: &Series<'s>) -> Vec<Vec<(f64, &'s Interval)>> {
        let mut runs: Vec<Vec<(f64, &Interval)>> = vec![Vec::new()];
        for (level, interval) in self.levels.iter().zip(series.values) {
            let (lower, upper) = ends(interval);
            let open = lower.is_none() || upper.is_none();
            match runs.last_mut() {
                Some(run) if !open => run.push((100.0 * level, interval)),
                Some(run) if run.is_empty() => {}
                _ => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }
}
