//! Every correction against a plain implementation that keeps all rows: weights row by row, one sum per grid point.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

mod common;

use common::{Slate, contextual_log, points, summarise};
use slateval::{
    Correction, CorrectionChoice, Evaluation, PolicyEvaluation, Settings, Spec, Status, Structure, Summary,
};
use slateval::{InWords, Voice};

/// What a textbook does: the weights `w_i` of every row.
fn textbook_weights(slates: &[Slate], structure: &Structure, correction: Correction) -> Vec<f64> {
    let n = slates.len() as f64;
    let z: Vec<Vec<f64>> = slates.iter().map(Slate::z).collect();
    let g = textbook_g(structure, &z);
    match correction {
        Correction::None => g.iter().map(|g| g / n).collect(),
        Correction::SelfNormalized => {
            let sum: f64 = g.iter().sum();
            g.iter().map(|g| g / sum).collect()
        }
        Correction::ControlVariate => {
            let additive = matches!(structure, Structure::Additive | Structure::Order(1));
            let controls: Vec<Vec<f64>> = z
                .iter()
                .zip(&g)
                .map(|(z, g)| z.iter().copied().chain((!additive).then_some(g - 1.0)).collect())
                .collect();
            let k = controls[0].len();
            let mean: Vec<f64> = (0..k).map(|j| controls.iter().map(|a| a[j]).sum::<f64>() / n).collect();
            let mut s = vec![vec![0.0; k]; k];
            for a in &controls {
                for i in 0..k {
                    for j in 0..k {
                        s[i][j] += (a[i] - mean[i]) * (a[j] - mean[j]) / n;
                    }
                }
            }
            let lambda = solve(s, mean.clone());
            let factor = |a: &Vec<f64>| 1.0 - (0..k).map(|j| lambda[j] * (a[j] - mean[j])).sum::<f64>();
            g.iter().zip(&controls).map(|(g, a)| g * factor(a) / n).collect()
        }
        Correction::Calibrated => {
            let phi: Vec<Vec<f64>> =
                z.iter().map(|z| std::iter::once(1.0).chain(z.iter().copied()).collect()).collect();
            let k = phi[0].len();
            let mut m = vec![vec![0.0; k]; k];
            let mut d = vec![0.0; k];
            for ((phi, slate), g) in phi.iter().zip(slates).zip(&g) {
                let h: Vec<f64> = std::iter::once(1.0).chain(slate.chi.iter().copied()).collect();
                for i in 0..k {
                    d[i] += (h[i] - g * phi[i]) / n;
                    for j in 0..k {
                        m[i][j] += phi[i] * phi[j] / n;
                    }
                }
            }
            let c = solve(m, d);
            let extra = |phi: &Vec<f64>| (0..k).map(|j| c[j] * phi[j]).sum::<f64>();
            g.iter().zip(&phi).map(|(g, phi)| (g + extra(phi)) / n).collect()
        }
        other => panic!("no textbook has {other}"),
    }
}

/// All subsets up to the order, one by one.
fn textbook_g(structure: &Structure, z: &[Vec<f64>]) -> Vec<f64> {
    let order = match structure {
        Structure::Additive => 1,
        Structure::Order(m) => *m,
        Structure::Product => usize::MAX,
        _ => unreachable!(),
    };
    let weight = |z: &Vec<f64>| {
        let subsets = (0..1u32 << z.len()).filter(|s| s.count_ones() as usize <= order);
        subsets.map(|s| (0..z.len()).filter(|b| s >> b & 1 == 1).map(|b| z[b]).product::<f64>()).sum()
    };
    z.iter().map(weight).collect()
}

/// Gaussian elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for col in 0..n {
        let pivot = (col..n).max_by(|&i, &j| a[i][col].abs().total_cmp(&a[j][col].abs())).unwrap();
        a.swap(col, pivot);
        b.swap(col, pivot);
        for row in col + 1..n {
            let f = a[row][col] / a[col][col];
            for j in col..n {
                a[row][j] -= f * a[col][j];
            }
            b[row] -= f * b[col];
        }
    }
    for col in (0..n).rev() {
        b[col] = (b[col] - (col + 1..n).map(|j| a[col][j] * b[j]).sum::<f64>()) / a[col][col];
    }
    b
}

fn settings(correction: Correction) -> Settings {
    let mut settings = points();
    settings.correction = CorrectionChoice::Fixed(correction);
    settings
}

fn target(evaluation: &Evaluation) -> &PolicyEvaluation {
    evaluation.policy("new").unwrap()
}

