//! Distribution functions with their bands.

use slateval::{Cdf, Evaluation, PolicyEvaluation};

use super::canvas::{Canvas, Role, path};
use super::frame::{Chart, Frame, Size, Titles};
use super::thin::thinned;
use crate::standing::{Standing, band_ends};

/// How a distribution goes from one reward to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Curve {
    /// Every reward is known: the CDF jumps.
    Steps,
    /// Rewards were put into bins: it rises through them.
    Lines,
}

impl Curve {
    /// How the rewards of an evaluation's log are drawn.
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        if evaluation.log.reward.distinct.is_some() { Curve::Steps } else { Curve::Lines }
    }
}

/// CDFs in one picture.
#[derive(Debug)]
pub(crate) struct CdfChart<'a> {
    pub(crate) policies: &'a [PolicyEvaluation],
    /// The rewards to show.
    pub(crate) range: (f64, f64),
    pub(crate) curve: Curve,
    pub(crate) bands: bool,
    /// Most points of a line.
    pub(crate) points: usize,
}

/// The rewards that a picture has to show. A few enormous ones would leave no room for the others: then up to where all
/// but one in a thousand are.
pub(crate) fn reward_range(policies: &[PolicyEvaluation]) -> (f64, f64) {
    let cut = |low: f64, high: f64| {
        let ends = policies.iter().filter_map(|p| {
            let at = |level: f64| p.cdf.estimate.partition_point(|f| *f < level);
            let last = p.cdf.reward.len().checked_sub(1)?;
            Some((p.cdf.reward[at(low).min(last)], p.cdf.reward[at(high).min(last)]))
        });
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (a, b)| (l.min(a), h.max(b)))
    };
    let (whole, most) = (cut(0.0, 1.0), cut(0.001, 0.999));
    let far = (whole.1 - whole.0) > 8.0 * (most.1 - most.0) && most.1 > most.0;
    let (low, high) = if far { most } else { whole };
    if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) }
}

impl Chart for CdfChart<'_> {
    fn frame(&self, size: Size) -> Frame {
        let (low, high) = self.range;
        let room = if self.curve == Curve::Steps { 0.03 * (high - low) } else { 0.0 };
        let mut frame = Frame::new(size, (low - room, high + room), (0.0, 1.0));
        frame.x = frame.x.rounded();
        frame
    }

    fn draw(&self, canvas: &mut Canvas, frame: &Frame, titles: Titles<'_>) {
        frame.draw(canvas, titles);
        let thin: Vec<Cdf> = self.policies.iter().map(|p| thinned(&p.cdf, self.points)).collect();
        if self.bands {
            for (i, cdf) in thin.iter().enumerate() {
                let (lower, upper) = band_ends(cdf);
                let (lower, upper) = (self.bound(cdf, lower, frame), self.bound(cdf, upper, frame));
                if let (Some(lower), Some(upper)) = (lower, upper) {
                    canvas.band(i, Standing::of_band(cdf), &lower, &upper);
                }
            }
        }
        for (i, cdf) in thin.iter().enumerate() {
            canvas.path(Role::Line(i), &path(&self.trace(&cdf.reward, &cdf.estimate, frame)));
        }
    }

    fn has_marker(&self) -> bool {
        self.bands
    }
}

impl CdfChart<'_> {
    /// A side of the band, where there is one all along.
    fn bound(&self, cdf: &Cdf, bound: &[Option<f64>], frame: &Frame) -> Option<Vec<(f64, f64)>> {
        let values: Option<Vec<f64>> = bound.iter().copied().collect();
        Some(self.trace(&cdf.reward, &values?, frame)).filter(|points| !points.is_empty())
    }

    /// Pixels along the curve, from the left edge of the plot to its right one.
    fn trace(&self, rewards: &[f64], values: &[f64], frame: &Frame) -> Vec<(f64, f64)> {
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
        let start = if self.curve == Curve::Steps { 0.0 } else { *first };
        let (mut points, mut level) = (vec![frame.at(frame.x.values.0, start)], start);
        for (&reward, &value) in rewards.iter().zip(values) {
            if reward > frame.x.values.1 {
                points.push(frame.at(frame.x.values.1, level));
                return points;
            }
            if reward >= frame.x.values.0 {
                if self.curve == Curve::Steps {
                    points.push(frame.at(reward, level));
                }
                points.push(frame.at(reward, value));
            } else {
                points[0] = frame.at(frame.x.values.0, value);
            }
            level = value;
        }
        points.push(frame.at(frame.x.values.1, *last));
        points
    }
}
