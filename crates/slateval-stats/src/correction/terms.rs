//! The terms that every corrected weight is a linear function of.
//! See docs/methods.md, section 4.1.

use std::ops::{Index, IndexMut};

use crate::math::linear::dot;

/// A number of a row with weight `G` and slot ratios `Z_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeightTerm {
    /// `1`.
    One,
    /// `G`.
    G,
    /// `G^2`.
    GG,
    /// `Z_k`.
    Z(usize),
    /// `G Z_k`.
    GZ(usize),
}

/// A number for each term: sums of `T Y` over rows for some `Y` (the indicator of a bin, `R`, `R^2` or 1), or the
/// coefficients of a linear function of the terms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightTerms {
    slots: usize,
    values: Vec<f64>,
}

impl WeightTerms {
    pub(crate) fn zero(slots: usize) -> Self {
        WeightTerms { slots, values: vec![0.0; 3 + 2 * slots] }
    }

    fn place(&self, term: WeightTerm) -> usize {
        match term {
            WeightTerm::One => 0,
            WeightTerm::G => 1,
            WeightTerm::GG => 2,
            WeightTerm::Z(k) => 3 + k,
            WeightTerm::GZ(k) => 3 + self.slots + k,
        }
    }

    /// Each term with its number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (WeightTerm, f64)> {
        let slots = 0..self.slots;
        let terms = [WeightTerm::One, WeightTerm::G, WeightTerm::GG].into_iter();
        let terms = terms.chain(slots.clone().map(WeightTerm::Z)).chain(slots.map(WeightTerm::GZ));
        terms.zip(self.values.iter().copied())
    }

    /// The linear function with these coefficients, given the terms' values.
    pub(crate) fn apply(&self, terms: &WeightTerms) -> f64 {
        dot(&self.values, &terms.values)
    }

    pub(crate) fn divide_by(&mut self, divisor: f64) {
        self.values.iter_mut().for_each(|value| *value /= divisor);
    }

    /// `sum_i c_i T_i` of several terms of equal length.
    pub(crate) fn combined<const N: usize>(c: [f64; N], parts: [&WeightTerms; N]) -> Self {
        let value = |place: usize| c.iter().zip(parts).map(|(c, part)| c * part.values[place]).sum();
        WeightTerms { slots: parts[0].slots, values: (0..parts[0].values.len()).map(value).collect() }
    }
}

impl Index<WeightTerm> for WeightTerms {
    type Output = f64;

    fn index(&self, term: WeightTerm) -> &f64 {
        &self.values[self.place(term)]
    }
}

impl IndexMut<WeightTerm> for WeightTerms {
    fn index_mut(&mut self, term: WeightTerm) -> &mut f64 {
        let place = self.place(term);
        &mut self.values[place]
    }
}
