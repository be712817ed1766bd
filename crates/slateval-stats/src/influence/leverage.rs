//! How much narrower intervals come out because a correction was fitted to the rows that it corrects.
//! See docs/methods.md, section 6.2.
//!
//! The share of the weights' variation that a correction's own coefficients take up is
//! `d = tr[(sum P P')^-1 sum G^2 P P'] / sum G^2`. Half-widths are multiplied by `1/(1-d)`. `P` is 1 and the functions
//! that the correction is fitted to:
//!
//! | correction | functions |
//! |---|---|
//! | self-normalized | `G - 1` |
//! | control variates | `Z_k` of each slot, and `G - 1` unless the weight is additive |
//! | calibrated | `Z_k` of each slot |
//!
//! The logging policy fills its slots independently, so `P P'` is diagonal but for chance, and `E[G^2 Z_k^2]` follows from
//! single slots: `G = A + Z_k B` with `A` and `B` functions of the other slots gives
//! `E[G^2 Z_k^2] = E[A^2] E[Z_k^2] + 2 E[A B] E[Z_k^3] + E[B^2] E[Z_k^4]`, and `E[A B] = E[B^2]` for a weight that has
//! every subset of its products. So `d` needs two sums a slot rather than a matrix for each weight.

use crate::correction::terms::WeightTerm;
use crate::correction::weight_sums::WeightSums;
use crate::spec::correction::Correction;
use crate::spec::structure::Structure;
use crate::weights::multilinear;

/// The leverage `d` of a correction; 0 where nothing was fitted.
pub(crate) fn leverage(correction: Correction, structure: &Structure, sums: &WeightSums<'_>) -> f64 {
    let parts = match correction {
        Correction::None => return 0.0,
        Correction::SelfNormalized => 1.0 + of_weight(sums),
        Correction::ControlVariate if structure.is_additive() => 1.0 + of_slots(structure, sums),
        Correction::ControlVariate => 1.0 + of_slots(structure, sums) + of_weight(sums),
        Correction::Calibrated => 1.0 + of_slots(structure, sums),
    };
    parts / sums.n
}

/// `sum_k E[G^2 Z_k^2] / (E[Z_k^2] E[G^2])`.
fn of_slots(structure: &Structure, sums: &WeightSums<'_>) -> f64 {
    let (n, tally) = (sums.n, sums.tally());
    let squares: Vec<f64> = (0..sums.slots).map(|k| sums.zz(k, k) / n).collect();
    let varying = (0..sums.slots).filter(|&k| squares[k] > 0.0);
    if !structure.is_multilinear() {
        // The slots of such a log depend on each other: Cauchy and Schwarz bound the same ratio.
        let own = kurtosis(sums.totals()[WeightTerm::GG] / n, sums.weight_tally().fourths / n);
        return varying.map(|k| (own * kurtosis(squares[k], tally.fourths[k] / n)).sqrt()).sum();
    }
    let all = multilinear(structure, &squares);
    let slot = |k: usize| {
        let mut others = squares.clone();
        others[k] = 0.0;
        let a = multilinear(structure, &others);
        let b = (all - a) / squares[k];
        let (cubes, fourths) = (tally.cubes[k] / n, tally.fourths[k] / n);
        (a * squares[k] + b * (2.0 * cubes + fourths)) / (squares[k] * all)
    };
    varying.map(slot).sum()
}

/// `E[G^2 (G-1)^2] / (E[(G-1)^2] E[G^2])`.
fn of_weight(sums: &WeightSums<'_>) -> f64 {
    let (n, totals, tally) = (sums.n, sums.totals(), sums.weight_tally());
    let (g, gg) = (totals[WeightTerm::G] / n, totals[WeightTerm::GG] / n);
    let (cubes, fourths) = (tally.cubes / n, tally.fourths / n);
    let variance = gg - 2.0 * g + 1.0;
    if variance <= 1e-12 * gg { 0.0 } else { (fourths - 2.0 * cubes + gg) / (variance * gg) }
}

