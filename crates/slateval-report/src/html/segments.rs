//! Who gains and who loses.

use std::collections::BTreeSet;

use slateval::{Comparison, Interval, LOGGING, SegmentEvaluation};

use super::Page;
use super::distribution::curve;
use super::headline::{Verdict, headline_alpha, tail_name};
use super::tables::{Writer, frame, header, header_with};
use crate::Voice;
use crate::chart::{CdfChart, Size, Titles, interval_bar, reward_range};
use crate::checks::spoiled_names;
use crate::grid::Kind;
use crate::markup::Markup;
use crate::number::{count, percent};
use crate::segments::marked_segments;
use crate::standing::{Standing, ends};
use crate::text::{name, segment_name};

/// Most pictures, and most lines of CDFs in them.
const PICTURES: usize = 24;
const CURVES: usize = 72;
/// Most lines of one target's table, and of the tables of several, whose pages are longer elsewhere too.
const LINES_OF_ONE: usize = 200;
const LINES: usize = 150;
/// Points of a small picture's line.
const POINTS: usize = 60;

pub(crate) fn section(m: &mut Markup, page: &Page<'_>) {
    let segments = &page.evaluation.segments;
    let policies = page.evaluation.policies.len().max(2);
    verdicts(m, page);
    let most = if policies == 2 { LINES_OF_ONE } else { (LINES / (policies - 1)).max(20) };
    let lines = largest(segments, most);
    for target in 1..page.evaluation.policies.len() {
        table(m, page, &lines, target);
    }
    left_out(m, segments.len(), lines.len(), "lines", page.voice);
    disparities(m, page);
    m.element("h3", &[], "Distributions");
    m.element("p", &[], "The CDFs of all policies in each segment, on one scale.");
    let shown = largest(segments, PICTURES.min((CURVES / policies).max(6)));
    pictures(m, page, &shown);
    left_out(m, segments.len(), shown.len(), "pictures", page.voice);
}

/// The segments with the most slates, in the order in which they came.
fn largest(segments: &[SegmentEvaluation], most: usize) -> Vec<&SegmentEvaluation> {
    let mut places: Vec<usize> = (0..segments.len()).collect();
    places.sort_by_key(|i| std::cmp::Reverse(segments[*i].rows));
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().map(|i| &segments[i]).collect()
}

fn left_out(m: &mut Markup, all: usize, shown: usize, what: &str, voice: Voice) {
    if shown < all {
        m.element(
            "p",
            &[("class", &"left-out")],
            format_args!(
                "Only the {shown} segments with the most slates have {what} here; {} has the other {}.",
                voice.everything(),
                all - shown
            ),
        );
    }
}

/// A difference of a target to logging in a segment.
type Pick<'p> = &'p dyn Fn(&Comparison) -> Option<&Interval>;

fn against_logging<'s>(segment: &'s SegmentEvaluation, policy: &str) -> Option<&'s Comparison> {
    segment.comparisons.iter().find(|c| c.policy == policy && c.baseline == LOGGING)
}

/// Whether a target, or logging, has checks in a segment that leave nothing to be told.
fn is_spoiled(segment: &SegmentEvaluation, policy: &str) -> bool {
    let both = segment.policies.iter().filter(|p| p.name == policy || p.name == LOGGING);
    !spoiled_names(both).is_empty()
}

/// In how many segments each target is shown to be better, and to be worse, and where most: in mean and in the tail.
fn verdicts(m: &mut Markup, page: &Page<'_>) {
    let at = headline_alpha(page.settings);
    let tail = |c: &Comparison| -> Option<f64> { c.cvar.get(at?).map(|t| t.alpha) };
    let alpha = page.evaluation.comparisons.first().and_then(tail);
    m.within("ul", &[("class", &"notes")], |m| {
        for policy in page.evaluation.policies.iter().skip(1) {
            one_metric(m, page, &policy.name, "the mean", &|c| Some(&c.mean));
            if let (Some(alpha), Some(at)) = (alpha, at) {
                let what = format!("the CVaR of the {}", tail_name(page.settings, alpha));
                one_metric(m, page, &policy.name, &what, &|c| c.cvar.get(at).map(|t| &t.interval));
            }
        }
    });
    m.element(
        "p",
        &[("class", &"aside")],
        format_args!(
            "Each interval holds by itself, with {} confidence: of many segments, some are wrong by chance, and the \
             largest gains and losses look larger than they are.",
            percent(page.settings.confidence)
        ),
    );
}

