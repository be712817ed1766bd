//! Columns: what is made of them row by row, sums of them and of their products, and columns laid out row by row.

use crate::math::column::{Column, groups_of};
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
    /// The smallest and the largest of some numbers.
    pub(crate) fn range(numbers: &[f64]) -> Option<(f64, f64)> = range_of
}

#[inline(always)]
fn range_of<F: Four>(numbers: &[f64]) -> Option<(f64, f64)> {
    let first = *numbers.first()?;
    let (whole, rest) = numbers.as_chunks::<LANES>();
    let (mut least, mut most) = (F::splat(first), F::splat(first));
    for chunk in whole {
        let chunk = F::load(chunk);
        least = chunk.least(least);
        most = chunk.most(most);
    }
    let ends = |lanes: Lanes, of: fn(f64, f64) -> f64| lanes.into_iter().chain(rest.iter().copied()).fold(first, of);
    Some((ends(least.lanes(), min), ends(most.lanes(), max)))
}

wide! {
    /// `out = a b`, row by row.
    pub(crate) fn multiply(rows: usize, a: &Column, b: &Column, out: &mut Column) = multiply_rows
}

#[inline(always)]
fn multiply_rows<F: Four>(rows: usize, a: &Column, b: &Column, out: &mut Column) {
    for i in 0..groups_of(rows) {
        F::load(&a.groups()[i]).times(F::load(&b.groups()[i])).store(&mut out.groups_mut()[i]);
    }
}

/// Left and right columns of a tile: its ten sums stay in registers, and each group of rows is loaded once for all of them.
const TILE: (usize, usize) = (2, 5);

/// Adds the sums of the products of every left column with every right one, left by left.
pub(crate) fn add_products(rows: usize, lefts: &[&Column], rights: &[Column], sums: &mut [f64]) {
    let width = rights.len();
    for (lefts, sums) in lefts.chunks(TILE.0).zip(sums.chunks_mut(TILE.0 * width.max(1))) {
        for (r, rights) in rights.chunks(TILE.1).enumerate() {
            let found = tile(rows, lefts, rights);
            for (found, sums) in found[..lefts.len()].iter().zip(sums.chunks_exact_mut(width)) {
                sums[r * TILE.1..].iter_mut().zip(&found[..rights.len()]).for_each(|(sum, more)| *sum += more);
            }
        }
    }
}

/// Adds the sums of the products of columns with each other, each once: the lower triangle, row by row.
pub(crate) fn add_products_among(rows: usize, columns: &[Column], sums: &mut [f64]) {
    for start in (0..columns.len()).step_by(TILE.0) {
        let lefts: Vec<&Column> = columns[start..].iter().take(TILE.0).collect();
        for (r, rights) in columns[start..].chunks(TILE.1).enumerate() {
            let found = tile(rows, &lefts, rights);
            for (i, found) in found[..lefts.len()].iter().enumerate() {
                for (j, more) in (r * TILE.1..).zip(&found[..rights.len()]).filter(|&(j, _)| i <= j) {
                    sums[place_among(start + i, start + j)] += more;
                }
            }
        }
    }
}

/// The place of `i <= j` in the lower triangle: it does not depend on how many columns there are.
#[inline(always)]
pub(crate) fn place_among(i: usize, j: usize) -> usize {
    j * (j + 1) / 2 + i
}

type Tile = [[f64; TILE.1]; TILE.0];

fn tile(rows: usize, lefts: &[&Column], rights: &[Column]) -> Tile {
    match (lefts, rights) {
        ([a], [v]) => dots(rows, [a], [v]),
        ([a], [v, w]) => dots(rows, [a], [v, w]),
        ([a], [v, w, x]) => dots(rows, [a], [v, w, x]),
        ([a], [v, w, x, y]) => dots(rows, [a], [v, w, x, y]),
        ([a], [v, w, x, y, z]) => dots(rows, [a], [v, w, x, y, z]),
        ([a, b], [v]) => dots(rows, [a, b], [v]),
        ([a, b], [v, w]) => dots(rows, [a, b], [v, w]),
        ([a, b], [v, w, x]) => dots(rows, [a, b], [v, w, x]),
        ([a, b], [v, w, x, y]) => dots(rows, [a, b], [v, w, x, y]),
        ([a, b], [v, w, x, y, z]) => dots(rows, [a, b], [v, w, x, y, z]),
        _ => unreachable!("a tile has at most {TILE:?} columns"),
    }
}

