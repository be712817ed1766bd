//! Paths of random processes, of some draws side by side: what is done to each is done to all at once.

use crate::math::lanes::{Eight, LANES, Lanes, wide};
use crate::math::normals::{SIDE, Side};

/// Columns that are multiplied together: their coefficients lie side by side in each row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    /// Groups of [`LANES`] columns; zeros fill up the last.
    tiles: Vec<Vec<Lanes>>,
    count: usize,
}

impl Columns {
    pub(crate) fn new(columns: &[Vec<f64>]) -> Self {
        let tile = |columns: &[Vec<f64>]| {
            let row = |b: usize| std::array::from_fn(|i| columns.get(i).map_or(0.0, |column| column[b]));
            (0..columns[0].len()).map(row).collect()
        };
        Columns { tiles: columns.chunks(LANES).map(tile).collect(), count: columns.len() }
    }

    /// For each column, the sum over its rows of the coefficient times the row, added to `sums`.
    pub(crate) fn add_dots(&self, rows: &[Side], sums: &mut [Side]) {
        for (tile, sums) in self.tiles.iter().zip(sums.chunks_mut(LANES)) {
            let found = dots(tile, rows);
            for (sum, found) in sums.iter_mut().zip(&found) {
                sum.as_flattened_mut().iter_mut().zip(found.as_flattened()).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    /// To each row, the sum over columns of the coefficient times the column's factor, added.
    pub(crate) fn add_to(&self, factors: &[Side], rows: &mut [Side]) {
        for (tile, factors) in self.tiles.iter().zip(factors.chunks(LANES)) {
            let mut all = [Side::default(); LANES];
            all.iter_mut().zip(factors).for_each(|(to, factor)| *to = *factor);
            add_products(tile, &all, rows);
        }
    }

    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The length of each.
    pub(crate) fn rows(&self) -> usize {
        self.tiles.first().map_or(0, Vec::len)
    }
}

/// Groups of lanes in a row.
const GROUPS: usize = SIDE / LANES;

#[inline(always)]
fn load<F: Eight>(row: &Side) -> [F; GROUPS] {
    [F::load(&row[0])]
}

#[inline(always)]
fn store<F: Eight>(values: [F; GROUPS], row: &mut Side) {
    values[0].store(&mut row[0]);
}

#[inline(always)]
fn both<F: Eight>(a: [F; GROUPS], b: [F; GROUPS], of: impl Fn(F, F) -> F) -> [F; GROUPS] {
    [of(a[0], b[0])]
}

/// `coefficient * row + more`.
#[inline(always)]
fn times_plus<F: Eight>(coefficient: f64, row: [F; GROUPS], more: [F; GROUPS]) -> [F; GROUPS] {
    both(row, more, |row, more| F::splat(coefficient).times_plus(row, more))
}

wide! {
    fn dots(coefficients: &[Lanes], rows: &[Side]) -> [Side; LANES] = dots_of_rows
}

#[inline(always)]
fn dots_of_rows<F: Eight>(coefficients: &[Lanes], rows: &[Side]) -> [Side; LANES] {
    let mut sums = [[F::splat(0.0); GROUPS]; LANES];
    for (coefficients, row) in coefficients.iter().zip(rows) {
        let row = load(row);
        for i in 0..LANES {
            sums[i] = times_plus(coefficients[i], row, sums[i]);
        }
    }
    let mut found = [Side::default(); LANES];
    for i in 0..LANES {
        store(sums[i], &mut found[i]);
    }
    found
}

wide! {
    fn add_products(coefficients: &[Lanes], factors: &[Side; LANES], rows: &mut [Side]) = add_products_to_rows
}

#[inline(always)]
fn add_products_to_rows<F: Eight>(coefficients: &[Lanes], factors: &[Side; LANES], rows: &mut [Side]) {
    let mut loaded = [[F::splat(0.0); GROUPS]; LANES];
    for i in 0..LANES {
        loaded[i] = load(&factors[i]);
    }
    for (coefficients, row) in coefficients.iter().zip(rows) {
        let mut sum = load(row);
        for i in 0..LANES {
            sum = times_plus(coefficients[i], loaded[i], sum);
        }
        store(sum, row);
    }
}

wide! {
    /// Running sums of rows times their scales, of several processes added up.
    pub(crate) fn walk[const TERMS](scales: [&[f64]; TERMS], rows: [&[Side]; TERMS], path: &mut [Side]) = walk_rows
}

#[inline(always)]
fn walk_rows<F: Eight, const TERMS: usize>(scales: [&[f64]; TERMS], rows: [&[Side]; TERMS], path: &mut [Side]) {
    let steps = path.len();
    let (scales, rows) = (scales.map(|s| &s[..steps]), rows.map(|r| &r[..steps]));
    let mut sum = [F::splat(0.0); GROUPS];
    for (b, path) in path.iter_mut().enumerate() {
        // The terms of a step are added up first: each sum waits for the one before, and for nothing else.
        let mut step = load(&rows[0][b]).map(|row: F| row.times(F::splat(scales[0][b])));
        for t in 1..TERMS {
            step = times_plus(scales[t][b], load(&rows[t][b]), step);
        }
        sum = both(sum, step, F::plus);
        store(sum, path);
    }
}

wide! {
    /// The running sums of a path's steps.
    pub(crate) fn run_up(path: &mut [Side]) = run_up_rows
}

#[inline(always)]
fn run_up_rows<F: Eight>(path: &mut [Side]) {
    let mut sum = [F::splat(0.0); GROUPS];
    for row in path {
        sum = both(sum, load(row), F::plus);
        store(sum, row);
    }
}

/// What is known of paths that were laid around a CDF.
pub(crate) struct Laid {
    /// The largest distances of the paths from 0, before.
    pub(crate) sup: Side,
    /// Whether the values ascend, after.
    pub(crate) ascend: bool,
}

wide! {
    /// Lays paths around a CDF, and clips them to [0, 1]. Each distance from 0 is taken to be larger by `more`.
    pub(crate) fn lay_around(cdf: &[f64], more: &[f64], path: &mut [Side]) -> Laid = lay_rows_around
}

#[inline(always)]
fn lay_rows_around<F: Eight>(cdf: &[f64], more: &[f64], path: &mut [Side]) -> Laid {
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let (mut sup, mut fall, mut before) = ([zero; GROUPS], [zero; GROUPS], [zero; GROUPS]);
    for ((row, cdf), more) in path.iter_mut().zip(cdf).zip(more) {
        let (error, cdf, more) = (load::<F>(row), F::splat(*cdf), F::splat(*more));
        let value = error.map(|w| w.plus(cdf).most(zero).least(one));
        sup = both(sup, error, |sup, w| w.absolute().plus(more).most(sup));
        fall = both(fall, both(before, value, drop), F::most);
        before = value;
        store(value, row);
    }
    let mut laid = Laid { sup: Side::default(), ascend: is_zero(fall) };
    store(sup, &mut laid.sup);
    laid
}

/// How far a path falls from one value to the next.
#[inline(always)]
fn drop<F: Eight>(before: F, value: F) -> F {
    value.times_plus(F::splat(-1.0), before)
}

#[inline(always)]
fn is_zero<F: Eight>(falls: [F; GROUPS]) -> bool {
    falls.iter().all(|fall| fall.lanes().iter().all(|fall| *fall <= 0.0))
}

/// Values that are held back while a path is sorted.
const HELD: usize = 4;

/// After so many rounds a general method is faster.
const ROUNDS: usize = 10;

/// Sorts the values of each path.
pub(crate) fn sort(path: &mut [Side]) {
    if (0..ROUNDS).any(|_| sort_round(path)) {
        return;
    }
    let mut values = Vec::with_capacity(path.len());
    for draw in 0..SIDE {
        values.clear();
        values.extend(path.iter().map(|row| row.as_flattened()[draw]));
        values.sort_unstable_by(f64::total_cmp);
        path.iter_mut().zip(&values).for_each(|(row, value)| row.as_flattened_mut()[draw] = *value);
    }
}

wide! {
    /// Moves each value to its place among the [`HELD`] before it. Returns whether all values ascend then.
    fn sort_round(path: &mut [Side]) -> bool = sort_rows
}

#[inline(always)]
fn sort_rows<F: Eight>(path: &mut [Side]) -> bool {
    let (steps, end) = (path.len(), [F::splat(f64::INFINITY); GROUPS]);
    let mut held = Held { values: [[F::splat(f64::NEG_INFINITY); GROUPS]; HELD] };
    let (mut fall, mut before) = ([F::splat(0.0); GROUPS], [F::splat(f64::NEG_INFINITY); GROUPS]);
    let mut put = |leaving: [F; GROUPS], row: &mut Side| {
        fall = both(fall, both(before, leaving, drop), F::most);
        before = leaving;
        store(leaving, row);
    };
    for row in path.iter().take(HELD) {
        held.join(load(row));
    }
    for _ in steps..HELD {
        held.join(end);
    }
    for next in HELD..steps {
        let leaving = held.join(load(&path[next]));
        put(leaving, &mut path[next - HELD]);
    }
    for next in steps.max(HELD)..steps + HELD {
        put(held.join(end), &mut path[next - HELD]);
    }
    is_zero(fall)
}

/// The last few values of each path, ascending.
struct Held<F> {
    values: [[F; GROUPS]; HELD],
}

impl<F: Eight> Held<F> {
    /// The next values join them, and the smallest leave.
    #[inline(always)]
    fn join(&mut self, mut next: [F; GROUPS]) -> [F; GROUPS] {
        let held = &mut self.values;
        let leaving = both(held[0], next, F::least);
        next = both(held[0], next, F::most);
        for h in 1..HELD {
            held[h - 1] = both(held[h], next, F::least);
            next = both(held[h], next, F::most);
        }
        held[HELD - 1] = next;
        leaving
    }
}

wide! {
    /// The integral of the quantile function of each ascending path up to each of its values.
    pub(crate) fn integrate(means: &[f64], path: &[Side], integrals: &mut [Side]) = integrate_rows
}

#[inline(always)]
fn integrate_rows<F: Eight>(means: &[f64], path: &[Side], integrals: &mut [Side]) {
    let (mut sum, mut before) = ([F::splat(0.0); GROUPS], [F::splat(0.0); GROUPS]);
    for ((mean, row), integral) in means.iter().zip(path).zip(integrals) {
        let value = load::<F>(row);
        sum = times_plus(*mean, both(before, value, |before, value| before.times_plus(F::splat(-1.0), value)), sum);
        before = value;
        store(sum, integral);
    }
}

wide! {
    /// Of several processes, whose paths are running sums of the same rows times their own scales: the largest distance of
    /// each path from its end times `shares`, which say how far it has come. Several at once take hardly longer than one:
    /// each sum waits for the one before.
    pub(crate) fn sups_of_bridges[const PATHS](
        scales: [&[f64]; PATHS],
        rows: &[Side],
        shares: &[f64],
    ) -> [Side; PATHS] = sups_of_bridges_of_rows
}

#[inline(always)]
fn sups_of_bridges_of_rows<F: Eight, const PATHS: usize>(
    scales: [&[f64]; PATHS],
    rows: &[Side],
    shares: &[f64],
) -> [Side; PATHS] {
    let steps = shares.len();
    let (scales, rows) = (scales.map(|s| &s[..steps]), &rows[..steps]);
    let none = [[F::splat(0.0); GROUPS]; PATHS];
    let mut ends = none;
    for (b, row) in rows.iter().enumerate() {
        let row = load(row);
        for p in 0..PATHS {
            ends[p] = times_plus(scales[p][b], row, ends[p]);
        }
    }
    let (mut sums, mut sups) = (none, none);
    for (b, (row, share)) in rows.iter().zip(shares).enumerate() {
        let row = load(row);
        for p in 0..PATHS {
            sums[p] = times_plus(scales[p][b], row, sums[p]);
            let bridge = times_plus(-share, ends[p], sums[p]);
            sups[p] = both(sups[p], bridge, |sup, x| x.absolute().most(sup));
        }
    }
    let mut found = [Side::default(); PATHS];
    for p in 0..PATHS {
        store(sups[p], &mut found[p]);
    }
    found
}

wide! {
    /// The largest distance of each path from its end times `shares`, which say how far it has come.
    pub(crate) fn sup_of_bridge(path: &[Side], shares: &[f64]) -> Side = sup_of_bridge_rows
}

#[inline(always)]
fn sup_of_bridge_rows<F: Eight>(path: &[Side], shares: &[f64]) -> Side {
    let mut found = Side::default();
    let Some(last) = path.last() else { return found };
    let end = load::<F>(last);
    let mut sup = [F::splat(0.0); GROUPS];
    for (row, share) in path.iter().zip(shares) {
        let bridge = times_plus(-share, end, load(row));
        sup = both(sup, bridge, |sup, x| x.absolute().most(sup));
    }
    store(sup, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normals;

    fn normals(rows: usize, stream: u64) -> Vec<Side> {
        let mut filled = vec![Side::default(); rows];
        normals::fill(&std::array::from_fn(|d| normals::key(5, stream, d as u64)), &mut filled);
        filled
    }

    #[test]
    fn paths_of_any_disorder_are_sorted() {
        for (rows, noise) in [(0, 1.0), (1, 1.0), (3, 1.0), (300, 0.0), (300, 0.3), (300, 2.0), (300, 500.0)] {
            let mut path = normals(rows, 0);
            for (b, row) in path.iter_mut().enumerate() {
                row.as_flattened_mut().iter_mut().for_each(|z| *z = b as f64 + noise * *z);
            }
            let mut expected: Vec<Vec<f64>> =
                (0..SIDE).map(|d| path.iter().map(|row| row.as_flattened()[d]).collect()).collect();
            expected.iter_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
            sort(&mut path);
            for (d, values) in expected.iter().enumerate() {
                assert!(path.iter().zip(values).all(|(row, value)| row.as_flattened()[d] == *value), "noise {noise}");
            }
        }
    }
}
