//! What checks found, in sentences.

use slateval_stats::{Enough, Finding, Functional, Lack, Remedy, RowShares};

use crate::lists::listed;
use crate::{InWords, Voice};

impl InWords for Finding {
    /// A sentence without its full stop.
    fn in_words(&self, voice: Voice) -> String {
        match self {
            Finding::RatiosAverageOne => "slot ratios and weights have mean 1, as they should".to_owned(),
            Finding::RatioMean { slot, mean, deviation, is_given } => ratio_mean(*slot, *mean, *deviation, *is_given),
            Finding::FewHits { slots, needed } => format!(
                "slot {}: fewer than {needed} rows where the target is likelier than logging: too few to tell whether the \
                 propensities are right",
                numbers(slots)
            ),
            Finding::NotShown { slot, share } => not_shown(*slot, *share),
            Finding::PropensitiesAreEstimated => {
                "logging propensities were estimated from the log and are taken as known: whatever else the logging \
                 policy looked at biases every number, and intervals leave out the estimate's own error"
                    .to_owned()
            }
            Finding::ChiAgrees => "chi agrees with the logged ratios".to_owned(),
            Finding::NegativeChi { times, was_wanted } => {
                format!("chi is below 0 {times} times, which no policy's is{}", unused(*was_wanted))
            }
            Finding::ChiUntested => {
                "too few rows where the target is likelier than logging to check the chi column".to_owned()
            }
            Finding::ChiDisagrees { slot, deviation, was_dropped } => format!(
                "chi of slot {slot} does not agree with the logged ratios ({} away): check that it is \
                 sum_a pi(a)^2/mu(a) - 1 of the same policies{}",
                standard_errors(*deviation),
                unused(*was_dropped)
            ),
            Finding::SlotsLookIndependent => "the logging policy's slots look independent".to_owned(),
            Finding::SlotsLookDependent { deviation, remedy: Remedy::Propensities, .. } => {
                format!("{}: check the propensities first", look_dependent(*deviation))
            }
            Finding::SlotsLookDependent { deviation, pool, .. } => dependent_slots(*deviation, *pool, voice),
            Finding::TakesSlotsForIndependent(structure) => format!(
                "{structure} takes the target's slots to be independent given the context, which no log can show: if they \
                 are not, {}",
                voice.joint_target_slots()
            ),
            Finding::WorthRows { rows, is_enough, remedy } => worth(*rows, *is_enough, *remedy),
            Finding::TailRows { alpha, rows, is_enough: true } => {
                format!("the {alpha} tail rests on {} effective rows", rounded(*rows))
            }
            Finding::TailRows { alpha, rows, is_enough: false } => {
                format!("the {alpha} tail rests on {} effective rows only: look at larger alphas", rounded(*rows))
            }
            Finding::WeightIsSpread => "no single row decides the result".to_owned(),
            Finding::WeightIsConcentrated(share) => format!("one row carries {:.0}% of all weight", 100.0 * share),
            Finding::NoWeight => "all weights are 0: the log says nothing about this target".to_owned(),
            Finding::RewardsAreSpread => "no single reward decides the mean or the variance".to_owned(),
            Finding::RewardsHaveHeavyTail { index, decides_mean, shares } => format!(
                "rewards have so heavy a tail that a few rows not yet seen may decide the {} (tail index {index:.1}; \
                 {}): look at quantiles, or cap the reward",
                if *decides_mean { "mean and the variance" } else { "variance" },
                row_shares(*shares)
            ),
            Finding::LargeReward(shares) => {
                format!("{}: a single reward weighs heavily in the mean and the variance", row_shares(*shares))
            }
            Finding::PaperOrderIsBiased(m) => format!(
                "the paper's m-slot weight is biased for 1 < m < K (here m = {m}): effects of fewer slots are counted \
                 several times over. Use order:{m}, which is not"
            ),
            Finding::Order(reason) => reason.in_words(voice),
            Finding::StructureStands(structure) => {
                format!("no effect shows in the log that structure {structure} leaves out")
            }
            Finding::StructureRefuted { why, spoils, remedy } => {
                let spoils: Vec<String> = spoils.iter().map(|what| format!("the {}", functional(*what))).collect();
                let advice = match remedy {
                    Remedy::Structure => "let the order be chosen from the data, or assume less",
                    Remedy::Propensities => "check the propensities first, which did not pass their check",
                };
                format!("{}, so that {} cannot be relied on: {advice}", why.in_words(voice), listed(&spoils))
            }
            Finding::Clusters { groups, of, enough } => clusters(*groups, *of, *enough),
            Finding::Guarantee { least, most, lacks } => guarantee((*least, *most), *lacks, voice),
            Finding::WeightNeverVaries => "the weight never varies".to_owned(),
            Finding::RatiosDependent => {
                "the slot ratios are linearly dependent in this log: a pseudo-inverse was used, which corrects for fewer \
                 of them"
                    .to_owned()
            }
            Finding::RatiosNeverVary(slots) => {
                format!(
                    "the ratio of slot {} never varies, which is normal where the target leaves a slot as it is: the \
                     correction does without it",
                    numbers(slots)
                )
            }
            Finding::WeightsSumToNothing { mean, correction } => format!(
                "the weights sum to {mean:.4} a row, where 1 is expected: correction {correction} is impossible, none was \
                 used, and the estimates mean nothing"
            ),
            Finding::VarianceOfOneRow => "one row has no variance".to_owned(),
            Finding::NoVariance(remedy) => {
                let why = match remedy {
                    Remedy::Structure => {
                        "the log has too few rows, or the square of the reward needs a structure of higher order than \
                         its mean"
                    }
                    Remedy::Propensities => "check the propensities first, which did not pass their check",
                };
                format!("the variance came out at or below 0 and is not given: {why}")
            }
            Finding::VarianceHasNoInterval(why) => format!("the variance has no interval: {}", why.in_words(voice)),
            Finding::CoarseBin { level, share } => format!(
                "the quantile at {level} lies in a bin of rewards that holds {:.0}% of the distribution, so quantiles, VaR \
                 and CVaR are coarse: {}",
                100.0 * share,
                voice.finer_bins()
            ),
            Finding::PartsSkipped { rows, share, files } => skipped(*rows, *share, *files),
        }
    }
}