fn one_metric(m: &mut Markup, page: &Page<'_>, policy: &str, what: &str, pick: Pick<'_>) {
    let difference = |s| Some((s, pick(against_logging(s, policy)?)?));
    let all: Vec<(&SegmentEvaluation, &Interval)> = page.evaluation.segments.iter().filter_map(difference).collect();
    let verdicts: Vec<Verdict> = all.iter().map(|(s, i)| Verdict::unless(i, is_spoiled(s, policy))).collect();
    let number = |wanted: &str| verdicts.iter().filter(|v| v.class() == wanted).count();
    m.element(
        "li",
        &[],
        format_args!(
            "{}: {what} is shown to gain in {} of {} segments and to lose in {}; not shown either way in {}, no telling \
             in {}. {}",
            name(policy),
            number("better"),
            verdicts.len(),
            number("worse"),
            number("open"),
            number("unknown"),
            extremes(page.writer, &all, policy),
        ),
    );
}

/// Where a target gains most and where it loses most, as far as there is anything to rely on.
fn extremes(writer: Writer, all: &[(&SegmentEvaluation, &Interval)], policy: &str) -> String {
    let known = all.iter().filter(|(s, _)| !is_spoiled(s, policy));
    let known: Vec<(&SegmentEvaluation, &Interval, f64)> =
        known.filter_map(|(s, i)| Some((*s, *i, i.estimate?))).collect();
    let words = |what: &str, found: Option<&(&SegmentEvaluation, &Interval, f64)>| match found {
        Some((s, i, _)) => {
            format!("Largest {what} against logging: {}, {}.", segment_name(&s.value), writer.line(i, Kind::Difference))
        }
        None => format!("No {what} against logging in any segment."),
    };
    let gain = known.iter().filter(|k| k.2 > 0.0).max_by(|a, b| a.2.total_cmp(&b.2));
    let loss = known.iter().filter(|k| k.2 < 0.0).min_by(|a, b| a.2.total_cmp(&b.2));
    if known.is_empty() { String::new() } else { format!("{} {}", words("gain", gain), words("loss", loss)) }
}

/// A target's segments, a line each.
fn table(m: &mut Markup, page: &Page<'_>, lines: &[&SegmentEvaluation], target: usize) {
    let policy = &page.evaluation.policies[target];
    let column = page.evaluation.segments.first().map_or("segment", |s| s.column.as_str());
    let caption = format!("{} by {}", name(&policy.name), name(column));
    let id = if target == 1 { "segments-table".to_owned() } else { format!("segments-table-{target}") };
    let alpha = headline_alpha(page.settings);
    // Lines are many, and the page's JSON has the numbers as they are.
    let writer = Writer { exact: false, ..page.writer };
    frame(m, &id, &caption, |m| {
        let mut names = vec![(name(column), None), ("slates".to_owned(), None)];
        names.push(("mean: logging".to_owned(), Some(0)));
        names.push((name(&policy.name), Some(target)));
        names.push(("difference".to_owned(), None));
        if let Some(at) = alpha {
            names.push((format!("CVaR {}: difference", percent(page.settings.alphas[at])), None));
        }
        header(m, &names);
        let mean: Pick<'_> = &|c| Some(&c.mean);
        let tail: Pick<'_> = &|c| c.cvar.get(alpha?).map(|t| &t.interval);
        let ranges = (range(lines, &policy.name, mean), range(lines, &policy.name, tail));
        m.within("tbody", &[("class", &"stacked")], |m| {
            for segment in lines {
                m.within("tr", &[], |m| {
                    row_name(m, segment, &policy.name);
                    m.element("td", &[("class", &"number")], count(segment.rows));
                    for own in [0, target].into_iter().filter_map(|i| segment.policies.get(i)) {
                        writer.cell(m, &own.mean, Kind::Value);
                    }
                    let against = against_logging(segment, &policy.name);
                    difference(m, writer, against.and_then(mean), ranges.0, target);
                    if alpha.is_some() {
                        difference(m, writer, against.and_then(tail), ranges.1, target);
                    }
                });
            }
        });
    });
    for mark in marks(lines, target) {
        m.element("p", &[("class", &"aside")], format_args!("{mark}."));
    }
    let spoiled = page.evaluation.segments.iter().filter(|s| is_spoiled(s, &policy.name)).count();
    if spoiled > 0 {
        let plural = if spoiled == 1 { "segment has" } else { "segments have" };
        m.element(
            "p",
            &[("class", &"aside")],
            format_args!(
                "{spoiled} {plural} failed checks, or biased weights: do not rely on these; the JSON says why."
            ),
        );
    }
}

