//! Whether the log is worth enough rows, and whether few rows, clusters or bins decide the numbers.
//! See docs/methods.md, sections 8.5, 8.6, 8.7, 8.8, 8.12 and 8.16.

use crate::distribution::curve::Distribution;
use crate::distribution::estimator::Estimator;
use crate::distribution::reward_tail::RewardTail;
use crate::influence::design::ROWS_NEEDED;
use crate::interval::limits::{COARSE, FEW_GROUPS, FINE, TAIL_ROWS};
use crate::result::check::{Check, Status};
use crate::result::diagnostics::Diagnostics;
use crate::result::finding::{Enough, Finding, Remedy, RowShares};
use crate::result::skipped::Skipped;
use crate::spec::settings::Settings;

/// Effective rows below which a tail is looked at with care.
const ENOUGH_TAIL_ROWS: f64 = 30.0;

/// Groups of clusters below which intervals are too narrow.
const ENOUGH_GROUPS: usize = 50;

/// Shares of the weight in one row above which a check warns, and above which it fails.
const LARGE_SHARE: f64 = 0.05;
const DECISIVE_SHARE: f64 = 0.2;

pub(crate) fn effective_sample(design_ess: Option<f64>, remedy: Remedy) -> Check {
    let rows = design_ess.unwrap_or(0.0);
    let status = Status::below(rows, Diagnostics::ENOUGH_ROWS, ROWS_NEEDED);
    Check::new(status, design_ess, Finding::WorthRows { rows, is_enough: status == Status::Ok, remedy })
}

/// Whether the smallest of the tails rests on enough rows.
pub(crate) fn tail(effective: f64, alphas: &[f64]) -> Option<Check> {
    let alpha = alphas.iter().copied().reduce(f64::min)?;
    let rows = alpha * effective;
    let status = Status::below(rows, ENOUGH_TAIL_ROWS, TAIL_ROWS);
    Some(Check::new(status, Some(rows), Finding::TailRows { alpha, rows, is_enough: status == Status::Ok }))
}

pub(crate) fn concentration(max_share: Option<f64>) -> Check {
    let status = Status::above(max_share.unwrap_or(1.0), LARGE_SHARE, DECISIVE_SHARE);
    let finding = match (status, max_share) {
        (Status::Ok, _) => Finding::WeightIsSpread,
        (_, None) => Finding::NoWeight,
        (_, Some(share)) => Finding::WeightIsConcentrated(share),
    };
    Check::new(status, max_share, finding)
}

/// Whether rewards far out leave anything to be said of the mean and the variance.
pub(crate) fn rewards(estimator: &Estimator<'_>) -> Check {
    let tail = estimator.reward_tail();
    let shares = RowShares { squares: tail.largest_square, rewards: tail.largest_product };
    let heavy = |decides_mean: bool| Finding::RewardsHaveHeavyTail { index: tail.index, decides_mean, shares };
    let (status, finding) = if tail.index < RewardTail::FOR_MEAN {
        (Status::Fail, heavy(true))
    } else if tail.weighted_index < RewardTail::needed_for_variance(estimator.sums.n) {
        (Status::Warn, heavy(false))
    } else if tail.largest_square > RewardTail::LARGE_SHARE {
        (Status::Warn, Finding::LargeReward(shares))
    } else {
        (Status::Ok, Finding::RewardsAreSpread)
    };
    Check::new(status, Some(tail.weighted_index), finding)
}

/// Few groups say little about how much groups vary.
pub(crate) fn clusters(groups: usize, of: usize) -> Check {
    let (status, enough) = if groups < FEW_GROUPS {
        (Status::Fail, Enough::No)
    } else if groups < ENOUGH_GROUPS {
        (Status::Warn, Enough::Hardly)
    } else {
        (Status::Ok, Enough::Yes)
    };
    Check::new(status, Some(groups as f64), Finding::Clusters { groups, of, enough })
}

/// Shares of rows left out above which a check warns, and above which it fails.
const SKIPPED_SHARE: f64 = 0.001;
const BIASING_SHARE: f64 = 0.05;

/// Whether what was left out of a log of so many rows and files may bias the rest; none if nothing was.
///
/// How many rows an unreadable file has is not always known, so that one such file is reason enough to warn, and many are
/// reason enough to fail.
pub(crate) fn skipped(skipped: &[Skipped], rows: u64, files: usize) -> Option<Check> {
    let left_out: u64 = skipped.iter().map(|part| part.rows).sum();
    let bad_files: u64 = skipped.iter().map(|part| part.files).sum();
    if left_out + bad_files == 0 {
        return None;
    }
    let share_of = |part: u64, rest: u64| part as f64 / (part as f64 + rest as f64).max(1.0);
    let share = share_of(left_out, rows);
    let by_files = if bad_files == 0 { 0.0 } else { share_of(bad_files, files as u64).max(2.0 * SKIPPED_SHARE) };
    let status = Status::above(share.max(by_files), SKIPPED_SHARE, BIASING_SHARE);
    Some(Check::new(status, Some(share), Finding::PartsSkipped { rows: left_out, share, files: bad_files }))
}

/// Quantiles and tails are read inside a bin; one that holds much of the distribution has little to say about them.
pub(crate) fn coarse_bins(distribution: &Distribution, settings: &Settings) -> Option<Check> {
    let levels =
        settings.quantiles.iter().copied().chain(settings.alphas.iter().map(|&alpha| settings.tail.level(alpha)));
    let blurs = levels.map(|level| (distribution.curve().blur(level), level));
    let (share, level) = blurs.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let status = Status::above(share, FINE, COARSE);
    (status != Status::Ok).then(|| Check::new(status, Some(share), Finding::CoarseBin { level, share }))
}
