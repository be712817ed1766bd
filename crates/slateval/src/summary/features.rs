//! What is summed of each row: the layout of a policy's sums, over the whole log and in each bin.
//!
//! A weight is a sum of *basis* functions, `G = c_0 + sum_j c_j W_j`. A fixed structure has one, its own weight; structure
//! auto has `W_j = e_j(Z)`. Keeping sums of the basis rather than of `G` leaves the choice of the `c_j`, a
//! [`Coefficients`], open until the log has been read.

/// The coefficients `(c_0, c_1, ...)` of a weight `G = c_0 + sum_j c_j W_j`.
pub(crate) type Coefficients = Vec<f64>;

/// The numbers of one row that enter the log's Gram matrix, by place.
///
/// `(1, Z_k, W_j, R, R^2, W_j R, W_j R^2)` and with chi `(chi_k, W_j Z_k)`: their products are all the sums that
/// means, variances and their influence functions need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) slots: usize,
    pub(crate) basis: usize,
    pub(crate) chi: bool,
}

impl Features {
    pub(crate) const ONE: usize = 0;

    pub(crate) fn z(self, k: usize) -> usize {
        1 + k
    }

    pub(crate) fn w(self, j: usize) -> usize {
        1 + self.slots + j
    }

    pub(crate) fn r(self) -> usize {
        1 + self.slots + self.basis
    }

    pub(crate) fn r2(self) -> usize {
        self.r() + 1
    }

    pub(crate) fn wr(self, j: usize) -> usize {
        self.r() + 2 + j
    }

    pub(crate) fn wr2(self, j: usize) -> usize {
        self.r() + 2 + self.basis + j
    }

    pub(crate) fn chi(self, k: usize) -> usize {
        self.r() + 2 + 2 * self.basis + k
    }

    pub(crate) fn wz(self, j: usize, k: usize) -> usize {
        self.chi(0) + (1 + j) * self.slots + k
    }

    pub(crate) fn len(self) -> usize {
        if self.chi { self.wz(self.basis, 0) } else { self.chi(0) }
    }

    /// The sums kept in each bin.
    pub(crate) fn bin_sums(self) -> BinSums {
        let Features { slots, basis, chi } = self;
        BinSums { slots, basis, chi }
    }

    /// Each feature as it stands in a layout with more slots, as rows of a linear map; the new slots' features are 0.
    pub(crate) fn widened(self, slots: usize) -> Vec<Vec<(usize, f64)>> {
        let wide = Features { slots, ..self };
        let mut rows = vec![Vec::new(); wide.len()];
        let mut copy = |to: usize, from: usize| rows[to] = vec![(from, 1.0)];
        copy(Self::ONE, Self::ONE);
        copy(wide.r(), self.r());
        copy(wide.r2(), self.r2());
        for j in 0..self.basis {
            copy(wide.w(j), self.w(j));
            copy(wide.wr(j), self.wr(j));
            copy(wide.wr2(j), self.wr2(j));
        }
        for k in 0..self.slots {
            copy(wide.z(k), self.z(k));
            if self.chi {
                copy(wide.chi(k), self.chi(k));
                (0..self.basis).for_each(|j| copy(wide.wz(j, k), self.wz(j, k)));
            }
        }
        rows
    }

    /// The features of the single weight that a coefficients makes, as rows of a linear map.
    pub(crate) fn combined(self, c: &[f64]) -> Vec<Vec<(usize, f64)>> {
        let one = Features { basis: 1, ..self };
        let mut rows = vec![Vec::new(); one.len()];
        let mut copy = |to: usize, from: usize| rows[to] = vec![(from, 1.0)];
        copy(Self::ONE, Self::ONE);
        copy(one.r(), self.r());
        copy(one.r2(), self.r2());
        for k in 0..self.slots {
            copy(one.z(k), self.z(k));
            if self.chi {
                copy(one.chi(k), self.chi(k));
            }
        }
        let combine = |constant: usize, place: &dyn Fn(usize) -> usize| {
            let terms = (0..self.basis).map(|j| (place(j), c[j + 1]));
            [(constant, c[0])].into_iter().chain(terms).filter(|&(_, c)| c != 0.0).collect()
        };
        rows[one.w(0)] = combine(Self::ONE, &|j| self.w(j));
        rows[one.wr(0)] = combine(self.r(), &|j| self.wr(j));
        rows[one.wr2(0)] = combine(self.r2(), &|j| self.wr2(j));
        if self.chi {
            for k in 0..self.slots {
                rows[one.wz(0, k)] = combine(self.z(k), &|j| self.wz(j, k));
            }
        }
        rows
    }

