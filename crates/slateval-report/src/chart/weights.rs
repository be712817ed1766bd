//! How many rows have which weight.

use slateval::WeightHistogram;

use super::canvas::{Canvas, Place, Role};
use super::frame::{Chart, Frame, Size, Titles};
use crate::number::{count, fixed};

/// Most bars.
const BARS: usize = 40;

/// A histogram on two crowded scales: weights by ratio, rows by powers of ten. What matters are the few large weights.
#[derive(Debug)]
pub(crate) struct WeightChart {
    edges: Vec<f64>,
    counts: Vec<u64>,
    policy: usize,
}

impl WeightChart {
    pub(crate) fn new(histogram: &WeightHistogram, policy: usize) -> Self {
        let together = histogram.counts.len().div_ceil(BARS).max(1);
        let counts: Vec<u64> = histogram.counts.chunks(together).map(|c| c.iter().sum()).collect();
        let last = histogram.edges.len().saturating_sub(1);
        let edges = (0..=counts.len()).filter_map(|i| histogram.edges.get((i * together).min(last)).copied()).collect();
        WeightChart { edges, counts, policy }
    }

    fn most(&self) -> f64 {
        self.counts.iter().copied().max().unwrap_or(1).max(1) as f64
    }

    fn axis(&self, canvas: &mut Canvas, frame: &Frame) {
        let ((left, right), (bottom, top)) = (frame.x.pixels, frame.y.pixels);
        canvas.line(Role::Axis, (left, bottom), (right, bottom));
        let every = self.edges.len().div_ceil(((right - left) / 62.0).max(2.0) as usize).max(1);
        for (i, edge) in self.edges.iter().enumerate().step_by(every) {
            let x = frame.x.at(i as f64);
            canvas.line(Role::Axis, (x, bottom), (x, bottom + 4.0));
            let places = if *edge == 0.0 || edge.abs() >= 10.0 { 0 } else { 2 };
            canvas.text(Role::Tick, (x, bottom + 18.0), Place::Middle, fixed(*edge, places));
        }
        canvas.text(Role::Label, ((left + right) / 2.0, bottom + 38.0), Place::Middle, "weight of a slate");
        canvas.text(Role::Label, (left - 48.0, top - 13.0), Place::Start, "slates");
    }
}

impl Chart for WeightChart {
    fn frame(&self, size: Size) -> Frame {
        Frame::new(size, (0.0, self.counts.len() as f64), (0.0, self.most().log10() + 0.2))
    }

    fn draw(&self, canvas: &mut Canvas, frame: &Frame, _: Titles<'_>) {
        let most = self.most();
        // A row is a tenth of a power high, so that it shows.
        let height = |rows: u64| if rows == 0 { 0.0 } else { (rows as f64).log10() + 0.1 };
        let (left, right) = frame.x.pixels;
        for power in 0..=(most.log10().floor() as u32) {
            let y = frame.y.at(f64::from(power) + 0.1);
            canvas.line(Role::Grid, (left, y), (right, y));
            canvas.text(Role::Tick, (left - 7.0, y + 4.0), Place::End, short(10u64.pow(power)));
        }
        for (i, &rows) in self.counts.iter().enumerate() {
            let ((x, y), (end, base)) = (frame.at(i as f64, height(rows)), frame.at(i as f64 + 1.0, 0.0));
            if rows > 0 {
                canvas.rect(Role::Bar(self.policy), x + 0.5, y, (end - x - 1.0).max(0.5), base - y);
            }
        }
        self.axis(canvas, frame);
    }
}

fn short(rows: u64) -> String {
    match rows {
        0..10_000 => count(rows),
        10_000..1_000_000 => format!("{}k", rows / 1000),
        _ => format!("{}M", count(rows / 1_000_000)),
    }
}