const CORRECTIONS: [Correction; 4] =
    [Correction::None, Correction::SelfNormalized, Correction::ControlVariate, Correction::Calibrated];

/// Compares CDF, mean and variance with the textbook's to 1e-10.
fn assert_textbook(summary: &Summary, slates: &[Slate], structure: &Structure) {
    let n = slates.len() as f64;
    for correction in CORRECTIONS {
        let w = textbook_weights(slates, structure, correction);
        let evaluation = summary.evaluate(&settings(correction)).unwrap();
        let new = target(&evaluation);
        assert_eq!(new.correction, Some(correction), "{:?}", new.diagnostics.checks);
        for (v, f) in new.cdf.reward.iter().zip(&new.cdf.raw) {
            let direct: f64 = slates.iter().zip(&w).filter(|(s, _)| s.reward <= *v).map(|(_, w)| w).sum();
            assert!((f - direct).abs() < 1e-10, "{structure} {correction} at {v}: {f} against {direct}");
        }
        let mean: f64 = slates.iter().zip(&w).map(|(s, w)| w * s.reward).sum();
        let second: f64 = slates.iter().zip(&w).map(|(s, w)| w * s.reward * s.reward).sum();
        assert!((new.mean.estimate.unwrap() - mean).abs() < 1e-10 * mean.abs().max(1.0));
        let variance = if correction == Correction::None {
            let own: f64 = slates.iter().zip(&w).map(|(s, w)| (n * w * s.reward).powi(2)).sum();
            second - ((n * mean).powi(2) - own) / (n * (n - 1.0))
        } else {
            second - mean * mean
        };
        match new.variance.estimate {
            Some(found) => assert!((found - variance).abs() < 1e-9 * second.abs(), "{correction}"),
            None => assert!(variance <= 0.0),
        }
        if correction != Correction::None {
            let total = new.cdf.raw.last().unwrap();
            assert!((total - 1.0).abs() < 1e-12, "{structure} {correction}: the weights sum to {total}");
        }
    }
}

#[test]
fn every_correction_is_the_textbooks_from_one_summary_and_from_many() {
    let slates = contextual_log(1, 3000, 3, 3);
    for structure in [Structure::Additive, Structure::Order(2), Structure::Order(3), Structure::Product] {
        let spec = Spec::new(structure.clone(), ["new"]).with_chi();
        assert_textbook(&summarise(&spec, &slates), &slates, &structure);
        let mut merged = Summary::new(spec.clone()).unwrap();
        for part in slates.chunks(170) {
            merged.merge(&summarise(&spec, part)).unwrap();
        }
        assert_textbook(&merged, &slates, &structure);
    }
}

#[test]
fn weights_sum_to_one_at_every_order_and_correction() {
    let slates = contextual_log(2, 4000, 5, 4);
    for m in 1..=5 {
        let summary = summarise(&Spec::new(Structure::Order(m), ["new"]).with_chi(), &slates);
        for correction in &CORRECTIONS[1..] {
            let total = *target(&summary.evaluate(&settings(*correction)).unwrap()).cdf.raw.last().unwrap();
            assert!((total - 1.0).abs() < 1e-12, "order {m}, {correction}: {total}");
        }
    }
}

/// Auto is calibrated where chi is there and right, control variates where it is missing or wrong.
#[test]
fn auto_uses_chi_only_where_it_is_right() {
    let mut slates = contextual_log(3, 5000, 3, 3);
    let used = |slates: &[Slate], spec: Spec| {
        let evaluation = summarise(&spec, slates).evaluate(&points()).unwrap();
        let new = target(&evaluation).clone();
        let chi = new.diagnostics.checks.iter().find(|c| c.name().as_str() == "chi").map(|c| c.status);
        (new.correction.unwrap(), chi)
    };
    let spec = Spec::new(Structure::Additive, ["new"]);
    assert_eq!(used(&slates, spec.clone()), (Correction::ControlVariate, None));
    assert_eq!(used(&slates, spec.clone().with_chi()), (Correction::Calibrated, Some(Status::Ok)));
    slates.iter_mut().for_each(|s| s.chi[1] *= 3.0);
    assert_eq!(used(&slates, spec.clone().with_chi()), (Correction::ControlVariate, Some(Status::Fail)));
    slates.iter_mut().for_each(|s| s.chi[1] = -0.5);
    assert_eq!(used(&slates, spec.with_chi()), (Correction::ControlVariate, Some(Status::Fail)));
}

