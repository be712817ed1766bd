//! `q' pinv(Gamma)`: how much each item in each slot adds to the weight.
//!
//! Any generalised inverse gives the same weights for slates and targets in Gamma's range. This one comes from a
//! Cholesky factor with pivots: cells that others determine get no effect of their own. Scaling Gamma to a diagonal of
//! ones first keeps items apart that are shown rarely from directions that are never taken.

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
    /// Rows of the Cholesky factor, one for each cell shown; `factor[i * shown.len()..]`.
    factor: Vec<f64>,
    /// Which of the shown cells are pivots, in order.
    pivots: Vec<usize>,
    unseen: Unseen,
}

/// The null space of the scaled moments: each cell that is no pivot is a sum of pivots.
#[derive(Debug)]
struct Unseen {
    /// The shown cells that are no pivots.
    others: Vec<usize>,
    /// How much of each pivot makes up each of them, one row for each.
    parts: Vec<f64>,
    /// The Cholesky factor of `I + parts parts'`.
    factor: Vec<f64>,
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
    /// Factors the moments: about a third of the cube of the cells shown.
    pub fn new(moments: &Moments) -> Self {
        let shown: Vec<usize> = (0..moments.size).filter(|&cell| moments.at(cell, cell) > 0.0).collect();
        let scale: Vec<f64> = shown.iter().map(|&cell| moments.at(cell, cell).sqrt()).collect();
        let count = shown.len();
        let scaled = |i: usize, j: usize| moments.at(shown[i], shown[j]) / (scale[i] * scale[j]);
        let mut factor = vec![0.0; count * count];
        let mut rest = vec![1.0; count];
        let mut pivots = Vec::with_capacity(count);
        let mut open: Vec<usize> = (0..count).collect();
        while let Some(at) = largest(&rest, &open) {
            let pivot = open[at];
            if rest[pivot] <= NEGLIGIBLE * count as f64 {
                break;
            }
            open.swap_remove(at);
            let step = pivots.len();
            let root = rest[pivot].sqrt();
            let own = factor[pivot * count..][..step].to_vec();
            factor[pivot * count + step] = root;
            for &i in &open {
                let row = &mut factor[i * count..][..=step];
                let value = (scaled(i, pivot) - dot(&row[..step], &own)) / root;
                row[step] = value;
                rest[i] -= value * value;
            }
            pivots.push(pivot);
        }
        open.sort_unstable();
        let unseen = Unseen::new(&factor, &pivots, open, count);
        Inverse { size: moments.size, shown, scale, factor, pivots, unseen }
    }

    /// Solves for a target's probability of each cell.
    pub fn solve(&self, target: &[f64]) -> Solved {
        let (reached, beyond) = self.reach(target);
        let mut solution: Vec<f64> = self.pivots.iter().map(|&pivot| reached[pivot]).collect();
        let count = self.shown.len();
        forward(&mut solution, |step| &self.factor[self.pivots[step] * count..][..=step]);
        backward(&mut solution, |step| &self.factor[self.pivots[step] * count..][..=step]);
        let mut effects = vec![0.0; self.size];
        for (&pivot, value) in self.pivots.iter().zip(solution) {
            effects[self.shown[pivot]] = value / self.scale[pivot];
        }
        Solved { effects, beyond }
    }

    /// The largest part of a cell that the moments do not tell of.
    pub(crate) fn beyond(&self, target: &[f64]) -> f64 {
        self.reach(target).1
    }

    /// What the moments tell of the shown cells, scaled, and the largest part of a cell that they do not.
    fn reach(&self, target: &[f64]) -> (Vec<f64>, f64) {
        let mut beyond = 0.0f64;
        let mut shown = self.shown.iter().peekable();
        for (cell, p) in target.iter().enumerate() {
            if shown.next_if(|&&shown| shown == cell).is_none() {
                beyond = beyond.max(p.abs());
            }
        }
        let mut reached: Vec<f64> = self.shown.iter().zip(&self.scale).map(|(&cell, s)| target[cell] / s).collect();
        let missed = self.unseen.of(&reached, &self.pivots);
        for ((value, missed), scale) in reached.iter_mut().zip(missed).zip(&self.scale) {
            *value -= missed;
            beyond = beyond.max((missed * scale).abs());
        }
        (reached, beyond)
    }

