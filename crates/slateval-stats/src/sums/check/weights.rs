//! Counts, extremes and powers of each weight.

use crate::sums::check::policy::PolicyView;
use crate::sums::check::{Fault, Rounding, Section, Sound, Span, within};
use crate::sums::tally::WeightTally;

pub(super) fn check(view: &PolicyView<'_>) -> Sound {
    let rounding = Rounding::of(view.n as u64);
    for (m, weight) in view.tally.weights.iter().enumerate() {
        check_counts(weight, view.n)?;
        let (powers, sizes) = (view.powers[m], view.sizes[m]);
        let expect = |name: &str, value: f64, span: Span, size: f64| {
            within(Section::Weights, name, value, span.wider(rounding.of_sum(size)))
        };
        expect("the sum of |G|", weight.absolute, sizes[0], sizes[0].high)?;
        expect("the sum of G^3", weight.cubes, powers[2], sizes[2].high)?;
        expect("the sum of G^4", weight.fourths, powers[3], sizes[3].high)?;
        let of_bins = |q: usize| view.weights[m].iter().map(|sums| sums[q]).sum::<f64>();
        expect("the sum of G over all bins", of_bins(0), powers[0], view.rounded_to[0])?;
        expect("the sum of G^2 over all bins", of_bins(1), powers[1], view.rounded_to[1])?;
    }
    Ok(())
}

/// Every row is counted once, and the extremes lie in the outermost bins.
fn check_counts(weight: &WeightTally, n: f64) -> Sound {
    let wrong = |what: &str| Err(Fault::new(Section::Weights, what));
    let (Some(min), Some(max)) = (weight.min, weight.max) else {
        return wrong("the smallest or the largest is missing");
    };
    if !(min <= max && min.is_finite() && max.is_finite()) {
        return wrong("the smallest is larger than the largest");
    }
    if weight.counts.total() as f64 != n {
        return wrong("not every row is counted once");
    }
    if !weight.counts.have_ends(min, max) {
        return wrong("the smallest or the largest is not where weights are counted");
    }
    if !weight.counts.can_have_below_zero(weight.negative) {
        return wrong("the number of negative ones is not that of the counts");
    }
    Ok(())
}
