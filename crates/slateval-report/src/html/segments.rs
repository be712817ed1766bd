//! Who gains and who loses.

use std::collections::BTreeSet;

use slateval::{CheckName, Comparison, Disparity, Interval, Segment, SegmentEvaluation, Status};

use slateval_text::intervals::marked_segments;

use super::Page;
use super::headline::{Verdict, headline_alpha, tail_name};
use super::tables::{Head, Table, Writer};
use crate::Voice;
use crate::chart::{CdfChart, Curve, Size, Titles, interval_bar, reward_range, svg};
use crate::grid::Kind;
use crate::markup::{Markup, html};
use crate::number::{count, percent};
use crate::segments::{against_logging, disparity_metric};
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
        segment_table(m, page, &lines, target);
    }
    left_out(m, segments.len(), lines.len(), "lines", page.voice);
    disparities(m, page);
    html!(m, "<h3>Distributions</h3><p>The CDFs of all policies in each segment, on one scale.</p>");
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
        html!(m, r#"<p class="left-out">Only the {} segments with the most slates have {} here; "#, shown, what);
        html!(m, "{} has the other {}.</p>", voice.everything(), all - shown);
    }
}

/// A difference of a target to logging in a segment.
type Pick<'p> = &'p dyn Fn(&Comparison) -> Option<&Interval>;

/// In which segments each target is shown to gain, in which to lose, and where that cannot be told: in mean and in the
/// tail.
pub(crate) fn verdicts(m: &mut Markup, page: &Page<'_>) {
    let at = headline_alpha(page.settings);
    let tail = |c: &Comparison| -> Option<f64> { c.cvar.get(at?).map(|t| t.alpha) };
    let alpha = page.evaluation.comparisons.first().and_then(tail);
    let column = page.evaluation.segments.first().map_or("segment", |s| s.column.as_str());
    html!(m, r#"<h3>By {}, against logging</h3><ul class="notes" id="segment-verdicts">"#, name(column));
    for policy in page.evaluation.policies.iter().skip(1) {
        let mut say = |what: &str, pick: Pick<'_>| {
            html!(m, "<li>{}, {}: {}</li>", name(&policy.name), what, one_metric(page, &policy.name, pick));
        };
        say("mean", &|c| Some(&c.mean));
        if let (Some(alpha), Some(at)) = (alpha, at) {
            say(&tail_name(page.settings, alpha), &|c| c.cvar.get(at).map(|t| &t.interval));
        }
    }
    html!(m, r#"</ul><p class="aside">Each segment’s interval holds by itself, with "#);
    html!(m, "{} confidence: of many segments, some are wrong by chance, ", percent(page.settings.confidence));
    html!(m, "and the largest gains and losses look larger than they are.</p>");
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
            false => Verdict::of(interval, page.voice),
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
fn segment_table(m: &mut Markup, page: &Page<'_>, lines: &[&SegmentEvaluation], target: usize) {
    let policy = &page.evaluation.policies[target];
    let column = page.evaluation.segments.first().map_or("segment", |s| s.column.as_str());
    let caption = format!("{} by {}", name(&policy.name), name(column));
    let id = if target == 1 { "segments-table".to_owned() } else { format!("segments-table-{target}") };
    let alpha = headline_alpha(page.settings);
    // Lines are many, and the page's JSON has the numbers as they are.
    let writer = Writer { exact: false, ..page.writer };
    let mean: Pick<'_> = &|c| Some(&c.mean);
    let tail: Pick<'_> = &|c| c.cvar.get(alpha?).map(|t| &t.interval);
    let own = |policy: usize| {
        move |m: &mut Markup, segment: &&SegmentEvaluation| {
            writer.cell(m, segment.policies.get(policy).map(|p| &p.mean), Kind::Value);
        }
    };
    let mut table = Table::new(&id, &caption)
        .class("stacked")
        .column(Head::text(name(column)), |m, segment: &&SegmentEvaluation| {
            html!(m, r#"<th scope="row" class="value">"#);
            value(m, &segment.value);
            html!(m, "</th>");
        })
        .column(Head::number("slates"), |m, segment| html!(m, r#"<td class="number">{}</td>"#, count(segment.rows)))
        .column(Head::number("mean: logging").of(Some(0)), own(0))
        .column(Head::number(name(&policy.name)).of(Some(target)), own(target))
        .column(Head::number("difference"), difference(writer, lines, (target, &policy.name), mean));
    if let Some(at) = alpha {
        let head = Head::number(format!("CVaR {}: difference", percent(page.settings.alphas[at])));
        table = table.column(head, difference(writer, lines, (target, &policy.name), tail));
    }
    table.write(m, lines.iter().copied());
    for mark in marks(lines, target) {
        html!(m, r#"<p class="aside">{}.</p>"#, mark);
    }
}

/// A target's difference to logging in a segment, with a bar below it.
fn difference<'t>(
    writer: Writer,
    lines: &[&SegmentEvaluation],
    (target, policy): (usize, &'t str),
    pick: Pick<'t>,
) -> impl Fn(&mut Markup, &&SegmentEvaluation) + 't {
    let range = range(lines, policy, pick);
    move |m, segment| match against_logging(segment, policy).and_then(pick) {
        Some(interval) => {
            writer.cell_with(m, interval, Kind::Difference, None, &interval_bar(interval, range, target));
        }
        None => writer.cell(m, None, Kind::Difference),
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
fn value(m: &mut Markup, value: &Segment) {
    match value {
        Segment::Null => html!(m, "<em>{}</em>", segment_name(value)),
        Segment::Text(text) if text.is_empty() => html!(m, "<em>{}</em>", segment_name(value)),
        _ => html!(m, "{}", segment_name(value)),
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
    let of = |m: &mut Markup, segment: &Segment| {
        html!(m, "<td>");
        value(m, segment);
        html!(m, "</td>");
    };
    Table::new("disparities", "Segments furthest apart")
        .column(Head::text("policy"), |m, d: &&Disparity| html!(m, r#"<th scope="row">{}</th>"#, name(&d.policy)))
        .column(Head::text("metric"), |m, d| html!(m, "<td>{}</td>", disparity_metric(d)))
        .column(Head::text("lowest"), |m, d| of(m, &d.low))
        .column(Head::text("highest"), |m, d| of(m, &d.high))
        .column(Head::number("difference"), |m, d| page.writer.cell(m, Some(&d.interval), Kind::Value))
        .write(m, disparities);
    html!(m, r#"<p class="aside">These two were found by looking; their intervals are wide enough for all pairs of "#);
    html!(m, "segments at once.</p>");
}

fn pictures(m: &mut Markup, page: &Page<'_>, shown: &[&SegmentEvaluation]) {
    let (range, curve) = (reward_range(&page.evaluation.policies), Curve::of(page.evaluation));
    let desc = "The policies’ distribution functions in this segment. The table gives their means.";
    html!(m, r#"<div class="tiles small">"#);
    for (i, segment) in shown.iter().enumerate() {
        let chart = CdfChart { policies: &segment.policies, range, curve, bands: false, points: POINTS };
        let (id, title) = (format!("segment-{i}"), format!("Distributions of {}", segment_name(&segment.value)));
        html!(m, "<figure><h4>");
        value(m, &segment.value);
        html!(m, " ({})</h4>", count(segment.rows));
        svg(m, &chart, (&id, "tile", Size::SMALL), Titles { x: "", y: "" }, (&title, desc));
        html!(m, "</figure>");
    }
    html!(m, "</div>");
}
