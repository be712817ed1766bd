//! Bins of rewards, and powers of the reward summed over the log.

use crate::sums::cell::Cell;
use crate::sums::check::policy::PolicyView;
use crate::sums::check::{Fault, Rounding, Section, Sound, Span, count, within};
use crate::sums::index::{MomentSum, POWERS, Shared};

/// What the bins say of the rewards.
pub(super) struct RewardView<'a> {
    /// The sums of each bin, ascending.
    pub(super) bins: Vec<&'a [f64]>,
    /// Rows of each bin.
    pub(super) rows: Vec<f64>,
    /// For each power from 1 on and each bin, where that power of its rewards lies, seen from the origin.
    powers: Vec<Vec<Span>>,
    /// The largest size of a reward, seen from 0 or from the origin: sums may have been moved from the one to the other.
    pub(super) size: f64,
    pub(super) n: f64,
    pub(super) rounding: Rounding,
    /// The sum of the rewards, seen from the origin, by the bins.
    sum: f64,
}

impl<'a> RewardView<'a> {
    /// Refuses bins that contradict themselves or the range.
    pub(super) fn new(cell: &'a Cell) -> Result<Self, Fault> {
        let bins = cell.bins.ascending().into_iter().map(|(_, row)| cell.table.row(row));
        let bins: Vec<&[f64]> = bins.filter(|row| row[Shared::Rows.place()] > 0.0).collect();
        let (rounding, origin) = (Rounding::of(cell.rows), cell.origin);
        let mut range = Span { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let (mut rows, mut sum) = (Vec::with_capacity(bins.len()), 0.0);
        let mut powers = vec![Vec::new(); POWERS];
        for bin in &bins {
            count(Section::Bins, "the number of rows of a bin", bin[Shared::Rows.place()])?;
            let n = bin[Shared::Rows.place()];
            let own = Span { low: bin[Shared::Least.place()], high: -bin[Shared::MinusMost.place()] };
            let slack = rounding.of_sum(n * own.size());
            within(Section::Bins, "a bin's sum of rewards", bin[Shared::Reward.place()], own.times(n).wider(slack))?;
            range = Span { low: range.low.min(own.low), high: range.high.max(own.high) };
            rows.push(n);
            sum += bin[Shared::Reward.place()] - n * origin;
            let centred = Span { low: own.low - origin, high: own.high - origin };
            (1..).zip(&mut powers).for_each(|(power, spans)| spans.push(centred.power(power)));
        }
        if cell.bins.range() != Some((range.low, range.high)) {
            return Err(Fault::new(Section::Rewards, "their range is not that of the bins"));
        }
        let size = range.size().max((range.low - origin).abs()).max((range.high - origin).abs());
        Ok(RewardView { bins, rows, powers, size, n: cell.rows as f64, rounding, sum })
    }

    /// Where a power of each bin's rewards lies: its middle, and half of its width.
    pub(super) fn power(&self, power: usize) -> impl Iterator<Item = (f64, f64)> {
        self.powers[power - 1].iter().map(|span| (span.low / 2.0 + span.high / 2.0, span.high / 2.0 - span.low / 2.0))
    }

    pub(super) fn spans(&self, power: usize) -> &[Span] {
        &self.powers[power - 1]
    }

    /// What a sum of weights times a power of the reward may be off by, given the sum of the weights' sizes.
    pub(super) fn rounding_of(&self, power: usize, size_of_weights: f64) -> f64 {
        self.rounding.of_sum(size_of_weights * self.size.powi(power as i32))
    }

    /// Powers of the reward by themselves.
    pub(super) fn check_moments(&self, view: &PolicyView<'_>) -> Sound {
        for power in 1..=POWERS {
            let found = view.moments.get(MomentSum::Reward { power });
            let slack = self.rounding_of(power, self.n);
            let bins = self.rows.iter().zip(self.spans(power)).map(|(&n, span)| span.times(n));
            let span = bins.fold(Span::ZERO, Span::plus).wider(slack);
            within(Section::Moments, format_args!("the sum of R^{power}"), found, span)?;
        }
        let slack = self.rounding_of(1, 2.0 * self.n);
        let found = view.moments.get(MomentSum::Reward { power: 1 });
        within(Section::Moments, "the sum of R", found, Span::around(self.sum, slack))
    }
}
