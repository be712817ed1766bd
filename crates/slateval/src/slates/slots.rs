//! Numbers for each slot of each slate, as callers have them.

use slateval_stats::{Error, Result};

/// A number for each slot of each slate: how [`Slates`](crate::Slates) takes propensities.
///
/// | data | how it is read |
/// |---|---|
/// | `&[f64]`, `&Vec<f64>`, `&[f64; N]` | slate after slate; every slate has the same number of slots |
/// | `&[[f64; K]]`, `&Vec<[f64; K]>`, `&[[f64; K]; N]` | an array for each slate |
/// | `&[Vec<f64>]`, `&Vec<Vec<f64>>` | a vector for each slate, with the slots it has |
/// | [`Slots::columns`] | a slice for each slot |
///
/// ```
/// use slateval::{Slates, Slots};
///
/// let reward = [1.0, 0.0, 1.0];
/// let of = |mu: Slots<'_>, pi: Slots<'_>| Slates::new(&reward).logging(mu).target("new", pi).summary();
///
/// // Two slots: the same slates in every layout.
/// let flat = of((&[0.5, 0.2, 0.5, 0.3, 0.5, 0.4]).into(), (&[0.9, 0.2, 0.1, 0.3, 0.9, 0.4]).into())?;
/// let rows = of((&[[0.5, 0.2], [0.5, 0.3], [0.5, 0.4]]).into(), (&[[0.9, 0.2], [0.1, 0.3], [0.9, 0.4]]).into())?;
/// let (first, second) = ([0.5, 0.5, 0.5], [0.2, 0.3, 0.4]);
/// let columns = of(Slots::columns([&first, &second]), Slots::columns([&[0.9, 0.1, 0.9], &second]))?;
/// assert_eq!(flat.to_bytes(), rows.to_bytes());
/// assert_eq!(flat.to_bytes(), columns.to_bytes());
///
/// // The second slate has one slot only.
/// let (mu, pi) = (vec![vec![0.5, 0.2], vec![0.5], vec![0.5, 0.4]], vec![vec![0.9, 0.2], vec![0.1], vec![0.9, 0.4]]);
/// let ragged = of((&mu).into(), (&pi).into())?;
/// let flat = of((&[0.5, 0.2, 0.5, f64::NAN, 0.5, 0.4]).into(), (&[0.9, 0.2, 0.1, f64::NAN, 0.9, 0.4]).into())?;
/// assert_eq!(ragged.to_bytes(), flat.to_bytes());
/// # Ok::<(), slateval::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Slots<'a>(Layout<'a>);

#[derive(Debug, Clone)]
enum Layout<'a> {
    /// Slate after slate.
    Flat(&'a [f64]),
    /// Slate after slate, their numbers known.
    Arrays { values: &'a [f64], rows: usize, slots: usize },
    /// Each slate with the slots it has.
    Ragged(&'a [Vec<f64>]),
    /// Slot after slot.
    Columns(Vec<&'a [f64]>),
}

impl<'a> Slots<'a> {
    /// A slice for each slot, with a number for each slate.
    pub fn columns<C: AsRef<[f64]> + ?Sized + 'a>(columns: impl IntoIterator<Item = &'a C>) -> Self {
        Slots(Layout::Columns(columns.into_iter().map(AsRef::as_ref).collect()))
    }

    fn arrays<const K: usize>(values: &'a [[f64; K]]) -> Self {
        Slots(Layout::Arrays { values: values.as_flattened(), rows: values.len(), slots: K })
    }

    /// The number of slots, if there is a number for each slot of `rows` slates. Messages call the data `what`.
    pub(crate) fn count(&self, rows: usize, what: &str) -> Result<usize> {
        let bad = |why: String| Err(Error::BadShape { what: what.into(), why });
        let same = |found: usize, slots: usize| match found == rows {
            true => Ok(slots),
            false => bad(format!("given for {found} slates, but there are {rows} rewards")),
        };
        match &self.0 {
            Layout::Flat([]) => Ok(0),
            Layout::Flat(values) if rows == 0 => bad(format!("there are {} numbers, but no rewards", values.len())),
            Layout::Flat(values) if values.len() % rows != 0 => {
                let count = values.len();
                bad(format!("there are {count} numbers and {rows} rewards, but {count} is not a multiple of {rows}"))
            }
            Layout::Flat(values) => Ok(values.len() / rows),
            Layout::Arrays { rows, slots, .. } => same(*rows, *slots),
            Layout::Ragged(slates) => same(slates.len(), slates.iter().map(Vec::len).max().unwrap_or(0)),
            Layout::Columns(columns) => match columns.iter().position(|column| column.len() != rows) {
                None => Ok(columns.len()),
                Some(slot) => {
                    let (slot, found) = (slot + 1, columns[slot].len());
                    bad(format!("slot {slot} has {found} numbers, but there are {rows} rewards"))
                }
            },
        }
    }

    /// Whether slates say themselves how many slots they have.
    pub(crate) fn is_ragged(&self) -> bool {
        matches!(self.0, Layout::Ragged(_))
    }

    /// Copies one slot of the slates from `start` on; NaN where a slate does not have it.
    pub(crate) fn copy(&self, slot: usize, slots: usize, start: usize, out: &mut [f64]) {
        match &self.0 {
            Layout::Flat(values) | Layout::Arrays { values, .. } => {
                let slates = values[start * slots..].chunks_exact(slots);
                out.iter_mut().zip(slates).for_each(|(out, slate)| *out = slate[slot]);
            }
            Layout::Ragged(slates) => {
                let slates = slates[start..].iter();
                out.iter_mut().zip(slates).for_each(|(out, slate)| *out = slate.get(slot).copied().unwrap_or(f64::NAN));
            }
            Layout::Columns(columns) => out.copy_from_slice(&columns[slot][start..][..out.len()]),
        }
    }
}

impl<'a> From<&'a [f64]> for Slots<'a> {
    fn from(values: &'a [f64]) -> Self {
        Slots(Layout::Flat(values))
    }
}

impl<'a> From<&'a Vec<f64>> for Slots<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Slots(Layout::Flat(values))
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Slots<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Slots(Layout::Flat(values))
    }
}

impl<'a, const K: usize> From<&'a [[f64; K]]> for Slots<'a> {
    fn from(values: &'a [[f64; K]]) -> Self {
        Slots::arrays(values)
    }
}

impl<'a, const K: usize> From<&'a Vec<[f64; K]>> for Slots<'a> {
    fn from(values: &'a Vec<[f64; K]>) -> Self {
        Slots::arrays(values)
    }
}

impl<'a, const K: usize, const N: usize> From<&'a [[f64; K]; N]> for Slots<'a> {
    fn from(values: &'a [[f64; K]; N]) -> Self {
        Slots::arrays(values)
    }
}

impl<'a> From<&'a [Vec<f64>]> for Slots<'a> {
    fn from(slates: &'a [Vec<f64>]) -> Self {
        Slots(Layout::Ragged(slates))
    }
}

impl<'a> From<&'a Vec<Vec<f64>>> for Slots<'a> {
    fn from(slates: &'a Vec<Vec<f64>>) -> Self {
        Slots(Layout::Ragged(slates))
    }
}
