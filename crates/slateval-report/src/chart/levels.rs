//! Curves over levels: tails' means, and differences of quantiles.

use slateval::Interval;

use super::canvas::{Canvas, Place, Role, path};
use super::frame::{Chart, Frame, Size, Titles};
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
}

impl Chart for LevelChart<'_> {
    fn frame(&self, size: Size) -> Frame {
        Frame::new(size, (0.0, 100.0), self.range())
    }

    fn draw(&self, canvas: &mut Canvas, frame: &Frame, titles: Titles<'_>) {
        frame.draw(canvas, titles);
        if self.difference == Difference::Yes {
            let ((left, right), zero) = (frame.x.pixels, frame.y.at(0.0));
            canvas.line(Role::Axis, (left, zero), (right, zero));
            canvas.text(Role::Tick, (right - 4.0, frame.y.pixels.1 + 12.0), Place::End, "higher rewards ↑");
            canvas.text(Role::Tick, (right - 4.0, frame.y.pixels.0 - 7.0), Place::End, "lower rewards ↓");
        }
        for series in &self.series {
            let points: Vec<(f64, &Interval)> =
                self.levels.iter().map(|level| 100.0 * level).zip(series.values).collect();
            let has_band = |(_, i): &(f64, &Interval)| matches!(ends(i), (Some(_), Some(_)));
            // Where the band is missing, nothing is drawn.
            for run in points.chunk_by(|a, b| has_band(a) == has_band(b)).filter(|run| has_band(&run[0])) {
                let side = |of: fn(&Interval) -> Option<f64>| -> Vec<(f64, f64)> {
                    run.iter().filter_map(|(x, i)| Some(frame.at(*x, of(i)?))).collect()
                };
                let (lower, upper) = (side(|i| ends(i).0), side(|i| ends(i).1));
                canvas.band(series.policy, Standing::of(run[0].1), &lower, &upper);
            }
        }
        for series in &self.series {
            let points = self.levels.iter().zip(series.values);
            let line: Vec<(f64, f64)> = points.filter_map(|(x, i)| Some(frame.at(100.0 * x, i.estimate?))).collect();
            canvas.path(Role::Line(series.policy), &path(&line));
        }
    }

    fn has_marker(&self) -> bool {
        self.difference == Difference::No
    }
}
