//! Sets of items, numbered: the set `{c_0 < c_1 < …}` has the number `sum_i C(c_i, i + 1)` among those of its size.

/// Binomial coefficients `C(n, k)` for `n` up to some number of items and `k` up to some size.
#[derive(Debug)]
pub(crate) struct Binomials {
    values: Vec<usize>,
    width: usize,
}

impl Binomials {
    /// Those for `n <= items` and `k <= size`. The largest must fit a `usize`: see [`largest_level`].
    pub(crate) fn new(items: usize, size: usize) -> Self {
        let width = size + 1;
        let mut values = vec![0usize; (items + 1) * width];
        for n in 0..=items {
            values[n * width] = 1;
            for k in 1..=size.min(n) {
                values[n * width + k] = values[(n - 1) * width + k - 1].saturating_add(values[(n - 1) * width + k]);
            }
        }
        Binomials { values, width }
    }

    pub(crate) fn choose(&self, n: usize, k: usize) -> usize {
        self.values[n * self.width + k]
    }

    /// For each member of `set`, the number of the set without that member.
    pub(crate) fn without_each(&self, set: &[usize], numbers: &mut [usize]) {
        // Members after the one left out move down by one place.
        let mut after: usize = set.iter().enumerate().skip(1).map(|(i, &c)| self.choose(c, i)).sum();
        let mut before = 0;
        for (i, &member) in set.iter().enumerate() {
            numbers[i] = before + after;
            before += self.choose(member, i + 1);
            if let Some(&next) = set.get(i + 1) {
                after -= self.choose(next, i + 1);
            }
        }
    }
}

/// Turns `set` into the one with the next number; the last one of `items` items into anything.
pub(crate) fn advance(set: &mut [usize]) {
    for i in 0..set.len() {
        if set.get(i + 1).is_none_or(|&next| set[i] + 1 < next) {
            set[i] += 1;
            set[..i].iter_mut().enumerate().for_each(|(place, member)| *member = place);
            return;
        }
    }
}

/// How many sets the largest level of a walk has that fills all slots but the last.
pub(crate) fn largest_level(items: usize, slots: usize) -> f64 {
    let mut level = 1.0f64;
    let mut largest = 1.0f64;
    for size in 1..slots {
        level *= (items + 1 - size) as f64 / size as f64;
        largest = largest.max(level);
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_come_in_the_order_of_their_numbers() {
        let binomials = Binomials::new(6, 3);
        let mut set = vec![0, 1, 2];
        for number in 0..binomials.choose(6, 3) {
            let own: usize = set.iter().enumerate().map(|(i, &c)| binomials.choose(c, i + 1)).sum();
            assert_eq!(own, number);
            let mut numbers = [0; 3];
            binomials.without_each(&set, &mut numbers);
            for (i, &found) in numbers.iter().enumerate() {
                let rest = set.iter().enumerate().filter(|&(at, _)| at != i);
                let expected: usize = rest.enumerate().map(|(at, (_, &c))| binomials.choose(c, at + 1)).sum();
                assert_eq!(found, expected, "{set:?} without its member {i}");
            }
            advance(&mut set);
        }
        assert_eq!(largest_level(20, 5), 4845.0);
        assert_eq!(largest_level(7, 7), 35.0);
        assert_eq!(largest_level(9, 1), 1.0);
    }
}
