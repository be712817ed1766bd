//! Importance weights, a block of rows at a time and slot by slot, so that every loop runs over contiguous rows.
//! See docs/methods.md, section 2.

use slateval_stats::weights::{binomial, ranking_weight};
use slateval_stats::{Family, Field, ORDERS, Pool, Structure};

use crate::block::Block;
use crate::kernel::simd::column::{Column, ROWS, groups_of, resize};
use crate::kernel::simd::lanes::{Eight, LANES, Numbers, store_all, totals_of, wide};
use crate::kernel::simd::vector;

/// Fills `g` with the weights of one policy, given its slot ratios.
pub(crate) fn weigh(
    structure: &Structure,
    block: &Block,
    policy: usize,
    z: &[Column],
    g: &mut Column,
    scratch: &mut Vec<Column>,
) {
    let rows = block.rows();
    match structure {
        Structure::Given => *g = *block.whole_column(Field::Weight { policy }),
        Structure::Ranking(pool) => ranking(pool, block, policy, g),
        Structure::PaperOrder(m) => paper_order(*m, rows, z, |row, slot| block.is_missing(row, slot), g, scratch),
        _ => multilinear(structure, rows, z, g, scratch),
    }
}

/// `sum_{S in F} prod_{k in S} z_k` for the structure's family `F` of slot sets.
pub(crate) fn multilinear(structure: &Structure, rows: usize, z: &[Column], g: &mut Column, scratch: &mut Vec<Column>) {
    match structure {
        Structure::Product => product(rows, z, g),
        Structure::Order(m) if *m >= z.len() => product(rows, z, g),
        Structure::Additive | Structure::Order(1) => additive(rows, z, g),
        Structure::Order(m) => order(*m, rows, z, g, scratch),
        Structure::Interactions(family) => interactions(family, rows, z, g, scratch),
        _ => unreachable!("{structure} is no function of slot ratios alone"),
    }
}

/// `1 + sum_k Z_k`.
fn additive(rows: usize, z: &[Column], g: &mut Column) {
    g.groups_mut().as_flattened_mut().fill(1.0);
    z.iter().for_each(|z| add_column(rows, z, g));
}

/// `prod_k (1 + Z_k)`.
fn product(rows: usize, z: &[Column], g: &mut Column) {
    g.groups_mut().as_flattened_mut().fill(1.0);
    z.iter().for_each(|z| multiply_by_one_plus(rows, z, g));
}

/// `sum_{j<=m} e_j(Z)`, the elementary symmetric polynomials by `e_j += Z_k e_{j-1}`: O(K m) a row.
fn order(m: usize, rows: usize, z: &[Column], g: &mut Column, e: &mut Vec<Column>) {
    elementary(m, rows, z, e);
    g.groups_mut().as_flattened_mut().fill(1.0);
    e[..m].iter().for_each(|e| add_column(rows, e, g));
}

wide! {
    /// `out += a`.
    fn add_column(rows: usize, a: &Column, out: &mut Column) = add_column_rows
}

#[inline(always)]
fn add_column_rows<F: Eight>(rows: usize, a: &Column, out: &mut Column) {
    for i in 0..groups_of(rows) {
        let out = &mut out.groups_mut()[i];
        F::load(&a.groups()[i]).plus(F::load(out)).store(out);
    }
}

wide! {
    /// `out += a b`.
    fn add_product(rows: usize, a: &Column, b: &Column, out: &mut Column) = add_product_rows
}

#[inline(always)]
fn add_product_rows<F: Eight>(rows: usize, a: &Column, b: &Column, out: &mut Column) {
    for i in 0..groups_of(rows) {
        let out = &mut out.groups_mut()[i];
        F::load(&a.groups()[i]).times_plus(F::load(&b.groups()[i]), F::load(out)).store(out);
    }
}

wide! {
    /// `out *= 1 + x`.
    fn multiply_by_one_plus(rows: usize, x: &Column, out: &mut Column) = multiply_by_one_plus_rows
}

