//! Columns: what is made of them row by row, and sums of them and of their products.

use slateval_stats::sums::place_among;

use crate::kernel::simd::column::{Column, groups_of};
use crate::kernel::simd::lanes::{Eight, LANES, Lanes, Numbers, store_all, totals_of, wide};

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
fn range_of<F: Eight>(numbers: &[f64]) -> Option<(f64, f64)> {
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
fn multiply_rows<F: Eight>(rows: usize, a: &Column, b: &Column, out: &mut Column) {
    for i in 0..groups_of(rows) {
        F::load(&a.groups()[i]).times(F::load(&b.groups()[i])).store(&mut out.groups_mut()[i]);
    }
}

/// Left and right columns of a tile at most: its sums stay in registers, and each group of rows is loaded once for all of
/// them.
const LEFTS: usize = 2;
const RIGHTS: usize = 5;

/// Adds the sums of the products of every left column with every right one, left by left.
pub(crate) fn add_products(rows: usize, lefts: &[&Column], rights: &[Column], sums: &mut [f64]) {
    let (width, mut found) = (rights.len(), Tile::default());
    for (lefts, sums) in lefts.chunks(LEFTS).zip(sums.chunks_mut(LEFTS * width.max(1))) {
        for (r, rights) in rights.chunks(RIGHTS).enumerate() {
            tile(rows, lefts, rights, &mut found);
            for (found, sums) in found[..lefts.len()].iter().zip(sums.chunks_exact_mut(width)) {
                sums[r * RIGHTS..].iter_mut().zip(&found[..rights.len()]).for_each(|(sum, more)| *sum += more);
            }
        }
    }
}

/// Adds the sums of the products of columns with each other, each once: the lower triangle, row by row.
pub(crate) fn add_products_among(rows: usize, columns: &[Column], sums: &mut [f64]) {
    let mut found = Tile::default();
    for start in (0..columns.len()).step_by(LEFTS) {
        let mut lefts = [&Column::ZERO; LEFTS];
        let own = &columns[start..columns.len().min(start + LEFTS)];
        lefts.iter_mut().zip(own).for_each(|(to, column)| *to = column);
        let lefts = &lefts[..own.len()];
        for (r, rights) in columns[start..].chunks(RIGHTS).enumerate() {
            tile(rows, lefts, rights, &mut found);
            for (i, found) in found[..lefts.len()].iter().enumerate() {
                for (j, more) in (r * RIGHTS..).zip(&found[..rights.len()]).filter(|&(j, _)| i <= j) {
                    sums[place_among(start + i, start + j)] += more;
                }
            }
        }
    }
}

type Tile = [[f64; RIGHTS]; LEFTS];

/// Fills the beginning of the tile.
fn tile(rows: usize, lefts: &[&Column], rights: &[Column], found: &mut Tile) {
    macro_rules! by_lefts {
        ($($left:ident)*; $($right:ident)*) => {
            dots(rows, [$($left),*], [$($right),*], found)
        };
    }
    macro_rules! by_rights {
        ($($right:ident)*) => {
            match lefts {
                [a] => by_lefts!(a; $($right)*),
                [a, b] => by_lefts!(a b; $($right)*),
                _ => unreachable!("a tile has at most {LEFTS} by {RIGHTS} columns"),
            }
        };
    }
    match rights {
        [v] => by_rights!(v),
        [v, w] => by_rights!(v w),
        [v, w, x] => by_rights!(v w x),
        [v, w, x, y] => by_rights!(v w x y),
        [v, w, x, y, z] => by_rights!(v w x y z),
        _ => unreachable!("a tile has at most {LEFTS} by {RIGHTS} columns"),
    }
}

wide! {
    /// The products of some columns with others, summed.
    fn dots[const L, const R](rows: usize, lefts: [&Column; L], rights: [&Column; R], found: &mut Tile) = dots_of_rows
}

#[inline(always)]
fn dots_of_rows<F: Eight, const L: usize, const R: usize>(
    rows: usize,
    lefts: [&Column; L],
    rights: [&Column; R],
    found: &mut Tile,
) {
    let mut sums = [[[0.0; LANES]; R]; L];
    for part in 0..F::PARTS {
        let mut sums_of_part = [[F::Part::splat(0.0); R]; L];
        for i in 0..groups_of(rows) {
            let mut factors = [F::Part::splat(0.0); L];
            for l in 0..L {
                factors[l] = F::Part::load_part(&lefts[l].groups()[i], part);
            }
            for r in 0..R {
                let right = F::Part::load_part(&rights[r].groups()[i], part);
                for l in 0..L {
                    sums_of_part[l][r] = factors[l].times_plus(right, sums_of_part[l][r]);
                }
            }
        }
        for l in 0..L {
            store_all(sums_of_part[l], &mut sums[l], part);
        }
    }
    for l in 0..L {
        found[l][..R].copy_from_slice(&totals_of::<F, _>(&sums[l]));
    }
}

#[cfg(test)]
mod tests {
    use slateval_testing::Random;

    use super::*;
    use crate::kernel::simd::column::ROWS;

    /// Small whole numbers: sums of their products are exact in any order.
    fn column(seed: u64) -> Column {
        let mut column = Column::ZERO;
        let mut random = Random::new(seed);
        for x in column.first_mut(ROWS) {
            *x = random.below(32) as f64 - 16.0;
        }
        column
    }

    #[test]
    fn products_are_those_of_the_textbook() {
        let columns: Vec<Column> = (0..12).map(column).collect();
        let dot = |a: &Column, b: &Column, rows: usize| -> f64 {
            a.first(rows).iter().zip(b.first(rows)).map(|(x, y)| x * y).sum()
        };
        for rows in [8, 64, ROWS] {
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
}
