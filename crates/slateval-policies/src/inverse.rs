//! `q' pinv(Gamma)`: how much each item in each slot adds to the weight.
//!
//! Any generalised inverse gives the same weights for slates and targets in Gamma's range. This one comes from a QR
//! decomposition with pivots, `Gamma P = Q R`: cells that others determine get no effect of their own, and the first
//! columns of `Q` span the range. Scaling Gamma to a diagonal of ones first keeps items apart that are shown rarely from
//! directions that are never taken.

use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Col, Mat, Par};

use crate::moments::Moments;

/// A pivot below this times the number of cells is rounding error.
const NEGLIGIBLE: f64 = 1e-13;

/// A generalised inverse of a matrix of moments, and the directions that the moments do not tell of.
#[derive(Debug)]
pub struct Inverse {
    size: usize,
    /// Cells that are shown at all, and the square root of their probability.
    shown: Vec<usize>,
    scale: Vec<f64>,
    /// The columns of `Q` that span the range of the scaled moments, and the triangle `R` of these.
    basis: Mat<f64>,
    triangle: Mat<f64>,
    /// Which of the shown cells are pivots, in order.
    pivots: Vec<usize>,
}

/// What each cell adds to the weight of a target, and how much of that target is out of reach.
#[derive(Debug)]
pub struct Solved {
    /// The effect of each cell.
    pub effects: Vec<f64>,
    /// The largest probability in a cell that logging's slates cannot tell of; it is left out.
    pub beyond: f64,
}

impl Inverse {
    /// Decomposes the moments: the cost grows with the cube of the number of cells shown.
    pub fn new(moments: &Moments) -> Self {
        let shown: Vec<usize> = (0..moments.size).filter(|&cell| moments.at(cell, cell) > 0.0).collect();
        let scale: Vec<f64> = shown.iter().map(|&cell| moments.at(cell, cell).sqrt()).collect();
        let count = shown.len();
        let scaled = |i: usize, j: usize| moments.at(shown[i], shown[j]) / (scale[i] * scale[j]);
        let qr = Mat::from_fn(count, count, scaled).col_piv_qr();
        let triangle = qr.thin_R();
        let rank = (0..count).take_while(|&i| triangle[(i, i)].abs() > NEGLIGIBLE * count as f64).count();
        Inverse {
            size: moments.size,
            basis: qr.compute_thin_Q().subcols(0, rank).to_owned(),
            triangle: triangle.submatrix(0, 0, rank, rank).to_owned(),
            pivots: qr.P().arrays().0[..rank].to_vec(),
            shown,
            scale,
        }
    }

    /// Solves for a target's probability of each cell.
    pub fn solve(&self, target: &[f64]) -> Solved {
        let (mut solution, beyond) = self.reach(target);
        solve_upper_triangular_in_place(self.triangle.as_ref(), solution.as_mat_mut(), Par::Seq);
        let mut effects = vec![0.0; self.size];
        for (&pivot, value) in self.pivots.iter().zip(solution.iter()) {
            effects[self.shown[pivot]] = value / self.scale[pivot];
        }
        Solved { effects, beyond }
    }

    /// The largest part of a cell that the moments do not tell of.
    pub(crate) fn beyond(&self, target: &[f64]) -> f64 {
        self.reach(target).1
    }

    /// What the moments tell of the shown cells, in terms of the basis, and the largest part of a cell that they do not.
    fn reach(&self, target: &[f64]) -> (Col<f64>, f64) {
        let scaled = Col::from_fn(self.shown.len(), |i| target[self.shown[i]] / self.scale[i]);
        let along = self.basis.transpose() * &scaled;
        let missed = scaled - &self.basis * &along;
        let of_shown = missed.iter().zip(&self.scale).map(|(missed, scale)| (missed * scale).abs());
        let of_others = target.iter().enumerate().filter(|(cell, _)| !self.shows(*cell)).map(|(_, p)| p.abs());
        let beyond = of_shown.chain(of_others).fold(0.0, f64::max);
        (along, beyond)
    }

    /// Whether a cell is ever shown.
    pub(crate) fn shows(&self, cell: usize) -> bool {
        self.shown.binary_search(&cell).is_ok()
    }
}
