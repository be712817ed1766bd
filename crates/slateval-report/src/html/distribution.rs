//! The CDFs, and how quantiles differ.

use slateval::{Band, Interval, LOGGING, PolicyEvaluation, Reason};

use slateval_text::intervals::{mark, marks};

use super::Page;
use super::headline::no_bernstein;
use super::picture::figure;
use super::tables::{Head, Table, key, policy_head};
use crate::Voice;
use crate::chart::{CdfChart, Curve, Difference, LevelChart, Series, reward_range};
use crate::markup::{Markup, html};
use crate::number::{fixed, percent};
use crate::standing::{Standing, has_band, is_bounded};
use crate::text::name;

/// Points of a line in a picture as wide as a page.
const POINTS: usize = 300;

pub(crate) fn cdf(m: &mut Markup, page: &Page<'_>) {
    let policies = &page.evaluation.policies;
    let range = reward_range(policies);
    html!(
        m,
        "<p>Each line tells what share of slates has at most a given reward. A line further to the right, and so lower, \
         means higher rewards.</p>"
    );
    // Lines with their colours; a script makes them switches.
    html!(m, r#"<ul class="legend" aria-label="Policies in the charts">"#);
    for (i, policy) in policies.iter().enumerate() {
        html!(m, r#"<li data-policy="{}">"#, i);
        key(m, i);
        html!(m, r#"<span class="name">{}</span></li>"#, name(&policy.name));
    }
    html!(m, "</ul>");
    let names: Vec<String> = policies.iter().map(|p| name(&p.name)).collect();
    let desc = format!(
        "Distribution functions of {} over rewards from {} to {}, with bands. The tables give the numbers.",
        names.join(", "),
        fixed(range.0, page.writer.decimals),
        fixed(range.1, page.writer.decimals)
    );
    let mut caption = match policies.iter().any(has_band) {
        true => format!(
            "Each shaded band holds the policy’s whole line at once, with {} confidence.",
            percent(page.settings.confidence)
        ),
        false => "There are no bands; the notes below the tables say why.".to_owned(),
    };
    for policy in policies {
        let cdf = &policy.cdf;
        caption += &mark(&policy.name, Standing::of_band(cdf), cdf.reason.as_ref(), "the band", page.voice);
    }
    let reward = &page.evaluation.log.reward;
    if reward.max - reward.min > 2.0 * (range.1 - range.0) {
        caption += " Rewards beyond those of all but one slate in a thousand are not drawn.";
    }
    let chart = CdfChart { policies, range, curve: Curve::of(page.evaluation), bands: true, points: POINTS };
    let axes = ("reward", "share of slates with at most this reward");
    figure(m, "cdf-chart", ("Reward distribution of each policy", &desc), axes, &chart, &caption);
    readout(m, page);
}

/// Numbers below the pointer: for a script to fill, which knows how many rewards there are to choose from.
fn readout(m: &mut Markup, page: &Page<'_>) {
    html!(
        m,
        r#"<div class="moves readout"><div class="controls"><label for="reward-slider">Read off at reward</label>"#
    );
    html!(m, r#"<input type="range" id="reward-slider" min="0" max="1" step="1" value="0"/>"#);
    html!(m, r#"<output id="reward-value" for="reward-slider"></output></div><div aria-live="polite">"#);
    Table::new("cdf-table", "Share of slates with at most this reward")
        .found_by(|(i, _)| *i)
        .column(Head::text("policy"), |m, (i, policy): &(usize, &PolicyEvaluation)| policy_head(m, *i, &policy.name))
        .column(Head::number("share"), |m, _| html!(m, r#"<td class="number"></td>"#))
        .column(Head::number("band"), |m, (_, policy)| {
            let is_marked = Standing::of_band(&policy.cdf) != Standing::Stands;
            let reason = policy.cdf.reason.as_ref().filter(|_| is_marked);
            let title = reason.map(|reason| page.voice.after_mark(reason)).unwrap_or_default();
            html!(m, r#"<td class="number" title="{}"></td>"#, title);
        })
        .write(m, page.evaluation.policies.iter().enumerate());
    html!(m, "</div></div>");
}

/// Differences of quantiles to logging's.
pub(crate) fn quantiles(m: &mut Markup, page: &Page<'_>) {
    let place = |policy: &str| page.evaluation.policies.iter().position(|p| p.name == policy);
    let against: Vec<_> = page.profile.comparisons.iter().filter(|c| c.baseline == LOGGING).collect();
    let series: Vec<Series<'_>> =
        against.iter().filter_map(|c| Some(Series { policy: place(&c.policy)?, values: &c.quantile_band })).collect();
    if series.is_empty() {
        return;
    }
    html!(
        m,
        "<p>Line up each policy’s slates from the worst to the best and compare those in the same place. Above the zero \
         line the target’s slates are worth more there than logging’s, below it less.</p>"
    );
    let desc = "For each target the difference of its quantiles to logging’s over all levels, with a band and a line \
                at zero. The list below says where the band leaves zero.";
    let drawn = || against.iter().flat_map(|c| &c.quantile_band).filter(|i| is_bounded(i));
    let stands = drawn().any(|i| Standing::of(i) == Standing::Stands);
    let mut caption = match (stands, drawn().next()) {
        (true, _) => format!(
            "The shaded band holds at all levels at once, with {} confidence: where it leaves the zero line, the \
             difference is shown.",
            percent(page.settings.confidence)
        ),
        (false, Some(_)) => "No band shows a difference.".to_owned(),
        (false, None) => "There is no band of differences; the list below says why.".to_owned(),
    };
    caption += &marks(against.iter().map(|c| (c.policy.as_str(), c.quantile_band.as_slice())), "the band", page.voice);
    let chart = LevelChart { levels: &page.profile.levels, series, difference: Difference::Yes };
    let axes = ("slates from the worst (0%) to the best (100%)", "difference of rewards");
    figure(m, "quantile-chart", ("Difference of quantiles to logging’s", desc), axes, &chart, &caption);
    html!(m, r#"<ul class="notes">"#);
    for comparison in &against {
        let words = match page.settings.band {
            Band::Bernstein => format!("cannot tell ({})", no_bernstein(page.voice)),
            _ => where_shown(&page.profile.levels, &comparison.quantile_band, page.voice),
        };
        html!(m, "<li>{}: {}.</li>", name(&comparison.policy), words);
    }
    html!(m, "</ul>");
    if stands {
        html!(m, r#"<p class="aside">This band holds at all levels at once, and so shows less than the intervals of "#);
        html!(m, "the result above.</p>");
    }
}

/// Where a band leaves 0, in words. One that is conditional or refuted shows nothing.
fn where_shown(levels: &[f64], band: &[Interval], voice: Voice) -> String {
    if let Some(marked) = band.iter().find(|i| Standing::of(i) != Standing::Stands) {
        return cannot_tell(marked.reason.as_ref(), voice);
    }
    let runs = |is_in: fn(&Interval) -> bool| {
        let all: Vec<(f64, bool)> = levels.iter().copied().zip(band.iter().map(is_in)).collect();
        let runs = all.chunk_by(|a, b| a.1 == b.1).filter(|run| run[0].1);
        let words = runs.map(|run| match (run[0].0, run[run.len() - 1].0) {
            (from, to) if from == to => percent(from),
            (from, to) => format!("{} to {}", percent(from), percent(to)),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let higher = runs(|i| i.lower.is_some_and(|l| l > 0.0));
    let lower = runs(|i| i.upper.is_some_and(|u| u < 0.0));
    match (higher.is_empty(), lower.is_empty()) {
        (true, true) => match band.iter().all(|i| i.lower.is_none() && i.upper.is_none()) {
            true => cannot_tell(band.iter().find_map(|i| i.reason.as_ref()), voice),
            false => "not shown to be higher or lower at any level".to_owned(),
        },
        (false, true) => format!("shown to be higher at {higher}; not shown to be lower at any level"),
        (true, false) => format!("shown to be lower at {lower}; not shown to be higher at any level"),
        (false, false) => format!("shown to be higher at {higher}, and lower at {lower}"),
    }
}

fn cannot_tell(reason: Option<&Reason>, voice: Voice) -> String {
    let reason = reason.map_or("there is no band".to_owned(), |reason| voice.after_mark(reason));
    format!("cannot tell ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(ends: &[(f64, f64)]) -> Vec<Interval> {
        let interval = |&(lower, upper): &(f64, f64)| Interval {
            estimate: Some((lower + upper) / 2.0),
            lower: Some(lower),
            upper: Some(upper),
            ..Interval::default()
        };
        ends.iter().map(interval).collect()
    }

    #[test]
    fn words_say_where_the_band_leaves_zero() {
        let levels = [0.1, 0.2, 0.3, 0.4];
        let (up, down, open) = ((1.0, 2.0), (-2.0, -1.0), (-1.0, 1.0));
        let words = |ends: &[(f64, f64)]| where_shown(&levels, &band(ends), Voice::CommandLine);
        assert_eq!(words(&[open; 4]), "not shown to be higher or lower at any level");
        assert_eq!(
            words(&[up, up, open, up]),
            "shown to be higher at 10% to 20%, 40%; not shown to be lower at any level"
        );
        assert_eq!(words(&[down, open, up, up]), "shown to be higher at 30% to 40%, and lower at 10%");
        let none = Interval {
            estimate: Some(1.0),
            lower: None,
            upper: None,
            reason: Some(Reason::OneRow),
            ..Interval::default()
        };
        assert_eq!(
            where_shown(&[0.5], &[none], Voice::CommandLine),
            "cannot tell (one row tells nothing of how rows vary)"
        );
        let by = slateval::Refutation::Check(slateval::CheckName::Bias);
        let refuted = Interval { refuted: Some(by), reason: Some(Reason::OneRow), ..band(&[up])[0].clone() };
        assert_eq!(
            where_shown(&[0.5], &[refuted], Voice::CommandLine),
            "cannot tell (one row tells nothing of how rows vary)"
        );
    }
}
