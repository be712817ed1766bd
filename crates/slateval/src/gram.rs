//! Sums of products of columns: `sum_i x_i x_i'` over the rows of a log, a block at a time.

/// A symmetric matrix of sums, one row and column per feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gram {
    size: usize,
    /// Row-major; only the upper triangle is kept.
    sums: Vec<f64>,
}

/// Rows worked on at a time, and columns per pass over them: as many sums as fit the registers of a baseline x86-64.
const LANES: usize = 4;
const WIDTH: usize = 4;

impl Gram {
    pub(crate) fn new(size: usize) -> Self {
        Gram { size, sums: vec![0.0; size * size] }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn get(&self, a: usize, b: usize) -> f64 {
        self.sums[a.min(b) * self.size + a.max(b)]
    }

    fn at(&mut self, a: usize, b: usize) -> &mut f64 {
        &mut self.sums[a.min(b) * self.size + a.max(b)]
    }

    /// Adds the products of every two columns. Costs one multiplication and one addition per row and pair.
    pub(crate) fn add(&mut self, columns: &[Vec<f64>]) {
        for (a, left) in columns.iter().enumerate() {
            let mut b = a;
            while b + WIDTH <= columns.len() {
                let rights: [&[f64]; WIDTH] = std::array::from_fn(|w| columns[b + w].as_slice());
                for (w, sum) in dot_many(left, rights).into_iter().enumerate() {
                    *self.at(a, b + w) += sum;
                }
                b += WIDTH;
            }
            for (b, right) in columns.iter().enumerate().skip(b) {
                *self.at(a, b) += dot_many(left, [right.as_slice()])[0];
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Gram) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }

    /// The sums of `L x` from those of `x`: row `p` of `L` lists the features that make up feature `p` of the result.
    pub(crate) fn transform(&self, rows: &[Vec<(usize, f64)>]) -> Gram {
        let mut out = Gram::new(rows.len());
        for (p, left) in rows.iter().enumerate() {
            for (q, right) in rows.iter().enumerate().skip(p) {
                let products = left.iter().flat_map(|&(a, x)| right.iter().map(move |&(b, y)| (a, b, x * y)));
                *out.at(p, q) = products.map(|(a, b, c)| c * self.get(a, b)).sum();
            }
        }
        out
    }

    /// The upper triangle, row by row.
    pub(crate) fn to_packed(&self) -> Vec<f64> {
        (0..self.size).flat_map(|p| (p..self.size).map(move |q| self.get(p, q))).collect()
    }

    /// The inverse of [`to_packed`](Gram::to_packed); `None` if there are too few or too many sums.
    pub(crate) fn from_packed(size: usize, packed: &[f64]) -> Option<Gram> {
        let mut gram = Gram::new(size);
        let mut values = packed.iter();
        for p in 0..size {
            for q in p..size {
                *gram.at(p, q) = *values.next()?;
            }
        }
        values.next().is_none().then_some(gram)
    }
}

/// The products of one column with several, each summed in [`LANES`] interleaved parts: the order of additions, and so
/// the last bit, does not depend on the processor.
fn dot_many<const W: usize>(left: &[f64], rights: [&[f64]; W]) -> [f64; W] {
    let (left, left_rest) = left.as_chunks::<LANES>();
    let rights = rights.map(|right| right.as_chunks::<LANES>());
    let wholes = rights.map(|(whole, _)| &whole[..left.len()]);
    let mut sums = [[0.0; LANES]; W];
    for (i, l) in left.iter().enumerate() {
        for w in 0..W {
            for lane in 0..LANES {
                sums[w][lane] += l[lane] * wholes[w][i][lane];
            }
        }
    }
    std::array::from_fn(|w| {
        let rest: f64 = left_rest.iter().zip(rights[w].1).map(|(l, r)| l * r).sum();
        (sums[w][0] + sums[w][1]) + (sums[w][2] + sums[w][3]) + rest
    })
}