fn ratio_mean(slot: Option<usize>, mean: f64, deviation: f64, is_given: bool) -> String {
    let what = slot.map_or("the weight".to_owned(), |slot| format!("the ratio pi/mu of slot {slot}"));
    let advice = if is_given {
        "check how the weights were made"
    } else {
        "the propensities are wrong, or the target shows what the logging policy never did; check the logging and target \
         columns, slot by slot"
    };
    format!("{what} has mean {mean:.4} instead of 1 ({} away): {advice}", standard_errors(deviation))
}

fn not_shown(slot: Option<usize>, share: f64) -> String {
    let slot = slot.map_or(String::new(), |slot| format!(" in slot {slot}"));
    format!(
        "the log has only {} of what the target shows{slot}, and hardly any row where the target is likelier than logging: \
         logging never or hardly ever showed the rest, which no structure or correction can make up for, or the \
         propensities are wrong",
        percent(share)
    )
}

fn dependent_slots(deviation: f64, pool: Option<usize>, voice: Voice) -> String {
    let found = look_dependent(deviation);
    let advice = voice.ranking(pool);
    match pool {
        Some(pool) => {
            format!("{found}: this looks like a log that shows no item twice, drawn from {pool}; if so, {advice}")
        }
        None => format!("{found}: if it shows no item twice, {advice}"),
    }
}

fn look_dependent(deviation: f64) -> String {
    format!("the logging policy's slots do not look independent ({})", standard_errors(deviation))
}

fn worth(rows: f64, is_enough: bool, remedy: Remedy) -> String {
    let rows = rounded(rows);
    if is_enough {
        return format!("the log is worth {rows} rows of the target's own");
    }
    let found = format!("the log is worth only {rows} rows of the target's own");
    match remedy {
        Remedy::Structure => {
            format!("{found}: collect more, compare a target closer to logging, or assume a simpler structure")
        }
        Remedy::Propensities => {
            format!("{found}: check the propensities first, collect more, or compare a target closer to logging")
        }
    }
}

fn clusters(groups: usize, of: usize, enough: Enough) -> String {
    let plural = if groups == 1 { "" } else { "s" };
    let found = format!("rows are clustered: clusters were put into {groups} of {of} group{plural}");
    match enough {
        Enough::Yes => format!("{found}, which intervals rest on"),
        Enough::Hardly => format!("{found}: intervals are too narrow with so few; collect more clusters"),
        Enough::No => format!("{found}, too few for intervals; collect more clusters"),
    }
}

fn guarantee((least, most): (f64, f64), lacks: Option<Lack>, voice: Voice) -> String {
    let range = format!("weights between {} and {}", short(least), short(most));
    match lacks {
        None => format!("the band is guaranteed, for {range}, if the structure is right"),
        Some(Lack::FixedOrder) => format!(
            "the band is not guaranteed: the order was chosen from the data ({range}); {}",
            voice.name_structure()
        ),
        Some(Lack::KnownBounds) => format!(
            "the band is not guaranteed: the bounds of the weights come from the log itself ({range}); with slot \
             propensities, {}",
            voice.min_propensity()
        ),
    }
}

fn skipped(rows: u64, share: f64, files: u64) -> String {
    let plural = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let left_out = match (rows, files) {
        (rows, 0) => plural(rows, "bad row"),
        (0, files) => plural(files, "unreadable file"),
        (rows, files) => format!("{} and {}", plural(rows, "bad row"), plural(files, "unreadable file")),
    };
    format!(
        "{left_out} skipped, {} of the rows that are known: if such rows have other rewards than the rest, every number is \
         biased; mend them where they are written",
        percent(share)
    )
}

/// A share with enough digits to tell a small one from none.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.001 { format!("{:.1e}%", 100.0 * share) } else { format!("{:.1}%", 100.0 * share) }
}

fn unused(is_unused: bool) -> &'static str {
    if is_unused { ": it was not used" } else { "" }
}

fn numbers(slots: &[usize]) -> String {
    slots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A deviation without any variation around it is beyond counting.
fn standard_errors(z: f64) -> String {
    if z < 1000.0 { format!("{z:.1} standard errors") } else { "over 1000 standard errors".to_owned() }
}

/// Eight digits.
fn short(x: f64) -> String {
    if x.abs() >= 1e6 {
        format!("{x:.3e}")
    } else {
        format!("{:.4}", x).trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

fn rounded(x: f64) -> String {
    if x >= 10.0 { format!("{x:.0}") } else { format!("{x:.1}") }
}

fn functional(functional: Functional) -> &'static str {
    match functional {
        Functional::Cdf => "CDF",
        Functional::Mean => "mean",
        Functional::Variance => "variance",
    }
}

fn row_shares(shares: RowShares) -> String {
    format!(
        "one row has {:.0}% of the weighted squares and {:.0}% of the weighted rewards",
        100.0 * shares.squares,
        100.0 * shares.rewards
    )
}
