//! How far an interval can be relied on, and how its brackets say so.

use slateval_stats::{Cdf, Interval, PolicyEvaluation};

/// Whether an interval holds as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Stands,
    /// It holds if a structure does that the log is too thin to test.
    Conditional,
    /// The log contradicts the structure that it rests on, or a check leaves nothing to be relied on.
    Refuted,
}

/// The two ends of a band, one of each for every reward.
pub type BandEnds<'c> = (&'c [Option<f64>], &'c [Option<f64>]);

impl Standing {
    fn new(conditional: bool, refuted: bool) -> Self {
        match (refuted, conditional) {
            (true, _) => Standing::Refuted,
            (_, true) => Standing::Conditional,
            _ => Standing::Stands,
        }
    }

    /// The standing of an interval.
    pub fn of(interval: &Interval) -> Self {
        Standing::new(interval.conditional, interval.refuted.is_some())
    }

    /// The standing of a CDF's band.
    pub fn of_band(cdf: &Cdf) -> Self {
        Standing::new(cdf.conditional, cdf.refuted.is_some())
    }

    /// What stands before the ends, and what after them.
    pub fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Standing::Stands => ("[", "]"),
            Standing::Conditional => ("(", ")?"),
            Standing::Refuted => ("[", "]!"),
        }
    }

    /// The same around one number.
    pub fn marked(self, number: &str) -> String {
        match self {
            Standing::Stands => number.to_owned(),
            Standing::Conditional => format!("({number})?"),
            Standing::Refuted => format!("{number}!"),
        }
    }

    /// For style sheets, with a space before it; nothing where there is nothing to be said.
    pub fn class(self) -> &'static str {
        match self {
            Standing::Stands => "",
            Standing::Conditional => " conditional",
            Standing::Refuted => " refuted",
        }
    }
}

/// The ends to show. A conditional interval has only those that hold under its condition.
pub fn ends(interval: &Interval) -> (Option<f64>, Option<f64>) {
    match interval.if_order_holds {
        Some(bounds) if interval.conditional => (bounds.lower, bounds.upper),
        _ => (interval.lower, interval.upper),
    }
}

/// Whether there is an interval to show, or at least an end of one.
pub fn is_bounded(interval: &Interval) -> bool {
    let (lower, upper) = ends(interval);
    interval.estimate.is_some() && (lower.is_some() || upper.is_some())
}

/// The ends of a CDF's band to show.
pub fn band_ends(cdf: &Cdf) -> BandEnds<'_> {
    match &cdf.if_order_holds {
        Some(band) if cdf.conditional => (&band.lower, &band.upper),
        _ => (&cdf.lower, &cdf.upper),
    }
}

/// Whether a policy's CDF has a band to show. Not all bands have one half width.
pub fn has_band(policy: &PolicyEvaluation) -> bool {
    let (lower, upper) = band_ends(&policy.cdf);
    lower.iter().chain(upper).any(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slateval_stats::{Bounds, CheckName, Refutation};

    #[test]
    fn conditional_intervals_show_the_ends_of_their_condition() {
        let bounds = Bounds { lower: Some(0.4), upper: Some(0.6) };
        let known = Interval { estimate: Some(0.5), if_order_holds: Some(bounds), ..Interval::default() };
        assert!(!is_bounded(&known), "without a condition nothing may be shown: {known:?}");
        let conditional = Interval { conditional: true, ..known };
        assert_eq!((ends(&conditional), is_bounded(&conditional)), ((Some(0.4), Some(0.6)), true));
        assert_eq!(Standing::of(&conditional), Standing::Conditional);
        let refuted = Some(Refutation::Check(CheckName::Propensities));
        let wide = Interval { lower: Some(0.0), upper: Some(1.0), conditional: false, refuted, ..conditional };
        assert_eq!((ends(&wide), Standing::of(&wide)), ((Some(0.0), Some(1.0)), Standing::Refuted));
    }
}
