//! `Gamma = E[1_A 1_A']`: how often two items stand in two slots together.

/// `E[1_A 1_A']`, a symmetric matrix over cells; cell `k * items + a` is item `a` in slot `k`.
#[derive(Debug, Clone)]
pub struct Moments {
    pub(crate) size: usize,
    pub(crate) values: Vec<f64>,
}

impl Moments {
    pub(crate) fn zeros(size: usize) -> Self {
        Moments { size, values: vec![0.0; size * size] }
    }

    /// The moments of `slates`, `slots` items each, in proportion to `weight`.
    pub fn of_slates(slates: &[u32], slots: usize, items: usize, weight: impl Fn(usize) -> f64) -> Self {
        let mut moments = Moments::zeros(slots * items);
        for (at, slate) in slates.chunks_exact(slots).enumerate() {
            let p = weight(at);
            for (j, &a) in slate.iter().enumerate() {
                let row = (j * items + a as usize) * moments.size;
                slate.iter().enumerate().for_each(|(k, &b)| moments.values[row + k * items + b as usize] += p);
            }
        }
        moments
    }

    /// The probability that the items of the two cells are shown together.
    pub fn at(&self, one: usize, other: usize) -> f64 {
        self.values[one * self.size + other]
    }

    /// The probability of each cell.
    pub fn marginals(&self) -> Vec<f64> {
        (0..self.size).map(|cell| self.at(cell, cell)).collect()
    }

    /// These moments without a part of the slates they were made of.
    pub(crate) fn without(&self, part: &Moments) -> Moments {
        let values = self.values.iter().zip(&part.values).map(|(all, part)| all - part).collect();
        Moments { size: self.size, values }
    }
}

/// Slates that were drawn, all of one weight, in parts of equal size.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) slates: Vec<u32>,
    pub(crate) slots: usize,
    pub(crate) items: usize,
    pub(crate) parts: usize,
}

impl Drawn {
    /// The number of times that cells were seen together. Whole numbers: leaving out a part is exact.
    pub(crate) fn counts(&self) -> Moments {
        Moments::of_slates(&self.slates, self.slots, self.items, |_| 1.0)
    }

    pub(crate) fn part(&self, part: usize) -> Moments {
        let size = self.slates.len() / self.slots / self.parts * self.slots;
        Moments::of_slates(&self.slates[part * size..][..size], self.slots, self.items, |_| 1.0)
    }

    pub(crate) fn count(&self) -> f64 {
        (self.slates.len() / self.slots) as f64
    }
}
