//! Studies: the paper's first experiment, threads, and what a study refuses.
#![allow(clippy::unwrap_used)]

use slateval_sim::on_threads;
use slateval_sim::study::experiments::{Run, table_1a, table_2};
use slateval_sim::study::{Metric, Results};

fn run(run: &Run, threads: usize) -> Results {
    on_threads(Some(threads), || table_1a(run).unwrap()[0].run(&|| {}).unwrap()).unwrap()
}

#[test]
fn table_1a_is_where_it_should_be() {
    let results = run(&Run { trials: Some(60), sizes: Some(vec![500]), ..Run::default() }, 2);
    // Means over many thousands of trials and other curves, which differ by a few percent.
    let expected = [
        ("SUnO", Metric::KsPaperLike, 0.135),
        ("UnO", Metric::KsPaperLike, 0.258),
        ("SUnO", Metric::KsClipped, 0.130),
        ("UnO", Metric::KsClipped, 0.255),
        ("additive, calibrated", Metric::Ks, 0.093),
        ("additive, control variates", Metric::Ks, 0.093),
    ];
    for (estimator, metric, wanted) in expected {
        let found = results.get(500, estimator, metric).unwrap();
        let error = (found.mean - wanted).abs();
        assert!(error < 4.0 * found.se.unwrap() + 0.05 * wanted, "{estimator}: {found:?} for {wanted}");
    }
    // VaR and CVaR: standard deviations of about .06 and .04 for SUnO at this size.
    let cvar = results.get(500, "SUnO", Metric::CvarSquaredError).unwrap();
    assert!((0.01..0.08).contains(&cvar.mean.sqrt()), "{cvar:?}");
}

#[test]
fn threads_change_nothing() {
    let settings = Run { trials: Some(5), sizes: Some(vec![300, 100]), ..Run::default() };
    let (one, many) = (run(&settings, 1), run(&settings, 3));
    assert_eq!(one.sizes, [100, 300]);
    assert_eq!(one.figures, many.figures);
}

#[test]
fn a_mismatch_is_far_off_and_the_honest_cascade_is_not() {
    let settings = Run { trials: Some(2), sizes: Some(vec![50_000]), ..Run::default() };
    let studies = table_2(&settings).unwrap();
    let error = |name: &str, estimator: &str| {
        let study = studies.iter().find(|s| s.name == name).unwrap();
        study.run(&|| {}).unwrap().get(50_000, estimator, Metric::MeanSquaredError).unwrap().mean
    };
    assert!(error("table-2", "UnO") < 1e-3);
    assert!((0.1..0.5).contains(&error("table-2-mismatch", "SUnO")), "E[G] = 0.7");
}

#[test]
fn no_trials_are_no_study() {
    for bad in [Run { trials: Some(0), ..Run::default() }, Run { sizes: Some(vec![]), ..Run::default() }] {
        assert!(table_1a(&bad).unwrap()[0].run(&|| {}).is_err());
    }
}
