//! Columns: what is made of them row by row, sums of them and of their products, and columns laid out row by row.

use crate::math::lanes::{Four, LANES, Lanes, wide};

/// The smaller of two numbers: one instruction, for `f64::min` also looks for NaN.
#[inline(always)]
pub(crate) fn min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The larger of two numbers.
#[inline(always)]
pub(crate) fn max(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

wide! {
    /// `out = a b`, row by row.
    pub(crate) fn multiply(a: &[f64], b: &[f64], out: &mut [f64]) = multiply_rows
}

#[inline(always)]
fn multiply_rows<F: Four>(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a * b;
    }
}

wide! {
    /// `out += a b`, row by row.
    pub(crate) fn add_product(a: &[f64], b: &[f64], out: &mut [f64]) = add_product_rows
}

#[inline(always)]
fn add_product_rows<F: Four>(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a.mul_add(*b, *out);
    }
}

wide! {
    /// `out += a`, row by row.
    pub(crate) fn add_column(a: &[f64], out: &mut [f64]) = add_column_rows
}

#[inline(always)]
fn add_column_rows<F: Four>(a: &[f64], out: &mut [f64]) {
    for (out, a) in out.iter_mut().zip(a) {
        *out += a;
    }
}

wide! {
    /// `out = a b - c`, row by row.
    pub(crate) fn product_minus(a: &[f64], b: &[f64], c: &[f64], out: &mut [f64]) = product_minus_rows
}

#[inline(always)]
fn product_minus_rows<F: Four>(a: &[f64], b: &[f64], c: &[f64], out: &mut [f64]) {
    for ((out, c), (a, b)) in out.iter_mut().zip(c).zip(a.iter().zip(b)) {
        *out = a.mul_add(*b, -c);
    }
}

wide! {
    /// `out = a + b`, row by row.
    pub(crate) fn plus(a: &[f64], b: &[f64], out: &mut [f64]) = plus_rows
}

#[inline(always)]
fn plus_rows<F: Four>(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a + b;
    }
}

wide! {
    /// The smallest and the largest of a column.
    pub(crate) fn range(column: &[f64]) -> Option<(f64, f64)> = range_of_rows
}

#[inline(always)]
fn range_of_rows<F: Four>(column: &[f64]) -> Option<(f64, f64)> {
    let first = *column.first()?;
    let (whole, rest) = column.as_chunks::<LANES>();
    let (mut least, mut most) = (F::splat(first), F::splat(first));
    for chunk in whole {
        let chunk = F::load(chunk);
        least = chunk.least(least);
        most = chunk.most(most);
    }
    let ends = |lanes: Lanes, of: fn(f64, f64) -> f64| lanes.into_iter().chain(rest.iter().copied()).fold(first, of);
    Some((ends(least.lanes(), f64::min), ends(most.lanes(), f64::max)))
}

wide! {
    /// The sum of a column.
    pub(crate) fn sum(column: &[f64]) -> f64 = sum_of_rows
}

#[inline(always)]
fn sum_of_rows<F: Four>(column: &[f64]) -> f64 {
    let (whole, rest) = column.as_chunks::<LANES>();
    let mut sum = F::splat(0.0);
    for chunk in whole {
        sum = sum.plus(F::load(chunk));
    }
    rest.iter().fold(sum.total(), |sum, x| sum + x)
}

/// Two lists of columns, one behind the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    first: &'a [Vec<f64>],
    second: &'a [Vec<f64>],
}

impl<'a> Columns<'a> {
    #[inline(always)]
    pub(crate) fn new(first: &'a [Vec<f64>]) -> Self {
        Columns { first, second: &[] }
    }

    #[inline(always)]
    pub(crate) fn then(self, second: &'a [Vec<f64>]) -> Self {
        Columns { second, ..self }
    }

    #[inline(always)]
    pub(crate) fn len(self) -> usize {
        self.first.len() + self.second.len()
    }

    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> &'a [f64] {
        match i.checked_sub(self.first.len()) {
            None => &self.first[i],
            Some(i) => &self.second[i],
        }
    }
}

