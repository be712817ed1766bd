//! Errors over the number of rows, as SVG.

use std::fmt::Write;

use crate::study::measure::{Metric, Stat};
use crate::study::run::Results;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 260.0;
const MARGIN: [f64; 4] = [34.0, 12.0, 40.0, 56.0];
const LEGEND: f64 = 18.0;

/// Colour and width of an estimator's line: colours that the colour-blind can tell apart (Okabe and Ito), and one more.
fn stroke(estimator: &str) -> (&'static str, f64) {
    match estimator {
        "default" => ("#000000", 2.5),
        "SUnO" => ("#0072B2", 1.5),
        "UnO" => ("#D55E00", 1.5),
        "UnO, self-normalized" => ("#E69F00", 1.5),
        "additive, control variates" => ("#009E73", 1.5),
        "additive, calibrated" => ("#56B4E9", 1.5),
        "order 2, calibrated" => ("#CC79A7", 1.5),
        "order 3, calibrated" => ("#882255", 1.5),
        _ => ("#777777", 1.5),
    }
}

/// The mean squared error of the mean, the median, VaR and CVaR over the number of rows: a panel each, both axes
/// logarithmic, bars of one standard error.
pub fn errors(results: &Results) -> String {
    let alpha = results.alpha;
    let panels = [
        ("mean".to_owned(), Metric::MeanSquaredError),
        ("median".to_owned(), Metric::MedianSquaredError),
        (format!("VaR {alpha}"), Metric::VarSquaredError),
        (format!("CVaR {alpha}"), Metric::CvarSquaredError),
    ];
    let (width, height) = (2.0 * WIDTH, 2.0 * HEIGHT + LEGEND * (results.estimators.len() as f64 / 2.0).ceil() + 12.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{}: mean squared errors over {} trials</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        results.name, results.trials
    );
    for (i, (name, metric)) in panels.iter().enumerate() {
        let place = (WIDTH * (i % 2) as f64, HEIGHT * (i / 2) as f64);
        panel(&mut svg, results, &format!("MSE of the {name}"), *metric, place);
    }
    legend(&mut svg, results);
    svg.push_str("</svg>\n");
    svg
}

/// From numbers to places, on a logarithmic scale.
struct Axis {
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// Just around the values.
    fn close(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let (lo, hi) = values
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::MAX, 0.0), |(lo, hi): (f64, f64), v| (lo.min(v), hi.max(v)));
        let (lo, hi) = (lo.log10() - 0.1, hi.log10() + 0.1);
        (hi >= lo && hi.is_finite()).then_some(Axis { lo, hi, from, to })
    }

    /// Whole decades around the values.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let close = Self::close(values, from, to)?;
        let (lo, hi) = ((close.lo + 0.1).floor(), (close.hi - 0.1).ceil());
        Some(Axis { lo, hi: hi.max(lo + 1.0), from, to })
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.lo) / (self.hi - self.lo);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    fn decades(&self) -> impl Iterator<Item = i32> {
        self.lo.ceil() as i32..=self.hi.floor() as i32
    }
}

fn panel(svg: &mut String, results: &Results, title: &str, metric: Metric, (left, top): (f64, f64)) {
    let [above, right, below, beside] = MARGIN;
    let (x0, x1) = (left + beside, left + WIDTH - right);
    let (y0, y1) = (top + HEIGHT - below, top + above);
    let stats = |estimator: &'static str| {
        results.sizes.iter().filter_map(move |&n| Some((n as f64, results.get(n, estimator, metric)?)))
    };
    let all: Vec<(f64, Stat)> = results.estimators.iter().flat_map(|e| stats(e)).collect();
    let x = Axis::close(results.sizes.iter().map(|&n| n as f64), x0, x1);
    let y = Axis::around(all.iter().map(|(_, stat)| stat.mean), y0, y1);
    let _ = writeln!(svg, "<text x=\"{x0}\" y=\"{}\" font-weight=\"bold\">{title}</text>", y1 - 10.0);
    let (Some(x), Some(y)) = (x, y) else { return };
    axes(svg, &x, &y);
    for estimator in &results.estimators {
        let points: Vec<(f64, Stat)> = stats(estimator).filter(|(_, s)| s.mean > 0.0).collect();
        curve(svg, &points, &x, &y, stroke(estimator));
    }
}

fn axes(svg: &mut String, x: &Axis, y: &Axis) {
    let mut line = |[x1, x2, y1, y2]: [f64; 4], (x, y, anchor): (f64, f64, &str), decade: i32| {
        let _ = writeln!(
            svg,
            "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">\
             10<tspan dy=\"-4\" font-size=\"8\">{decade}</tspan></text>"
        );
    };
    for decade in y.decades() {
        let at = y.place(10f64.powi(decade));
        line([x.from, x.to, at, at], (x.from - 6.0, at + 4.0, "end"), decade);
    }
    for decade in x.decades() {
        let at = x.place(10f64.powi(decade));
        line([at, at, y.from, y.to], (at, y.from + 16.0, "middle"), decade);
    }
    let middle = (x.from + x.to) / 2.0;
    let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">rows</text>", y.from + 30.0);
}

fn curve(svg: &mut String, points: &[(f64, Stat)], x: &Axis, y: &Axis, (colour, width): (&str, f64)) {
    let place = |(n, stat): &(f64, Stat)| format!("{:.1},{:.1}", x.place(*n), y.place(stat.mean));
    let path: Vec<String> = points.iter().map(place).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
        path.join(" ")
    );
    for (n, stat) in points {
        let (at, se) = (x.place(*n), stat.se.unwrap_or(0.0));
        let (low, high) = (y.place(stat.mean - se), y.place(stat.mean + se));
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\" stroke=\"{colour}\"/>\
             <circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>",
            y.place(stat.mean)
        );
    }
}

fn legend(svg: &mut String, results: &Results) {
    for (e, estimator) in results.estimators.iter().enumerate() {
        let (colour, width) = stroke(estimator);
        let (x, y) = (MARGIN[3] + WIDTH * (e % 2) as f64, 2.0 * HEIGHT + LEGEND * ((e / 2) as f64 + 0.7));
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\
             <text x=\"{}\" y=\"{y}\">{estimator}</text>",
            x + 22.0,
            y - 4.0,
            y - 4.0,
            x + 28.0
        );
    }
}