#[test]
fn a_slot_that_never_varies_is_dropped_and_said() {
    let mut slates = contextual_log(4, 2000, 3, 3);
    for slate in &mut slates {
        slate.pi[1] = slate.mu[1];
        slate.chi[1] = 0.0;
    }
    let two_slots: Vec<Slate> = slates
        .iter()
        .map(|s| {
            let without = |x: &[f64]| vec![x[0], x[2]];
            Slate { reward: s.reward, mu: without(&s.mu), pi: without(&s.pi), chi: without(&s.chi) }
        })
        .collect();
    let spec = Spec::new(Structure::Additive, ["new"]).with_chi();
    for correction in [Correction::ControlVariate, Correction::Calibrated] {
        let all = summarise(&spec, &slates).evaluate(&settings(correction)).unwrap();
        let two = summarise(&spec, &two_slots).evaluate(&settings(correction)).unwrap();
        let note = target(&all).diagnostics.checks.iter().find(|c| c.name().as_str() == "correction").unwrap();
        assert!(note.finding.in_words(Voice::Plain).contains("slot 2 never varies"), "{:?}", note.finding);
        assert_eq!(note.status, Status::Ok, "a target may leave slots as they are");
        let (a, b) = (target(&all).mean.estimate.unwrap(), target(&two).mean.estimate.unwrap());
        assert!((a - b).abs() < 1e-12);
    }
}

/// Fewer rows than slots, one row, all weights equal: something is given up, said, and still sums to 1.
#[test]
fn too_little_data_degrades_and_says_so() {
    let slates = contextual_log(5, 4, 6, 3);
    for structure in [Structure::Additive, Structure::Order(2), Structure::Product] {
        for rows in [1, 2, 4] {
            let spec = Spec::new(structure.clone(), ["new"]).with_chi();
            for correction in &CORRECTIONS[1..] {
                let evaluation = summarise(&spec, &slates[..rows]).evaluate(&settings(*correction)).unwrap();
                let new = target(&evaluation);
                let total = *new.cdf.raw.last().unwrap();
                if new.correction == Some(*correction) {
                    assert!((total - 1.0).abs() < 1e-12, "{structure} {correction} {rows}: {total}");
                }
                let said = new.diagnostics.checks.iter().any(|c| c.name().as_str() == "correction");
                assert_eq!(said, *correction != Correction::SelfNormalized || new.correction != Some(*correction));
            }
        }
    }
    let mut same = contextual_log(6, 500, 2, 3);
    same.iter_mut().for_each(|s| s.pi.clone_from(&s.mu));
    let evaluation = summarise(&Spec::new(Structure::Additive, ["new"]), &same).evaluate(&points()).unwrap();
    let (new, logging) = (target(&evaluation), &evaluation.policies[0]);
    assert_eq!(new.cdf.raw.len(), logging.cdf.raw.len());
    for (a, b) in new.cdf.raw.iter().zip(&logging.cdf.raw) {
        assert!((a - b).abs() < 1e-12, "the same policy has the same distribution");
    }
}

/// With one slot every weight is additive: there is nothing singular to speak of.
#[test]
fn one_slot_is_nothing_special() {
    let slates = contextual_log(8, 500, 1, 4);
    let get = |structure: Structure| {
        let summary = summarise(&Spec::new(structure, ["new"]), &slates);
        target(&summary.evaluate(&settings(Correction::ControlVariate)).unwrap()).clone()
    };
    let additive = get(Structure::Additive);
    for structure in [Structure::Product, Structure::Order(1), "interactions:1".parse().unwrap()] {
        let other = get(structure);
        assert!(
            other.diagnostics.checks.iter().all(|c| c.name().as_str() != "correction"),
            "{:?}",
            other.diagnostics.checks
        );
        assert!((other.mean.estimate.unwrap() - additive.mean.estimate.unwrap()).abs() < 1e-12);
    }
}

#[test]
fn weights_that_are_all_zero_cannot_be_normalised() {
    let mut slates = contextual_log(7, 50, 2, 3);
    slates.iter_mut().for_each(|s| s.pi[0] = 0.0);
    let summary = summarise(&Spec::new(Structure::Product, ["new"]), &slates);
    let evaluation = summary.evaluate(&settings(Correction::SelfNormalized)).unwrap();
    assert_eq!(target(&evaluation).correction, Some(Correction::None));
    let note = target(&evaluation).diagnostics.checks.iter().find(|c| c.name().as_str() == "correction").unwrap();
    assert!(note.finding.in_words(Voice::Plain).contains("none was used"), "{:?}", note.finding);
}