wide! {
    /// The products of some columns with others, summed.
    fn dots[const L, const R](rows: usize, lefts: [&Column; L], rights: [&Column; R]) -> Tile = dots_of_rows
}

#[inline(always)]
fn dots_of_rows<F: Four, const L: usize, const R: usize>(
    rows: usize,
    lefts: [&Column; L],
    rights: [&Column; R],
) -> Tile {
    let mut sums = [[F::splat(0.0); R]; L];
    for i in 0..groups_of(rows) {
        let mut factors = [F::splat(0.0); R];
        for r in 0..R {
            factors[r] = F::load(&rights[r].groups()[i]);
        }
        for l in 0..L {
            let factor = F::load(&lefts[l].groups()[i]);
            for r in 0..R {
                sums[l][r] = factor.times_plus(factors[r], sums[l][r]);
            }
        }
    }
    let mut out = [[0.0; TILE.1]; TILE.0];
    for l in 0..L {
        for r in 0..R {
            out[l][r] = sums[l][r].total();
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

/// Lays columns out row by row, [`LANES`] of them at a time; zeros fill up the last group of columns.
pub(crate) fn interleave<'a>(rows: usize, columns: impl ExactSizeIterator<Item = &'a Column>, out: &mut Vec<Lanes>) {
    let (per_row, mut columns) = (columns.len().div_ceil(LANES), columns);
    out.resize(groups_of(rows) * LANES * per_row, [0.0; LANES]);
    for place in 0..per_row {
        let mut four = [&Column::ZERO; LANES];
        four.iter_mut().zip(&mut columns).for_each(|(to, column)| *to = column);
        transpose(rows, four, place, per_row, out);
    }
}

wide! {
    /// Writes four columns row by row, at one place out of some in each row.
    fn transpose(rows: usize, columns: [&Column; LANES], place: usize, per_row: usize, out: &mut [Lanes]) = transpose_rows
}

/// Four rows at a time.
#[inline(always)]
fn transpose_rows<F: Four>(
    rows: usize,
    [a, b, c, d]: [&Column; LANES],
    place: usize,
    per_row: usize,
    out: &mut [Lanes],
) {
    let four_rows = out.chunks_exact_mut(LANES * per_row);
    for (i, out) in (0..groups_of(rows)).zip(four_rows) {
        let four = [a, b, c, d].map(|column| F::load(&column.groups()[i]));
        for (row, values) in F::transpose(four).into_iter().enumerate() {
            values.store(&mut out[row * per_row + place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::column::ROWS;

    /// Small whole numbers: sums of their products are exact in any order.
    fn column(seed: u64) -> Column {
        let mut column = Column::ZERO;
        let mut state = seed;
        for x in column.first_mut(ROWS) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *x = f64::from((state >> 59) as u32) - 16.0;
        }
        column
    }

    #[test]
    fn products_are_those_of_the_textbook() {
        let columns: Vec<Column> = (0..12).map(column).collect();
        let dot = |a: &Column, b: &Column, rows: usize| -> f64 {
            a.first(rows).iter().zip(b.first(rows)).map(|(x, y)| x * y).sum()
        };
        for rows in [4, 64, ROWS] {
            let lefts: Vec<&Column> = columns[..3].iter().collect();
            let mut sums = [1.0; 3 * 11];
            add_products(rows, &lefts, &columns[1..], &mut sums);
            let mut among = [1.0; 7 * 8 / 2];
            add_products_among(rows, &columns[..7], &mut among);
            for i in 0..7 {
                for j in 1..12 {
                    let expected = 1.0 + dot(&columns[i], &columns[j], rows);
                    assert!(i >= 3 || sums[i * 11 + j - 1] == expected, "{i} {j}");
                    assert!(i > j || j >= 7 || among[place_among(i, j)] == expected, "{i} {j}");
                }
            }
        }
    }

    #[test]
    fn rows_are_laid_out_one_behind_the_other() {
        let columns: Vec<Column> = (0..6).map(column).collect();
        let mut out = Vec::new();
        interleave(ROWS, columns.iter(), &mut out);
        for row in 0..ROWS {
            let expected: Vec<f64> = columns.iter().map(|c| c.get(row)).chain([0.0, 0.0]).collect();
            assert_eq!(out[2 * row..2 * row + 2].as_flattened(), expected);
        }
    }
}
