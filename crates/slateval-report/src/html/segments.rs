//! Who gains and who loses.

use std::collections::BTreeSet;

use slateval::{CheckName, Comparison, Interval, LOGGING, SegmentEvaluation, Status};

use slateval_text::intervals::marked_segments;

use super::Page;
use super::distribution::curve;
use super::headline::{Verdict, headline_alpha, tail_name};
use super::tables::{Writer, frame, header, header_with};
use crate::Voice;
use crate::chart::{CdfChart, Size, Titles, interval_bar, reward_range};
use crate::grid::Kind;
use crate::markup::Markup;
use crate::number::{count, percent};
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
    let most = if policies == 2 { LINES_OF_ONE } else { (LINES / (policies - 1)).max(20) };
    let all: Vec<&SegmentEvaluation> = segments.iter().collect();
    let lines = largest(&all, most);
    for target in 1..page.evaluation.policies.len() {
        table(m, page, &lines, target);
    }
    left_out(m, segments.len(), lines.len(), "lines", page.voice);
    disparities(m, page);
    m.element("h3", &[], "Distributions");
    m.element("p", &[], "The CDFs of all policies in each segment, on one scale.");
    let shown = largest(&all, PICTURES.min((CURVES / policies).max(6)));
    pictures(m, page, &shown);
    left_out(m, segments.len(), shown.len(), "pictures", page.voice);
}

/// The segments with the most slates, in the order in which they came.
fn largest<'s>(segments: &[&'s SegmentEvaluation], most: usize) -> Vec<&'s SegmentEvaluation> {
    let mut places: Vec<usize> = (0..segments.len()).collect();
    places.sort_by_key(|i| std::cmp::Reverse(segments[*i].rows));
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().map(|i| segments[i]).collect()
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

/// In which segments each target is shown to gain, in which to lose, and where that cannot be told: in mean and in the
/// tail.
pub(crate) fn verdicts(m: &mut Markup, page: &Page<'_>) {
    let at = headline_alpha(page.settings);
    let tail = |c: &Comparison| -> Option<f64> { c.cvar.get(at?).map(|t| t.alpha) };
    let alpha = page.evaluation.comparisons.first().and_then(tail);
    let column = page.evaluation.segments.first().map_or("segment", |s| s.column.as_str());
    m.element("h3", &[], format_args!("By {}, against logging", name(column)));
    m.within("ul", &[("class", &"notes"), ("id", &"segment-verdicts")], |m| {
        for policy in page.evaluation.policies.iter().skip(1) {
            let mut say = |what: &str, pick: Pick<'_>| {
                let words = one_metric(page, &policy.name, pick);
                m.element("li", &[], format_args!("{}, {what}: {words}", name(&policy.name)));
            };
            say("mean", &|c| Some(&c.mean));
            if let (Some(alpha), Some(at)) = (alpha, at) {
                say(&tail_name(page.settings, alpha), &|c| c.cvar.get(at).map(|t| &t.interval));
            }
        }
    });
    m.element(
        "p",
        &[("class", &"aside")],
        format_args!(
            "Each segment’s interval holds by itself, with {} confidence: of many segments, some are wrong by chance, and \
             the largest gains and losses look larger than they are.",
            percent(page.settings.confidence)
        ),
    );
}

/// A segment with the difference that is looked at.
type Found<'s> = (&'s SegmentEvaluation, &'s Interval);

/// Whether a segment is worth too few rows of a policy's own for a verdict, as rules of the gate have it.
fn is_too_small(segment: &SegmentEvaluation, policy: &str) -> bool {
    let own = segment.policies.iter().filter(|p| p.name == policy).flat_map(|p| &p.diagnostics.checks);
    own.into_iter().any(|check| check.name() == CheckName::Ess && check.status != Status::Ok)
}

/// What the intervals of one metric show, as a sentence. An estimate alone shows nothing.
fn one_metric(page: &Page<'_>, policy: &str, pick: Pick<'_>) -> String {
    let difference = |s| Some((s, pick(against_logging(s, policy)?)?));
    let all: Vec<Found<'_>> = page.evaluation.segments.iter().filter_map(difference).collect();
    let of = |is_meant: fn(&Verdict) -> bool| -> Vec<Found<'_>> {
        let verdict = |segment, interval| match is_too_small(segment, policy) {
            true => Verdict::Open,
            false => Verdict::of(interval),
        };
        all.iter().copied().filter(|(segment, interval)| is_meant(&verdict(segment, interval))).collect()
    };
    let (gain, loss) = (of(|v| *v == Verdict::Better), of(|v| *v == Verdict::Worse));
    let untold = of(|v| matches!(v, Verdict::Open | Verdict::Unknown(_)));
    let same = of(|v| *v == Verdict::Same);
    let mut words = format!(
        "of {} segments, shown to gain in {}, shown to lose in {}, cannot be told in {}",
        all.len(),
        named(&gain),
        named(&loss),
        named(&untold)
    );
    if !same.is_empty() {
        words += &format!(", the same in {}", named(&same));
    }
    words + "." + &extremes(page.writer, &gain, &loss)
}

/// More segments than this are not named in a sentence.
const NAMED: usize = 8;

/// How many segments, and which: the largest if they are many.
fn named(found: &[Found<'_>]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    let segments: Vec<&SegmentEvaluation> = found.iter().map(|(segment, _)| *segment).collect();
    let mut names: Vec<String> = largest(&segments, NAMED).iter().map(|s| segment_name(&s.value)).collect();
    if found.len() > NAMED {
        names.push(format!("and {} smaller ones", found.len() - NAMED));
    }
    format!("{} ({})", found.len(), names.join(", "))
}

/// Where a target is shown to gain most, and where to lose most.
fn extremes(writer: Writer, gain: &[Found<'_>], loss: &[Found<'_>]) -> String {
    let size = |found: &Found<'_>| found.1.estimate.map_or(0.0, f64::abs);
    let words = |what: &str, found: &[Found<'_>]| match found.iter().max_by(|a, b| size(a).total_cmp(&size(b))) {
        Some((segment, interval)) => {
            let difference = writer.line(interval, Kind::Difference);
            format!(" Largest shown {what}: {}, {difference}.", segment_name(&segment.value))
        }
        None => String::new(),
    };
    words("loss", loss) + &words("gain", gain)
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
                    m.within("th", &[("scope", &"row"), ("class", &"value")], |m| value(m, &segment.value));
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
