//! What is summed of each row: the layout of a policy's sums, over the whole log and in each bin.
//!
//! A weight is a sum of *basis* functions, `G = sum_j c_j W_j`. A fixed structure has one, its own weight. Keeping sums
//! of the basis rather than of `G` leaves the choice of the `c_j` open until the log has been read.

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

/// The sums kept of one policy in each bin, by place.
///
/// `W_j`, `W_i W_j` and `W_j Z_k`, and with chi `Z_k`, `W_j chi_k` and `W_i W_j Z_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinSums {
    pub(crate) slots: usize,
    pub(crate) basis: usize,
    pub(crate) chi: bool,
}

impl BinSums {
    fn pairs(self) -> usize {
        self.basis * (self.basis + 1) / 2
    }

    fn pair(self, i: usize, j: usize) -> usize {
        let (i, j) = (i.min(j), i.max(j));
        j * (j + 1) / 2 + i
    }

    pub(crate) fn w(self, j: usize) -> usize {
        j
    }

    pub(crate) fn ww(self, i: usize, j: usize) -> usize {
        self.basis + self.pair(i, j)
    }

    pub(crate) fn wz(self, j: usize, k: usize) -> usize {
        self.basis + self.pairs() + j * self.slots + k
    }

    pub(crate) fn z(self, k: usize) -> usize {
        self.wz(self.basis, k)
    }

    pub(crate) fn wchi(self, j: usize, k: usize) -> usize {
        self.z(self.slots) + j * self.slots + k
    }

    pub(crate) fn wwz(self, i: usize, j: usize, k: usize) -> usize {
        self.wchi(self.basis, 0) + self.pair(i, j) * self.slots + k
    }

    pub(crate) fn len(self) -> usize {
        if self.chi { self.wwz(0, self.basis, 0) } else { self.wz(self.basis, 0) }
    }

    /// `(place here, place in a layout with more slots)` of every sum.
    pub(crate) fn widened(self, slots: usize) -> Vec<(usize, usize)> {
        let wide = BinSums { slots, ..self };
        let mut places: Vec<(usize, usize)> = (0..self.basis + self.pairs()).map(|p| (p, p)).collect();
        for k in 0..self.slots {
            places.extend((0..self.basis).map(|j| (self.wz(j, k), wide.wz(j, k))));
            if self.chi {
                places.push((self.z(k), wide.z(k)));
                for j in 0..self.basis {
                    places.push((self.wchi(j, k), wide.wchi(j, k)));
                    places.extend((0..=j).map(|i| (self.wwz(i, j, k), wide.wwz(i, j, k))));
                }
            }
        }
        places
    }
}
