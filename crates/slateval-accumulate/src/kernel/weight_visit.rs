//! One visit of the rows of a weight: its products with the reward, their sums, and what is remembered of the weight itself.
//! See docs/methods.md, sections 3.2 and 3.3.

use crate::kernel::simd::column::{Column, GROUPS, ROWS, groups_of};
use crate::kernel::simd::lanes::{Eight, LANES, Lanes, Numbers, store_all, totals_of, wide};
use crate::kernel::simd::vector;
use crate::kernel::weight_counts;

/// What a visit leaves behind.
#[derive(Debug, Clone)]
pub(crate) struct WeightVisit {
    /// `G`.
    pub(crate) weight: Column,
    /// `G R` and `G R^2`.
    pub(crate) with_reward: Column,
    pub(crate) with_squared_reward: Column,
    /// The sums of `G R` and `G R^2`, and of `G^2 R` to `G^2 R^4`.
    pub(crate) sums: [f64; 6],
    pub(crate) seen: WeightSeen,
    /// For each row, where it is counted.
    pub(crate) bins: [u8; ROWS],
}

/// What is remembered of the weights of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightSeen {
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) negative: f64,
    pub(crate) absolute: f64,
    pub(crate) cubes: f64,
    pub(crate) fourths: f64,
}

impl WeightSeen {
    const NOTHING: WeightSeen = WeightSeen {
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
        negative: 0.0,
        absolute: 0.0,
        cubes: 0.0,
        fourths: 0.0,
    };

    fn add(&mut self, g: f64) {
        self.least = vector::min(self.least, g);
        self.most = vector::max(self.most, g);
        self.negative += f64::from(u8::from(g < 0.0));
        self.absolute += g.abs();
        self.cubes += g * g * g;
        self.fourths += (g * g) * (g * g);
    }
}

impl Default for WeightVisit {
    fn default() -> Self {
        WeightVisit {
            weight: Column::ZERO,
            with_reward: Column::ZERO,
            with_squared_reward: Column::ZERO,
            sums: [0.0; 6],
            seen: WeightSeen::NOTHING,
            bins: [0; ROWS],
        }
    }
}

impl WeightVisit {
    /// Visits `G = below + w`. Rewards are those seen from the cell's origin, and their squares.
    pub(crate) fn fill(&mut self, rows: usize, below: &Column, w: &Column, rewards: [&Column; 2]) {
        visit(rows, below, w, rewards, self);
        // The numbers that fill up the last group are no weights.
        for row in rows / LANES * LANES..rows {
            self.seen.add(self.weight.get(row));
        }
    }
}

wide! {
    /// All but what is remembered of the rows behind the last whole group.
    fn visit(rows: usize, below: &Column, w: &Column, rewards: [&Column; 2], out: &mut WeightVisit) = visit_rows
}

#[inline(always)]
fn visit_rows<F: Eight>(rows: usize, below: &Column, w: &Column, rewards: [&Column; 2], out: &mut WeightVisit) {
    let (mut sums, mut seen) = ([[0.0; LANES]; 6], [[0.0; LANES]; 6]);
    for part in 0..F::PARTS {
        let mut sums_of_part = [F::Part::splat(0.0); 6];
        for i in 0..groups_of(rows) {
            let load = |column: &Column| F::Part::load_part(&column.groups()[i], part);
            let g = load(below).plus(load(w));
            let (gr, gr2) = (g.times(load(rewards[0])), g.times(load(rewards[1])));
            g.store_part(&mut out.weight.groups_mut()[i], part);
            gr.store_part(&mut out.with_reward.groups_mut()[i], part);
            gr2.store_part(&mut out.with_squared_reward.groups_mut()[i], part);
            let [a, b, c, d, e, f] = &mut sums_of_part;
            *a = a.plus(gr);
            *b = b.plus(gr2);
            *c = g.times_plus(gr, *c);
            *d = gr.times_plus(gr, *d);
            *e = gr.times_plus(gr2, *e);
            *f = gr2.times_plus(gr2, *f);
        }
        store_all(sums_of_part, &mut sums, part);
        let mut seen_of_part = SeenInLanes::<F::Part>::new();
        for i in 0..(rows / LANES).min(GROUPS) {
            seen_of_part.add(F::Part::load_part(&out.weight.groups()[i], part));
        }
        store_all(seen_of_part.parts(), &mut seen, part);
    }
    weight_counts::find_bins(rows, &out.weight, &mut out.bins);
    out.sums = totals_of::<F, _>(&sums);
    out.seen = total_seen::<F>(&seen);
}

/// [`WeightSeen`] in some lanes.
struct SeenInLanes<P> {
    least: P,
    most: P,
    negative: P,
    absolute: P,
    cubes: P,
    fourths: P,
}

impl<P: Numbers> SeenInLanes<P> {
    #[inline(always)]
    fn new() -> Self {
        let zero = P::splat(0.0);
        let (least, most) = (P::splat(f64::INFINITY), P::splat(f64::NEG_INFINITY));
        SeenInLanes { least, most, negative: zero, absolute: zero, cubes: zero, fourths: zero }
    }

    #[inline(always)]
    fn add(&mut self, g: P) {
        let square = g.times(g);
        self.least = g.least(self.least);
        self.most = g.most(self.most);
        self.negative = self.negative.plus(g.is_below(P::splat(0.0)));
        self.absolute = self.absolute.plus(g.absolute());
        self.cubes = square.times_plus(g, self.cubes);
        self.fourths = square.times_plus(square, self.fourths);
    }

    #[inline(always)]
    fn parts(self) -> [P; 6] {
        [self.least, self.most, self.negative, self.absolute, self.cubes, self.fourths]
    }
}

/// What all lanes have seen, in the order of [`SeenInLanes::parts`].
#[inline(always)]
fn total_seen<F: Eight>([all_least, all_most, sums @ ..]: &[Lanes; 6]) -> WeightSeen {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for lane in 0..LANES {
        (least, most) = (vector::min(least, all_least[lane]), vector::max(most, all_most[lane]));
    }
    let [negative, absolute, cubes, fourths] = totals_of::<F, _>(sums);
    WeightSeen { least, most, negative, absolute, cubes, fourths }
}