#[inline(always)]
fn multiply_by_one_plus_rows<F: Eight>(rows: usize, x: &Column, out: &mut Column) {
    for i in 0..groups_of(rows) {
        let out = &mut out.groups_mut()[i];
        let product = F::load(out);
        F::load(&x.groups()[i]).times_plus(product, product).store(out);
    }
}

/// Fills `e[j - 1]` with `e_j(z)` for `1 <= j <= m`.
pub(crate) fn elementary(m: usize, rows: usize, z: &[Column], e: &mut Vec<Column>) {
    resize(e, e.len().max(m));
    e[..m].fill(Column::ZERO);
    z.iter().for_each(|z| step(m, rows, z, e));
}

/// The same, with `rest`, the sum of `e_j(z)` over all `j > m`, in `e[m]`. `m` is at least 1.
///
/// Adding slot `z`: `rest` becomes `rest + z (rest + e_m)`, because a product of more than `m` slots either lacks `z`,
/// or is `z` times a product of at least `m` slots.
pub(crate) fn elementary_with_rest(m: usize, rows: usize, z: &[Column], e: &mut Vec<Column>) {
    resize(e, e.len().max(m + 1));
    e[..=m].fill(Column::ZERO);
    for z in z {
        let (below, rest) = e.split_at_mut(m);
        add_product(rows, z, &rest[0].clone(), &mut rest[0]);
        add_product(rows, z, &below[m - 1], &mut rest[0]);
        step(m, rows, z, e);
    }
}

/// Takes a slot into `e_1` to `e_m`.
fn step(m: usize, rows: usize, z: &Column, e: &mut [Column]) {
    for j in (2..=m).rev() {
        let (below, above) = e.split_at_mut(j - 1);
        add_product(rows, z, &below[j - 2], &mut above[0]);
    }
    if m > 0 {
        add_column(rows, z, &mut e[0]);
    }
}

/// `e_1` to `e_m` with `m =` [`ORDERS`], and the sum of all orders beyond.
pub(crate) const ORDERS_AND_REST: usize = ORDERS + 1;

/// What the orders of a block's ratios sum up to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderFacts {
    /// The sums over all rows of the first orders of `z^2`, and of the rest.
    pub(crate) of_squares: [f64; ORDERS_AND_REST],
    /// The sums of `e_2(z)` and of its square.
    pub(crate) pairs: [f64; 2],
}

wide! {
    /// Fills `e` with the first orders of `z` and the rest.
    pub(crate) fn first_orders(rows: usize, z: &[Column], e: &mut [Column; ORDERS_AND_REST]) -> OrderFacts = first_orders_of
}

#[inline(always)]
fn first_orders_of<F: Eight>(rows: usize, z: &[Column], e: &mut [Column; ORDERS_AND_REST]) -> OrderFacts {
    let (mut sums, mut pairs) = ([[0.0; LANES]; ORDERS_AND_REST], [[0.0; LANES]; 2]);
    for part in 0..F::PARTS {
        let zero = F::Part::splat(0.0);
        let (mut sums_of_part, mut pairs_of_part) = ([zero; ORDERS_AND_REST], [zero; 2]);
        for i in 0..groups_of(rows) {
            let (mut orders, mut squares) = ([zero; ORDERS_AND_REST], [zero; ORDERS_AND_REST]);
            for z in z {
                let z = F::Part::load_part(&z.groups()[i], part);
                take_slot(z, &mut orders);
                take_slot(z.times(z), &mut squares);
            }
            for j in 0..ORDERS_AND_REST {
                orders[j].store_part(&mut e[j].groups_mut()[i], part);
                sums_of_part[j] = sums_of_part[j].plus(squares[j]);
            }
            pairs_of_part[0] = pairs_of_part[0].plus(orders[1]);
            pairs_of_part[1] = orders[1].times_plus(orders[1], pairs_of_part[1]);
        }
        store_all(sums_of_part, &mut sums, part);
        store_all(pairs_of_part, &mut pairs, part);
    }
    OrderFacts { of_squares: totals_of::<F, _>(&sums), pairs: totals_of::<F, _>(&pairs) }
}

