//! EASE: a linear recommender in closed form (Steck, 2019), from who liked what.
//!
//! `G = X'X`, `P = (G + lambda I)^-1`, `B_ij = -P_ij / P_jj` and `B_ii = 0`; a user with likes `x` gets the scores `x B`.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::inverse::{Scalar, invert};
use crate::ratings_file::Rating;

/// Who liked what: users and items by index, with the ids they had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Likes {
    /// User ids, ascending.
    pub users: Vec<i64>,
    /// Item ids, ascending.
    pub items: Vec<i64>,
    /// What each user liked, ascending.
    pub of_user: Vec<Vec<u32>>,
}

impl Likes {
    /// Ratings of at least `threshold` are likes; users with fewer than `fewest` of them are left out, and with them the
    /// items that nobody else liked.
    ///
    /// # Errors
    /// [`Error::TooFewRatings`] if nobody is left.
    pub fn new(ratings: &[Rating], threshold: f32, fewest: usize) -> Result<Self> {
        let mut pairs: Vec<(i64, i64)> =
            ratings.iter().filter(|r| r.rating >= threshold).map(|r| (r.user, r.item)).collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        let kept: Vec<&[(i64, i64)]> = pairs.chunk_by(|a, b| a.0 == b.0).filter(|own| own.len() >= fewest).collect();
        if kept.is_empty() {
            return Err(Error::TooFewRatings(format!("no user has {fewest} ratings of {threshold} or more")));
        }
        let mut items: Vec<i64> = kept.iter().flat_map(|own| own.iter().map(|pair| pair.1)).collect();
        items.par_sort_unstable();
        items.dedup();
        // Every id is there.
        let place = |id: i64| items.partition_point(|&item| item < id) as u32;
        let of_user = kept.par_iter().map(|own| own.iter().map(|pair| place(pair.1)).collect()).collect();
        Ok(Likes { users: kept.iter().map(|own| own[0].0).collect(), of_user, items })
    }

    /// Number of likes.
    pub fn len(&self) -> usize {
        self.of_user.iter().map(Vec::len).sum()
    }

    /// Whether nobody likes anything.
    pub fn is_empty(&self) -> bool {
        self.of_user.is_empty()
    }

    /// Who liked each item, ascending.
    fn of_item(&self) -> Vec<Vec<u32>> {
        let mut of_item = vec![Vec::new(); self.items.len()];
        for (user, items) in self.of_user.iter().enumerate() {
            items.iter().for_each(|&item| of_item[item as usize].push(user as u32));
        }
        of_item
    }
}

/// A fitted model.
#[derive(Debug, Clone)]
pub struct Ease {
    items: usize,
    inverse: Inverse,
}

/// `P`, symmetric: both triangles are filled.
#[derive(Debug, Clone)]
enum Inverse {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// Most items for double precision: the matrix then takes 4.2 GB. Beyond, single precision halves that.
const DOUBLE: usize = 23_000;

impl Ease {
    /// Fits the model in the memory of one matrix of `items x items`; `progress` gets the share done, mostly of the
    /// inverse, whose cost grows with the third power of the number of items.
    ///
    /// # Errors
    /// [`Error::BadSetting`] if `lambda` is not positive, or the matrix does not fit into memory.
    pub fn fit(likes: &Likes, lambda: f64, progress: &(dyn Fn(f64) + Sync)) -> Result<Self> {
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::setting("lambda", lambda, "must be a positive number"));
        }
        let items = likes.items.len();
        let inverse = match items <= DOUBLE {
            true => Inverse::Double(inverse_of_gram(likes, lambda, progress)?),
            false => Inverse::Single(inverse_of_gram(likes, lambda, progress)?),
        };
        Ok(Ease { items, inverse })
    }

    /// The effect of liking item `i` on the score of item `j`.
    pub fn weight(&self, i: usize, j: usize) -> f64 {
        match &self.inverse {
            _ if i == j => 0.0,
            Inverse::Single(p) => weight(p, self.items, i, j),
            Inverse::Double(p) => weight(p, self.items, i, j),
        }
    }

    /// The score of every item for a user with these likes.
    pub fn scores(&self, likes: &[u32]) -> Vec<f64> {
        match &self.inverse {
            Inverse::Single(p) => scores(p, self.items, likes),
            Inverse::Double(p) => scores(p, self.items, likes),
        }
    }

    /// The items with the `n` highest scores and these scores, best first; of equals the first.
    pub fn best(&self, likes: &[u32], n: usize) -> Vec<(u32, f64)> {
        let scores = self.scores(likes);
        let mut order: Vec<u32> = (0..self.items as u32).collect();
        let by_score = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
        let n = n.min(self.items);
        if n < self.items && n > 0 {
            order.select_nth_unstable_by(n - 1, by_score);
        }
        order.truncate(n);
        order.sort_unstable_by(by_score);
        order.into_iter().map(|item| (item, scores[item as usize])).collect()
    }
}

