//! From values to pixels, and round numbers between.

use crate::number::fixed;

/// A line of pixels that stands for a line of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) values: (f64, f64),
    pub(crate) pixels: (f64, f64),
}

impl Scale {
    /// A scale; values that are all the same get some room.
    pub(crate) fn new(values: (f64, f64), pixels: (f64, f64)) -> Self {
        let (low, high) = values;
        let values = if high > low {
            values
        } else {
            let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low - room, low + room)
        };
        Scale { values, pixels }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let (start, end) = self.pixels;
        start + (value - low) / (high - low) * (end - start)
    }

    /// Ends that are nearly round numbers made round: rewards from 0.0003 to 0.9998 are rewards from 0 to 1.
    pub(crate) fn rounded(mut self) -> Self {
        let (low, high) = self.values;
        let room = 0.01 * (high - low);
        let wider = Scale { values: (low - room, high + room), ..self };
        for (tick, _) in wider.ticks(5) {
            if tick < low {
                self.values.0 = tick;
            } else if tick > high {
                self.values.1 = tick;
            }
        }
        self
    }

    /// Round numbers, about so many, with their decimals.
    pub(crate) fn ticks(&self, about: usize) -> Vec<(f64, String)> {
        let (low, high) = self.values;
        let rough = (high - low) / about.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough * 0.999).unwrap_or(rough);
        let places = (-step.log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        // A scale far from 0 whose step is lost in rounding has no round numbers.
        if last < first || last - first > 100 {
            return Vec::new();
        }
        (first..=last).map(|i| i as f64 * step).map(|value| (value, fixed(value, places))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        Scale::new((low, high), (0.0, 1.0)).ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-0.013, 0.041), ["0.00", "0.02", "0.04"]);
        assert_eq!(labels(0.0, 12_345.0), ["0", "5,000", "10,000"]);
        assert_eq!(labels(3.0, 3.0), ["2", "3", "4"]);
    }

    #[test]
    fn ends_that_are_nearly_round_become_round() {
        let rounded = |low, high| Scale::new((low, high), (0.0, 1.0)).rounded().values;
        assert_eq!(rounded(0.0003, 0.9998), (0.0, 1.0));
        assert_eq!(rounded(0.05, 0.9), (0.05, 0.9));
    }

    #[test]
    fn values_become_pixels() {
        let scale = Scale::new((1.0, 3.0), (100.0, 0.0));
        assert_eq!((scale.at(1.0), scale.at(2.0), scale.at(3.0)), (100.0, 50.0, 0.0));
    }
}
