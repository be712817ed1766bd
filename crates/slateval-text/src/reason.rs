//! Why an interval is missing, or what stands against it, in clauses.

use slateval_stats::{Effects, Reason, TailMetric, Untested, WayOut};

use crate::{InWords, Voice};

impl InWords for Reason {
    /// A clause.
    fn in_words(&self, voice: Voice) -> String {
        match self {
            Reason::OneRow => "one row tells nothing of how rows vary".to_owned(),
            Reason::VarianceOfOneRow => "one row has no variance".to_owned(),
            Reason::FewClusters { groups, needed } => {
                format!("rows are in only {groups} groups of clusters, and {needed} are needed")
            }
            Reason::SwitchedOff => "intervals are switched off".to_owned(),
            Reason::EqualRewards => "all rewards are alike: nothing is known of how they vary".to_owned(),
            Reason::NotCorrected => "the weights could not be corrected".to_owned(),
            Reason::FewRows { rows, needed } => format!(
                "the log is worth only {rows:.1} rows of the target's own, and {needed} are needed for an interval"
            ),
            Reason::ThinTail { rows, needed } => {
                format!("the tail rests on {rows:.1} effective rows, and {needed} are needed for an interval")
            }
            Reason::CoarseBin { reward, share } => {
                let what = reward.map_or("it".to_owned(), |reward| reward.to_string());
                let (share, advice) = (100.0 * share, voice.log_bins());
                format!("{what} lies in a bin that holds {share:.0}% of the distribution: {advice}")
            }
            Reason::HeavyTail { of, index, needed } => format!(
                "rewards have so heavy a tail (index {index:.2}, and {needed:.2} is needed) that a few rows not yet seen \
                 may decide the {}",
                tail_metric(*of)
            ),
            Reason::NoVariance { structure } => {
                let with = structure.as_ref().map_or(String::new(), |s| format!(" with structure {s}"));
                format!("the variance came out at or below 0{with}")
            }
            Reason::GuaranteeOfOnePolicy => "a guaranteed band is of one policy".to_owned(),
            Reason::GuaranteeNeedsRewardBounds => "a guaranteed interval would need bounds of the reward".to_owned(),
            Reason::BandTooWide => "the band does not reach the level on one side or both".to_owned(),
            Reason::Untested { .. } => format!("it holds if {}", condition(self).unwrap_or_default()),
            Reason::Refuted { effects: shown } => {
                format!("the log contradicts this structure: {} show in it", effects(*shown))
            }
            Reason::CheckNotPassed { check, policy, in_whole_log } => {
                let place = if *in_whole_log { " in the whole log" } else { "" };
                // A name comes from the user's data: line feeds and escape sequences are shown, not obeyed.
                format!("the check `{check}` of `{}` did not pass{place}", policy.escape_debug())
            }
            Reason::Contradicted { order, effects, way_out } => contradiction(*order, *effects, *way_out, voice),
            Reason::NoEstimateOfOne => "one of the two has no estimate".to_owned(),
            Reason::NoIntervalOfOne => "one of the two has no interval".to_owned(),
            Reason::NotEvaluated => "the policy was not evaluated".to_owned(),
        }
    }
}

/// What has to be true for a conditional interval to hold, and why that is not known: what follows `holds if`. None for
/// other reasons.
pub fn condition(reason: &Reason) -> Option<String> {
    let Reason::Untested { order, why } = reason else { return None };
    let structure = match order {
        1 => "slots do not interact".to_owned(),
        _ => format!("no more than {order} slots interact"),
    };
    let why = match why {
        Untested::JointSlots => "for a target whose slots depend on each other, this cannot be tested".to_owned(),
        Untested::Thin { order, rows, needed } => {
            format!("this log is too thin to tell (worth {rows:.1} rows at order {order}, and {needed} are needed)")
        }
        Untested::NoTest => "this log is too thin to tell (effects of more slots could not be tested)".to_owned(),
    };
    Some(format!("{structure}: {why}"))
}

fn contradiction(order: usize, shown: Effects, way_out: WayOut, voice: Voice) -> String {
    let effects = effects(shown);
    match way_out {
        WayOut::None => {
            format!(
                "{effects} show in the log, which a target whose slots depend on each other cannot be corrected for"
            )
        }
        WayOut::Propensities => format!(
            "{effects} show in the log, but its propensities did not pass their check, which makes such effects show where \
             there are none: check them, and whether logging shows all that the target shows"
        ),
        WayOut::Product => {
            let advice = voice.product_structure();
            format!("{effects} show in the log: order {order} is likely wrong; {advice}, which assumes nothing")
        }
        WayOut::MoreRows { rows, needed } => format!(
            "{effects} show in the log, which is worth only {rows:.1} rows at that order ({needed} are needed): order \
             {order} is likely wrong"
        ),
    }
}

/// `effects of 3 slots`, or `effects of 3 or more slots`.
pub(crate) fn effects(Effects { slots, and_above }: Effects) -> String {
    format!("effects of {slots}{} slots", if and_above { " or more" } else { "" })
}

fn tail_metric(metric: TailMetric) -> &'static str {
    match metric {
        TailMetric::Mean => "mean",
        TailMetric::Variance => "variance",
        TailMetric::Tail => "tail",
    }
}