/// Left and right columns of a tile: its twelve sums stay in registers, and seven loads serve twelve products.
const TILE: (usize, usize) = (3, 4);

/// Adds the sums of the products of every left column with every right one, row by row into `sums`.
pub(crate) fn add_products(lefts: Columns<'_>, rights: Columns<'_>, sums: &mut [f64]) {
    for l in (0..lefts.len()).step_by(TILE.0) {
        match lefts.len() - l {
            1 => row_of_tiles::<1>(lefts, l, rights, 0, sums),
            2 => row_of_tiles::<2>(lefts, l, rights, 0, sums),
            _ => row_of_tiles::<{ TILE.0 }>(lefts, l, rights, 0, sums),
        }
    }
}

/// The same for products that come twice, one way and the other: only those of a left column with right ones from its own
/// place on are sure to be added.
pub(crate) fn add_products_once(lefts: Columns<'_>, rights: Columns<'_>, sums: &mut [f64]) {
    for l in (0..lefts.len()).step_by(TILE.0) {
        match lefts.len() - l {
            1 => row_of_tiles::<1>(lefts, l, rights, l, sums),
            2 => row_of_tiles::<2>(lefts, l, rights, l, sums),
            _ => row_of_tiles::<{ TILE.0 }>(lefts, l, rights, l, sums),
        }
    }
}

fn row_of_tiles<const L: usize>(lefts: Columns<'_>, l: usize, rights: Columns<'_>, from: usize, sums: &mut [f64]) {
    for r in (from..rights.len()).step_by(TILE.1) {
        match rights.len() - r {
            1 => tile::<L, 1>((lefts, l), (rights, r), sums),
            2 => tile::<L, 2>((lefts, l), (rights, r), sums),
            3 => tile::<L, 3>((lefts, l), (rights, r), sums),
            _ => tile::<L, { TILE.1 }>((lefts, l), (rights, r), sums),
        }
    }
}