/// What the marks of a target's lines mean, each once.
fn marks(lines: &[&SegmentEvaluation], target: usize) -> BTreeSet<&'static str> {
    let own = |s: &&SegmentEvaluation| {
        let policy = &s.policies[target];
        let tails = policy.cvar.iter().map(|tail| Standing::of(&tail.interval));
        tails.chain([Standing::of(&policy.mean)]).filter_map(marked_segments).collect::<Vec<_>>()
    };
    lines.iter().flat_map(own).collect()
}

fn row_name(m: &mut Markup, segment: &SegmentEvaluation, policy: &str) {
    m.within("th", &[("scope", &"row"), ("class", &"value")], |m| {
        if is_spoiled(segment, policy) {
            m.literal("■ do not rely on: ");
        }
        value(m, &segment.value);
    });
}

/// A segment's value; what is no text stands out.
fn value(m: &mut Markup, value: &slateval::Segment) {
    let shown = segment_name(value);
    match value {
        slateval::Segment::Null => m.element("em", &[], shown),
        slateval::Segment::Text(text) if text.is_empty() => m.element("em", &[], shown),
        _ => m.text(shown),
    }
}

fn difference(m: &mut Markup, writer: Writer, interval: Option<&Interval>, range: (f64, f64), policy: usize) {
    match interval {
        Some(interval) => {
            writer.cell_with(m, interval, Kind::Difference, &[], &interval_bar(interval, range, policy));
        }
        None => m.element("td", &[("class", &"number")], "–"),
    }
}

/// The differences that bars have to show, 0 among them. One hopeless segment must not squeeze all others: beyond four
/// times the largest estimate, intervals are cut.
fn range(lines: &[&SegmentEvaluation], policy: &str, pick: Pick<'_>) -> (f64, f64) {
    let all: Vec<&Interval> = lines.iter().filter_map(|s| pick(against_logging(s, policy)?)).collect();
    let most = 4.0 * all.iter().filter_map(|i| i.estimate).map(f64::abs).fold(0.0, f64::max);
    let ends = all.iter().flat_map(|i| [i.estimate, ends(i).0, ends(i).1]).flatten();
    let ends = ends.map(|end| if most > 0.0 { end.clamp(-most, most) } else { end });
    ends.fold((0.0, 0.0), |(low, high), end| (f64::min(low, end), f64::max(high, end)))
}

fn disparities(m: &mut Markup, page: &Page<'_>) {
    let disparities = &page.evaluation.disparities;
    if disparities.is_empty() {
        return;
    }
    frame(m, "disparities", "Segments furthest apart", |m| {
        let names = ["policy", "metric", "lowest", "highest", "difference"];
        header_with(m, &names.map(|n| (n.to_owned(), None)), 4);
        m.within("tbody", &[], |m| {
            for d in disparities {
                m.within("tr", &[], |m| {
                    m.element("th", &[("scope", &"row")], name(&d.policy));
                    let metric = d.alpha.map_or(d.metric.to_owned(), |a| format!("CVaR {}", percent(a)));
                    m.element("td", &[], metric);
                    m.within("td", &[], |m| value(m, &d.low));
                    m.within("td", &[], |m| value(m, &d.high));
                    page.writer.cell(m, &d.interval, Kind::Value);
                });
            }
        });
    });
    m.element(
        "p",
        &[("class", &"aside")],
        "These two were found by looking; their intervals are wide enough for all pairs of segments at once.",
    );
}

fn pictures(m: &mut Markup, page: &Page<'_>, shown: &[&SegmentEvaluation]) {
    let range = reward_range(&page.evaluation.policies);
    m.within("div", &[("class", &"tiles small")], |m| {
        for (i, segment) in shown.iter().enumerate() {
            let chart =
                CdfChart { policies: &segment.policies, range, curve: curve(page), bands: false, points: POINTS };
            let title = format!("Distributions of {}", segment_name(&segment.value));
            let desc = "The policies’ distribution functions in this segment. The table gives their means.";
            m.within("figure", &[], |m| {
                m.within("h4", &[], |m| {
                    value(m, &segment.value);
                    m.text(format_args!(" ({})", count(segment.rows)));
                });
                let id = format!("segment-{i}");
                m.add(&chart.svg(&id, "tile", Size::SMALL, Titles { x: "", y: "" }, (&title, desc)));
            });
        }
    });
}