    /// The features for rewards `R + by` in place of `R`, as rows of a linear map.
    pub(crate) fn shifted(self, by: f64) -> Vec<Vec<(usize, f64)>> {
        let mut rows: Vec<Vec<(usize, f64)>> = (0..self.len()).map(|p| vec![(p, 1.0)]).collect();
        let mut shift = |one: usize, r: usize, r2: usize| {
            rows[r].push((one, by));
            rows[r2].extend([(r, 2.0 * by), (one, by * by)]);
        };
        shift(Self::ONE, self.r(), self.r2());
        (0..self.basis).for_each(|j| shift(self.w(j), self.wr(j), self.wr2(j)));
        rows
    }
}

/// The sums kept of one policy in each bin, by place: products of a *left* factor, 1 or a `W_i`, with *right* ones.
///
/// The right factors are `(W_j, Z_k)`, and with chi `(chi_k, W_j Z_k)`. Left of the last there is no 1: that product is
/// `W_j` times `Z_k` already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinSums {
    pub(crate) slots: usize,
    pub(crate) basis: usize,
    pub(crate) chi: bool,
}

impl BinSums {
    /// Places of the right factors.
    pub(crate) fn w(self, j: usize) -> usize {
        j
    }

    pub(crate) fn z(self, k: usize) -> usize {
        self.basis + k
    }

    pub(crate) fn chi(self, k: usize) -> usize {
        self.basis + self.slots + k
    }

    pub(crate) fn wz(self, j: usize, k: usize) -> usize {
        self.basis + (2 + j) * self.slots + k
    }

    /// How many right factors there are to the right of 1.
    pub(crate) fn right_of_one(self) -> usize {
        if self.chi { self.wz(0, 0) } else { self.chi(0) }
    }

    /// How many there are to the right of a `W_i`.
    pub(crate) fn right(self) -> usize {
        if self.chi { self.wz(self.basis, 0) } else { self.chi(0) }
    }

    /// Where the products of a left factor begin: 0 is 1, and `i` is `W_i`, counted from 1.
    pub(crate) fn row(self, left: usize) -> usize {
        if left == 0 { 0 } else { self.right_of_one() + (left - 1) * self.right() }
    }

    pub(crate) fn len(self) -> usize {
        self.row(self.basis + 1)
    }

    /// `(place here, place in a layout with more slots)` of every sum.
    pub(crate) fn widened(self, slots: usize) -> Vec<(usize, usize)> {
        let wide = BinSums { slots, ..self };
        let of_one = self.widened_right(slots, self.right_of_one());
        let mut places = of_one;
        for left in 1..=self.basis {
            let right = self.widened_right(slots, self.right());
            places.extend(right.into_iter().map(|(a, b)| (self.row(left) + a, wide.row(left) + b)));
        }
        places
    }

    /// The same for the right factors alone, up to a limit.
    pub(crate) fn widened_right(self, slots: usize, limit: usize) -> Vec<(usize, usize)> {
        let wide = BinSums { slots, ..self };
        let mut places: Vec<(usize, usize)> = (0..self.basis).map(|j| (self.w(j), wide.w(j))).collect();
        for k in 0..self.slots {
            places.push((self.z(k), wide.z(k)));
            places.push((self.chi(k), wide.chi(k)));
            places.extend((0..self.basis).map(|j| (self.wz(j, k), wide.wz(j, k))));
        }
        places.retain(|&(from, _)| from < limit);
        places
    }
}