    /// Whether a cell is ever shown.
    pub(crate) fn shows(&self, cell: usize) -> bool {
        self.shown.binary_search(&cell).is_ok()
    }
}

impl Unseen {
    fn new(factor: &[f64], pivots: &[usize], others: Vec<usize>, count: usize) -> Self {
        let rank = pivots.len();
        let mut parts = vec![0.0; others.len() * rank];
        for (row, &other) in others.iter().enumerate() {
            let own = &mut parts[row * rank..][..rank];
            own.copy_from_slice(&factor[other * count..][..rank]);
            backward(own, |step| &factor[pivots[step] * count..][..=step]);
        }
        let part = |row: usize| &parts[row * rank..][..rank];
        let mut gram = vec![0.0; others.len() * others.len()];
        for i in 0..others.len() {
            for j in 0..=i {
                gram[i * others.len() + j] = dot(part(i), part(j)) + f64::from(u8::from(i == j));
            }
        }
        cholesky(&mut gram, others.len());
        Unseen { others, parts, factor: gram }
    }

    /// The orthogonal projection of `values`, over the shown cells, onto what the moments do not tell of.
    fn of(&self, values: &[f64], pivots: &[usize]) -> Vec<f64> {
        let (rank, many) = (pivots.len(), self.others.len());
        let at_pivots: Vec<f64> = pivots.iter().map(|&pivot| values[pivot]).collect();
        let part = |row: usize| &self.parts[row * rank..][..rank];
        let mut along: Vec<f64> =
            self.others.iter().enumerate().map(|(row, &other)| values[other] - dot(part(row), &at_pivots)).collect();
        forward(&mut along, |step| &self.factor[step * many..][..=step]);
        backward(&mut along, |step| &self.factor[step * many..][..=step]);
        let mut found = vec![0.0; values.len()];
        for (row, &other) in self.others.iter().enumerate() {
            found[other] += along[row];
            pivots.iter().zip(part(row)).for_each(|(&pivot, part)| found[pivot] -= part * along[row]);
        }
        found
    }
}

fn largest(rest: &[f64], open: &[usize]) -> Option<usize> {
    // The first of equals, so that the pivots do not depend on how `open` was shuffled.
    (0..open.len())
        .max_by(|&one, &other| rest[open[one]].total_cmp(&rest[open[other]]).then_with(|| open[other].cmp(&open[one])))
}

/// The Cholesky factor in place of a positive definite matrix, of which the lower half is read.
fn cholesky(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        let (above, own) = matrix.split_at_mut(i * size);
        for j in 0..i {
            let row = &above[j * size..][..=j];
            own[j] = (own[j] - dot(&own[..j], &row[..j])) / row[j];
        }
        own[i] = (own[i] - dot(&own[..i], &own[..i])).sqrt();
    }
}

/// Solves `L x = values` in place; `row(i)` is the row of `L` up to its diagonal.
fn forward<'a>(values: &mut [f64], row: impl Fn(usize) -> &'a [f64]) {
    for i in 0..values.len() {
        let row = row(i);
        values[i] = (values[i] - dot(&row[..i], &values[..i])) / row[i];
    }
}

/// Solves `L' x = values` in place.
fn backward<'a>(values: &mut [f64], row: impl Fn(usize) -> &'a [f64]) {
    for i in (0..values.len()).rev() {
        let row = row(i);
        let (before, own) = values.split_at_mut(i);
        own[0] /= row[i];
        before.iter_mut().zip(row).for_each(|(value, l)| *value -= l * own[0]);
    }
}

/// A sum in eight lanes, which the compiler turns into vector instructions.
fn dot(one: &[f64], other: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f64 = ones.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in ones.zip(others) {
        (0..8).for_each(|lane| lanes[lane] += a[lane] * b[lane]);
    }
    lanes.iter().sum::<f64>() + rest
}
