//! What values that cannot be propensities look like.

use std::fmt;

/// What was written in place of propensities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// Logarithms of them.
    Logarithms,
    /// Percentages.
    Percentages,
    /// The numbers of items.
    Items,
    /// Percentages or the numbers of items: both are whole numbers up to 100.
    PercentagesOrItems,
}

impl Likeness {
    /// Fewer values say nothing of the others.
    const ENOUGH: usize = 3;

    /// What values look like that were refused as propensities.
    pub(crate) fn of(values: &[f64]) -> Option<Likeness> {
        let all = |fits: fn(f64) -> bool| values.iter().all(|&value| value.is_finite() && fits(value));
        let largest = values.iter().copied().fold(0.0, f64::max);
        let are_whole = all(|value| value.fract() == 0.0);
        if values.len() < Self::ENOUGH {
            None
        } else if all(|value| value <= 0.0) && !are_whole {
            Some(Likeness::Logarithms)
        } else if all(|value| value >= 0.0) && are_whole && largest > 1.0 {
            Some(if largest > 100.0 { Likeness::Items } else { Likeness::PercentagesOrItems })
        } else if all(|value| value > 1.0) && largest <= 100.0 {
            Some(Likeness::Percentages)
        } else {
            None
        }
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Likeness::Logarithms => "logarithms of propensities: give the propensities themselves, exp(x)",
            Likeness::Percentages => "percentages: divide them by 100",
            Likeness::Items => {
                "the numbers of items: give the propensity of the item shown, and not the item (in Python, \
                 slateval.propensities takes items and policies)"
            }
            Likeness::PercentagesOrItems => {
                "percentages or the numbers of items: divide percentages by 100; of an item shown, give its propensity"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_by_their_range() {
        assert_eq!(Likeness::of(&[-0.7, -1.4, 0.0]), Some(Likeness::Logarithms));
        assert_eq!(Likeness::of(&[12.5, 50.0, 2.0]), Some(Likeness::Percentages));
        assert_eq!(Likeness::of(&[0.0, 7.0, 1234.0]), Some(Likeness::Items));
        assert_eq!(Likeness::of(&[25.0, 50.0, 10.0]), Some(Likeness::PercentagesOrItems));
        for odd in [vec![-0.7, -1.4], vec![0.0; 5], vec![-1.0, -1.0, -1.0], vec![-0.5, 1.5, 3.0], vec![1.5, 2e7, 3.5]] {
            assert_eq!(Likeness::of(&odd), None, "{odd:?}");
        }
        assert_eq!(Likeness::of(&[f64::NEG_INFINITY, -0.5, -0.2]), None);
    }
}
