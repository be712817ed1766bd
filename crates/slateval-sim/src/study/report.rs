//! Results as text for people and as CSV for programs.

use std::fmt::Write;

use crate::study::measure::{Metric, Stat};
use crate::study::published::{Published, published};
use crate::study::run::Results;

/// A study's results beside what the paper prints, as a table of text.
pub fn table(results: &Results) -> String {
    let mut lines = vec![Line::heading(results)];
    let printed = published(&results.name);
    for &estimator in &results.estimators {
        let mut first = true;
        let mut push = |what: &str, cells: Vec<String>| {
            let name = if std::mem::take(&mut first) { estimator } else { "" };
            lines.push(Line { name: name.to_owned(), what: what.to_owned(), cells });
        };
        if let Some(cells) = printed_cells(&printed, estimator, &results.sizes) {
            push("printed in the paper", cells);
        }
        for (what, metric) in shown(&results.name) {
            let cell = |&size: &u64| results.get(size, estimator, *metric).map_or_else(String::new, cell);
            push(what, results.sizes.iter().map(cell).collect());
        }
    }
    format!("{}\n\n{}", title(results), aligned(&lines))
}

struct Line {
    name: String,
    what: String,
    cells: Vec<String>,
}

impl Line {
    fn heading(results: &Results) -> Self {
        let cells = results.sizes.iter().map(|&n| format!("n = {}", grouped(n))).collect();
        Line { name: "estimator".to_owned(), what: String::new(), cells }
    }
}

/// What is shown of a study, with what it is called.
fn shown(study: &str) -> &'static [(&'static str, Metric)] {
    match study {
        "table-1a" => &[
            ("KS, paper-like", Metric::KsPaperLike),
            ("KS, exact truth", Metric::KsClipped),
            ("KS, exact truth, rearranged", Metric::Ks),
            ("MSE of VaR", Metric::VarSquaredError),
            ("MSE of CVaR", Metric::CvarSquaredError),
        ],
        _ if study.starts_with("table-1b") => &[
            ("KS, paper-like", Metric::KsPaperLike),
            ("KS, exact truth", Metric::KsClipped),
            ("KS, exact truth, rearranged", Metric::Ks),
            ("MSE of the mean", Metric::MeanSquaredError),
            ("variance / true variance", Metric::VarianceRatio),
        ],
        _ => &[("MSE of the mean", Metric::MeanSquaredError), ("KS, exact truth, rearranged", Metric::Ks)],
    }
}

fn title(results: &Results) -> String {
    let what = match results.name.as_str() {
        "table-1a" => "Table 1(a): additive CDF, K=3, N=3, uniform logging, deterministic target",
        "table-1b-dcg" => "Table 1(b): ratings, K=5, N=20, epsilon=0.01, reward DCG",
        "table-1b-ndcg" => "Table 1(b): ratings, K=5, N=20, epsilon=0.01, reward nDCG of each user",
        "table-2" => "Table 2: cascading clicks, K=3, N=10, factored uniform logging, optimal target",
        "table-2-anti-optimal" => "Table 2: cascading clicks, K=3, N=10, factored uniform logging, anti-optimal target",
        "table-2-mismatch" => {
            "Table 2, MISMATCH: logging without repeats, its conditional propensities taken for those of slots"
        }
        other => other,
    };
    let truth = match results.truth.source {
        crate::truth::Source::Exact => "exact".to_owned(),
        crate::truth::Source::MonteCarlo { rows } => format!("from {} slates of the target", grouped(rows as u64)),
    };
    format!("{what}\n{} trials, seed {}; truth {truth}; mean ± standard error", results.trials, results.seed)
}

fn printed_cells(printed: &[Published], estimator: &str, sizes: &[u64]) -> Option<Vec<String>> {
    let cell = |&size: &u64| {
        let found = printed.iter().find(|p| p.size == size && p.estimator == estimator);
        found.map_or_else(String::new, |p| format!("{:.3}", p.value))
    };
    let cells: Vec<String> = sizes.iter().map(cell).collect();
    cells.iter().any(|cell| !cell.is_empty()).then_some(cells)
}

fn cell(stat: Stat) -> String {
    let number = |x: f64| match x.abs() {
        size if size >= 0.01 || size == 0.0 => format!("{x:.4}"),
        _ => format!("{x:.1e}"),
    };
    match stat.se {
        _ if stat.trials == 0 => "none".to_owned(),
        Some(se) => format!("{} ±{}", number(stat.mean), number(se)),
        None => number(stat.mean),
    }
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

fn aligned(lines: &[Line]) -> String {
    let width = |of: &dyn Fn(&Line) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let (name, what) = (width(&|l| l.name.chars().count()), width(&|l| l.what.chars().count()));
    let columns = lines.iter().map(|l| l.cells.len()).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|c| width(&|l| l.cells.get(c).map_or(0, |cell| cell.chars().count()))).collect();
    let mut text = String::new();
    for line in lines {
        let _ = write!(text, "{:name$}  {:what$}", line.name, line.what);
        for (cell, width) in line.cells.iter().zip(&widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// All figures of some studies, one a line, the printed ones beside them.
pub fn csv(studies: &[Results]) -> String {
    let mut text = "study,size,estimator,metric,mean,standard_error,trials,printed\n".to_owned();
    for results in studies {
        let printed = published(&results.name);
        for f in &results.figures {
            let same = |p: &&Published| (p.size, p.estimator, p.metric) == (f.size, f.estimator, f.metric);
            let printed = printed.iter().find(same).map_or_else(String::new, |p| p.value.to_string());
            let se = f.stat.se.map_or_else(String::new, |se| se.to_string());
            let mean = if f.stat.trials == 0 { String::new() } else { f.stat.mean.to_string() };
            let _ = writeln!(
                text,
                "{},{},\"{}\",{},{mean},{se},{},{printed}",
                results.name,
                f.size,
                f.estimator,
                serde_json::json!(f.metric).as_str().unwrap_or_default(),
                f.stat.trials
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(10_000_000), "10,000,000");
        assert_eq!(grouped(500), "500");
        assert_eq!(cell(Stat { mean: 0.1314, se: Some(0.0021), trials: 9 }), "0.1314 ±2.1e-3");
        assert_eq!(cell(Stat { mean: f64::NAN, se: None, trials: 0 }), "none");
    }
}