fn tile<const L: usize, const R: usize>(
    (lefts, l): (Columns<'_>, usize),
    (rights, r): (Columns<'_>, usize),
    sums: &mut [f64],
) {
    let (mut left, mut right): ([&[f64]; L], [&[f64]; R]) = ([&[]; L], [&[]; R]);
    (0..L).for_each(|i| left[i] = lefts.get(l + i));
    (0..R).for_each(|j| right[j] = rights.get(r + j));
    let found = dot::<L, R>(left, right);
    for i in 0..L {
        for j in 0..R {
            sums[(l + i) * rights.len() + r + j] += found[i][j];
        }
    }
}

wide! {
    /// The products of some columns with others, summed.
    pub(crate) fn dot[const L, const R](lefts: [&[f64]; L], rights: [&[f64]; R]) -> [[f64; R]; L] = dot_of_rows
}

/// Groups of rows in a run. Its length is known to the compiler, so that nothing is checked inside it.
const RUN: usize = 8;

#[inline(always)]
fn dot_of_rows<F: Four, const L: usize, const R: usize>(lefts: [&[f64]; L], rights: [&[f64]; R]) -> [[f64; R]; L] {
    let rows = lefts[0].len();
    let whole = rows / (RUN * LANES);
    let (mut left, mut right): ([&[[Lanes; RUN]]; L], [&[[Lanes; RUN]]; R]) = ([&[]; L], [&[]; R]);
    for l in 0..L {
        left[l] = &lefts[l].as_chunks().0.as_chunks().0[..whole];
    }
    for r in 0..R {
        right[r] = &rights[r].as_chunks().0.as_chunks().0[..whole];
    }
    let mut sums = [[F::splat(0.0); R]; L];
    for run in 0..whole {
        let (mut left_run, mut right_run) = ([&[[0.0; LANES]; RUN]; L], [&[[0.0; LANES]; RUN]; R]);
        for l in 0..L {
            left_run[l] = &left[l][run];
        }
        for r in 0..R {
            right_run[r] = &right[r][run];
        }
        for i in 0..RUN {
            let mut factors = [F::splat(0.0); R];
            for r in 0..R {
                factors[r] = F::load(&right_run[r][i]);
            }
            for l in 0..L {
                let factor = F::load(&left_run[l][i]);
                for r in 0..R {
                    sums[l][r] = factor.times_plus(factors[r], sums[l][r]);
                }
            }
        }
    }
    let (done, mut out) = (whole * RUN * LANES, [[0.0; R]; L]);
    for l in 0..L {
        for r in 0..R {
            out[l][r] = sums[l][r].total();
            for (x, y) in lefts[l][done..].iter().zip(&rights[r][done..rows]) {
                out[l][r] = x.mul_add(*y, out[l][r]);
            }
        }
    }
    out
}

/// `sums += by * values`.
#[inline(always)]
pub(crate) fn add_scaled<F: Four>(sums: &mut [Lanes], by: F, values: &[Lanes]) {
    for (sums, values) in sums.iter_mut().zip(values) {
        by.times_plus(F::load(values), F::load(sums)).store(sums);
    }
}

/// `sums += values`.
#[inline(always)]
pub(crate) fn add<F: Four>(sums: &mut [Lanes], values: &[Lanes]) {
    for (sums, values) in sums.iter_mut().zip(values) {
        F::load(values).plus(F::load(sums)).store(sums);
    }
}

/// Lays columns out row by row, [`LANES`] of them at a time; zeros fill up the last group.
pub(crate) fn interleave<'a>(count: usize, column: impl Fn(usize) -> &'a [f64], zeros: &'a [f64], out: &mut Vec<Lanes>) {
    let (rows, groups) = (zeros.len(), count.div_ceil(LANES));
    out.resize(rows * groups, [0.0; LANES]);
    let column = |i: usize| if i < count { &column(i)[..rows] } else { zeros };
    let group = |g: usize| [column(LANES * g), column(LANES * g + 1), column(LANES * g + 2), column(LANES * g + 3)];
    match groups {
        0 => {}
        1 => transpose::<1>([group(0)], out),
        2 => transpose::<2>([group(0), group(1)], out),
        3 => transpose::<3>([group(0), group(1), group(2)], out),
        _ => {
            for g in 0..groups {
                let [a, b, c, d] = group(g);
                for (i, out) in out.iter_mut().skip(g).step_by(groups).enumerate() {
                    *out = [a[i], b[i], c[i], d[i]];
                }
            }
        }
    }
}

wide! {
    /// Writes groups of four columns row by row.
    fn transpose[const GROUPS](columns: [[&[f64]; LANES]; GROUPS], out: &mut [Lanes]) = transpose_rows
}

/// Four rows at a time.
#[inline(always)]
fn transpose_rows<F: Four, const GROUPS: usize>(columns: [[&[f64]; LANES]; GROUPS], out: &mut [Lanes]) {
    let rows = out.len() / GROUPS;
    for g in 0..GROUPS {
        let [a, b, c, d] = columns[g];
        let (out, rest) = out.as_chunks_mut::<GROUPS>().0.as_chunks_mut::<LANES>();
        let columns = a.as_chunks().0.iter().zip(b.as_chunks().0).zip(c.as_chunks().0.iter().zip(d.as_chunks().0));
        for (out, ((a, b), (c, d))) in out.iter_mut().zip(columns) {
            let (a, b, c, d): (Lanes, Lanes, Lanes, Lanes) = (*a, *b, *c, *d);
            out[0][g] = [a[0], b[0], c[0], d[0]];
            out[1][g] = [a[1], b[1], c[1], d[1]];
            out[2][g] = [a[2], b[2], c[2], d[2]];
            out[3][g] = [a[3], b[3], c[3], d[3]];
        }
        for (i, out) in rest.iter_mut().enumerate() {
            let i = rows / LANES * LANES + i;
            out[g] = [a[i], b[i], c[i], d[i]];
        }
    }
}
