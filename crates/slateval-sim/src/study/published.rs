//! What the paper prints.

use crate::study::measure::Metric;

/// A figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Rows of the log.
    pub size: u64,
    /// The estimator.
    pub estimator: &'static str,
    /// What it is.
    pub metric: Metric,
    /// As printed.
    pub value: f64,
}

type Column = (u64, f64, f64);

const TABLE_1A: [Column; 4] = [(500, 0.131, 0.256), (1000, 0.102, 0.191), (5000, 0.059, 0.098), (10_000, 0.049, 0.077)];
const TABLE_1B: [Column; 4] =
    [(500_000, 0.169, 0.441), (1_000_000, 0.173, 0.410), (5_000_000, 0.181, 0.319), (10_000_000, 0.184, 0.252)];
const TABLE_2: [Column; 3] = [(50_000, 0.253, 0.543), (1_000_000, 0.257, 0.541), (5_000_000, 0.269, 0.567)];

/// The figures that the paper prints for a study.
pub fn published(study: &str) -> Vec<Published> {
    let (columns, metric): (&[Column], Metric) = match study {
        "table-1a" => (&TABLE_1A, Metric::KsPaperLike),
        "table-1b-dcg" | "table-1b-ndcg" => (&TABLE_1B, Metric::KsClipped),
        "table-2" | "table-2-mismatch" => (&TABLE_2, Metric::MeanSquaredError),
        _ => return Vec::new(),
    };
    let both = |&(size, suno, uno): &Column| {
        [("SUnO", suno), ("UnO", uno)].map(|(estimator, value)| Published { size, estimator, metric, value })
    };
    columns.iter().flat_map(both).collect()
}