wide! {
    /// The sums over all rows of the first orders of `x` and of the rest.
    pub(crate) fn order_sums(rows: usize, x: &[Column]) -> [f64; ORDERS_AND_REST] = order_sums_of
}

#[inline(always)]
fn order_sums_of<F: Eight>(rows: usize, x: &[Column]) -> [f64; ORDERS_AND_REST] {
    let mut sums = [[0.0; LANES]; ORDERS_AND_REST];
    for part in 0..F::PARTS {
        let mut sums_of_part = [F::Part::splat(0.0); ORDERS_AND_REST];
        for i in 0..groups_of(rows) {
            let mut orders = [F::Part::splat(0.0); ORDERS_AND_REST];
            for x in x {
                take_slot(F::Part::load_part(&x.groups()[i], part), &mut orders);
            }
            for j in 0..ORDERS_AND_REST {
                sums_of_part[j] = sums_of_part[j].plus(orders[j]);
            }
        }
        store_all(sums_of_part, &mut sums, part);
    }
    totals_of::<F, _>(&sums)
}

/// `e_j += z e_{j-1}`, and for the rest as in [`elementary_with_rest`].
#[inline(always)]
fn take_slot<P: Numbers>(z: P, e: &mut [P; ORDERS_AND_REST]) {
    e[ORDERS] = z.times_plus(e[ORDERS].plus(e[ORDERS - 1]), e[ORDERS]);
    for j in (1..ORDERS).rev() {
        e[j] = z.times_plus(e[j - 1], e[j]);
    }
    e[0] = e[0].plus(z);
}

/// Every single slot and every set of the closed family.
fn interactions(family: &Family, rows: usize, z: &[Column], g: &mut Column, scratch: &mut Vec<Column>) {
    additive(rows, z, g);
    resize(scratch, scratch.len().max(1));
    let term = &mut scratch[0];
    // A set with a slot that no slate of this block has contributes Z = 0.
    for set in family.closure().iter().filter(|set| set.last().is_some_and(|&last| last < z.len())) {
        *term = z[set[0]];
        for &k in &set[1..] {
            let before = *term;
            vector::multiply(rows, &before, &z[k], term);
        }
        add_column(rows, term, g);
    }
}

/// The paper's equation for `G_m`: `e_m(Y) - C(K, m) + 1`, with `K` the slate's own length.
fn paper_order(
    m: usize,
    rows: usize,
    z: &[Column],
    is_missing: impl Fn(usize, usize) -> bool,
    g: &mut Column,
    scratch: &mut Vec<Column>,
) {
    g.groups_mut().as_flattened_mut().fill(1.0);
    if m > z.len() {
        return;
    }
    let mut y = z.to_vec();
    let mut lengths = vec![z.len(); rows];
    for (slot, y) in y.iter_mut().enumerate() {
        for (row, y) in y.first_mut(rows).iter_mut().enumerate() {
            // A missing slot has Y = 1, which would add sets that do not exist.
            *y = if is_missing(row, slot) { 0.0 } else { *y + 1.0 };
            lengths[row] -= usize::from(is_missing(row, slot));
        }
    }
    elementary(m, rows, &y, scratch);
    for ((row, g), length) in g.first_mut(rows).iter_mut().enumerate().zip(lengths) {
        *g = scratch[m - 1].get(row) - binomial(length, m) + 1.0;
    }
}

/// [`ranking_weight`] for every row of a block.
fn ranking(pool: &Pool, block: &Block, policy: usize, g: &mut Column) {
    let (mut own, mut anywhere) = ([0.0; ROWS], [0.0; ROWS]);
    for slot in 0..block.slots() {
        let pi = block.column(Field::Target { policy, slot });
        let any = block.column(Field::Anywhere { policy, slot });
        for row in (0..block.rows()).filter(|&row| !block.is_missing(row, slot)) {
            own[row] += pi[row].min(1.0);
            anywhere[row] += any[row].min(1.0);
        }
    }
    for (row, g) in g.first_mut(block.rows()).iter_mut().enumerate() {
        *g = ranking_weight(block.pool_size(pool, row) as usize, block.length(row), own[row], anywhere[row]);
    }
    g.fill_up(block.rows(), 1.0);
}