fn weight<T: Scalar>(p: &[T], n: usize, i: usize, j: usize) -> f64 {
    let (off, own): (f64, f64) = (p[j * n + i].into(), p[j * n + j].into());
    -off / own
}

fn scores<T: Scalar>(p: &[T], n: usize, likes: &[u32]) -> Vec<f64> {
    let mut sums = vec![0.0; n];
    for &i in likes {
        let column = &p[i as usize * n..(i as usize + 1) * n];
        for (j, (sum, &value)) in sums.iter_mut().zip(column).enumerate() {
            *sum += if j == i as usize { 0.0 } else { value.into() };
        }
    }
    sums.iter().enumerate().map(|(j, sum)| -sum / p[j * n + j].into()).collect()
}

fn inverse_of_gram<T: Scalar>(likes: &Likes, lambda: f64, progress: &(dyn Fn(f64) + Sync)) -> Result<Vec<T>> {
    let n = likes.items.len();
    let mut matrix: Vec<T> = Vec::new();
    matrix.try_reserve_exact(n * n).map_err(|_| {
        let bytes = n as f64 * n as f64 * size_of::<T>() as f64 / 1e9;
        Error::setting("items", n, format!("the model needs {bytes:.1} GB of memory"))
    })?;
    matrix.resize(n * n, T::zero_impl());
    fill_gram(likes, lambda, &mut matrix);
    if !invert(&mut matrix, n, progress) {
        return Err(Error::setting("lambda", lambda, "is too small for these ratings; use a larger one"));
    }
    mirror(&mut matrix, n);
    Ok(matrix)
}

/// The lower triangle of `X'X + lambda I`: each column in turn, so that all of its sums stay in cache.
fn fill_gram<T: Scalar>(likes: &Likes, lambda: f64, matrix: &mut [T]) {
    let n = likes.items.len();
    let of_item = likes.of_item();
    matrix.par_chunks_mut(n).zip(&of_item).enumerate().for_each(|(j, (column, users))| {
        for &user in users {
            let items = &likes.of_user[user as usize];
            for &i in &items[items.partition_point(|&i| (i as usize) < j)..] {
                column[i as usize] += T::one_impl();
            }
        }
        column[j] += T::from_f64_impl(lambda);
    });
}

/// Copies the lower triangle to the upper one, a tile at a time.
fn mirror<T: Copy>(matrix: &mut [T], n: usize) {
    const TILE: usize = 64;
    for from in (0..n).step_by(TILE) {
        for to in (from..n).step_by(TILE) {
            for column in from..n.min(from + TILE) {
                for row in to.max(column + 1)..n.min(to + TILE) {
                    matrix[row * n + column] = matrix[column * n + row];
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn likes(users: u32, items: u32) -> Likes {
        let own = |user: u32| {
            let mut own: Vec<u32> = (0..9).map(|i| (user * 31 + i * i * 17 + user % 7 * i) % items).collect();
            own.sort_unstable();
            own.dedup();
            own
        };
        Likes {
            users: (0..i64::from(users)).collect(),
            items: (0..i64::from(items)).collect(),
            of_user: (0..users).map(own).collect(),
        }
    }

    #[test]
    fn single_precision_is_nearly_double() {
        let likes = likes(900, 300);
        let double: Vec<f64> = inverse_of_gram(&likes, 30.0, &|_| {}).unwrap();
        let single: Vec<f32> = inverse_of_gram(&likes, 30.0, &|_| {}).unwrap();
        let largest = double.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
        assert!(double.iter().zip(&single).all(|(d, s)| (d - f64::from(*s)).abs() < 1e-5 * largest));
    }

    #[test]
    fn threads_change_nothing() {
        let likes = likes(2000, 1100);
        let inverse = |threads: usize| -> Vec<f64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| inverse_of_gram(&likes, 30.0, &|_| {}).unwrap())
        };
        assert_eq!(inverse(1), inverse(3));
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        let likes = likes(3, 40);
        assert!(Ease::fit(&likes, 0.0, &|_| {}).is_err());
        assert!(Ease::fit(&likes, f64::NAN, &|_| {}).is_err());
    }
}