fn kurtosis(square: f64, fourth: f64) -> f64 {
    if square > 0.0 { fourth / (square * square) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::correction::corrected::Corrected;
    use crate::correction::weight_sums::occupied;
    use crate::math::linear::PseudoInverse;
    use crate::reference::{self, Row, Target};
    use crate::spec::specification::Spec;
    use crate::sums::cell::Cell;
    use crate::sums::totals::Totals;

    /// Every slate of three slots of three actions once, so that sums over rows are expectations.
    fn every_slate(structure: &Structure) -> (Cell, Vec<[f64; 3]>) {
        let pi = [0.7, 0.2, 0.1];
        let actions = |row: usize| [row / 9, row / 3 % 3, row % 3];
        let row = |row: usize| {
            let propensities = actions(row).map(|action| pi[action]).to_vec();
            let chi = vec![3.0 * (0.49 + 0.04 + 0.01) - 1.0; 3];
            let targets = vec![Target { propensities, chi, ..Target::default() }];
            Row { reward: row as f64, logging: vec![1.0 / 3.0; 3], targets, ..Row::default() }
        };
        let rows: Vec<Row> = (0..27).map(row).collect();
        let sums = reference::sums(Spec::new(structure.clone(), ["new"]).with_chi(), &rows);
        let ratios = (0..27).map(|row| actions(row).map(|action| 3.0 * pi[action] - 1.0)).collect();
        (sums.total().expect("some rows").clone(), ratios)
    }

    /// `tr[(sum P P')^-1 sum G^2 P P'] / sum G^2`, row by row.
    fn direct(rows: &[(f64, Vec<f64>)]) -> f64 {
        let size = rows[0].1.len();
        let moment = |weight: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
            let entry = |i: usize, j: usize| rows.iter().map(|(g, p)| weight(*g) * p[i] * p[j]).sum();
            (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
        };
        let (plain, weighted) = (moment(&|_| 1.0), moment(&|g| g * g));
        let inverse = PseudoInverse::new(&plain, &vec![0.0; size]);
        let trace: f64 = (0..size).map(|i| crate::math::linear::dot(&inverse.column(i), &weighted[i])).sum();
        trace / rows.iter().map(|(g, _)| g * g).sum::<f64>()
    }

    #[test]
    fn the_leverage_is_that_of_its_definition() {
        for structure in [Structure::Additive, Structure::Order(2), Structure::Product] {
            let (cell, ratios) = every_slate(&structure);
            let (_, places) = occupied(&cell);
            let sums = WeightSums::of_structure(&cell, &Rc::new(Totals::new(&cell, 0)), &places);
            let columns: Vec<Vec<f64>> = (0..3).map(|k| ratios.iter().map(|z| 1.0 + z[k]).collect()).collect();
            let weights = structure.weights(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
            for correction in [Correction::Calibrated, Correction::SelfNormalized, Correction::ControlVariate] {
                let functions = |(z, g): (&[f64; 3], &f64)| {
                    let mut p = vec![1.0];
                    if correction != Correction::SelfNormalized {
                        p.extend(z);
                    }
                    let has_weight = correction == Correction::SelfNormalized
                        || (correction == Correction::ControlVariate && !structure.is_additive());
                    p.extend(has_weight.then_some(g - 1.0));
                    (*g, p)
                };
                let rows: Vec<(f64, Vec<f64>)> = ratios.iter().zip(&weights).map(functions).collect();
                let (found, exact) = (leverage(correction, &structure, &sums), direct(&rows));
                assert_eq!(Corrected::new(correction, &structure, &sums).correction, correction);
                // G - 1 is not orthogonal to the ratios: counting both in full overstates.
                let slack = if rows[0].1.len() == 5 { 0.5 } else { 1e-9 };
                assert!(
                    found >= exact - 1e-9 && found <= exact * (1.0 + slack),
                    "{structure} {correction}: {found} {exact}"
                );
            }
        }
    }
}
