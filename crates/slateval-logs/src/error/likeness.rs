//! What the values of a column look like that holds something else than it should.

use std::fmt;

/// What was written in place of propensities, or of numbers.
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
    /// Propensities of the target.
    TargetPropensities,
    /// Text.
    Text,
}

impl Likeness {
    /// Fewer values say nothing of the others.
    pub(crate) const ENOUGH: usize = 3;

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
            Likeness::Logarithms => "look like logarithms of propensities: give the propensities themselves, exp(x)",
            Likeness::Percentages => "look like percentages: divide them by 100",
            Likeness::Items => {
                "look like the numbers of items: give the propensity of the item shown, and not the item (in Python, \
                 slateval.propensities takes items and policies)"
            }
            Likeness::PercentagesOrItems => {
                "look like percentages or the numbers of items: divide percentages by 100; of an item shown, give its propensity"
            }
            Likeness::TargetPropensities => {
                "look like propensities of the target, and the target's are above 0: logging and target look exchanged. \
                 Give the propensities of the policy that wrote the log as logging"
            }
            Likeness::Text => "are not numbers",
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
