//! Who gains and who loses.

use slateval::{Comparison, Interval, LOGGING, SegmentEvaluation};

use super::Page;
use super::distribution::curve;
use super::headline::Verdict;
use super::tables::{frame, header, header_with};
use crate::chart::{CdfChart, Size, Titles, interval_bar, reward_range};
use crate::grid::Kind;
use crate::markup::Markup;
use crate::number::{count, percent};
use crate::segments::has_failed;
use crate::text::name;

/// Most pictures.
const PICTURES: usize = 24;
/// Most lines of the table.
const LINES: usize = 200;
/// Points of a small picture's line.
const POINTS: usize = 60;

pub(crate) fn section(m: &mut Markup, page: &Page<'_>) {
    let segments = &page.evaluation.segments;
    verdicts(m, page);
    let lines = largest(segments, LINES);
    table(m, page, &lines);
    left_out(m, segments.len(), lines.len(), "lines");
    disparities(m, page);
    m.element("h3", &[], "Distributions");
    m.element("p", &[], "The CDFs of all policies in each segment, on one scale.");
    let shown = largest(segments, PICTURES);
    pictures(m, page, &shown);
    left_out(m, segments.len(), shown.len(), "pictures");
}

/// The segments with the most slates, in the order in which they came.
fn largest(segments: &[SegmentEvaluation], most: usize) -> Vec<&SegmentEvaluation> {
    let mut places: Vec<usize> = (0..segments.len()).collect();
    places.sort_by_key(|i| std::cmp::Reverse(segments[*i].rows));
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().map(|i| &segments[i]).collect()
}

fn left_out(m: &mut Markup, all: usize, shown: usize, what: &str) {
    if shown < all {
        m.element(
            "p",
            &[("class", &"left-out")],
            format_args!(
                "Only the {shown} segments with the most slates have {what} here; the other {} are in the file that \
                 --json writes.",
                all - shown
            ),
        );
    }
}

fn against_logging<'s>(segment: &'s SegmentEvaluation, policy: &str) -> Option<&'s Comparison> {
    segment.comparisons.iter().find(|c| c.policy == policy && c.baseline == LOGGING)
}

/// In how many segments each target is shown to be better, and to be worse.
fn verdicts(m: &mut Markup, page: &Page<'_>) {
    let segments = &page.evaluation.segments;
    m.within("ul", &[("class", &"notes")], |m| {
        for policy in page.evaluation.policies.iter().skip(1) {
            let all = segments.iter().filter_map(|s| against_logging(s, &policy.name));
            let verdicts: Vec<Verdict> = all.map(|c| Verdict::of(&c.mean)).collect();
            let number = |wanted: &str| verdicts.iter().filter(|v| v.class() == wanted).count();
            m.element(
                "li",
                &[],
                format_args!(
                    "{}: the mean is shown to gain in {} of {} segments and to lose in {}; not shown either way in {}, \
                     no telling in {}.",
                    name(&policy.name),
                    number("better"),
                    verdicts.len(),
                    number("worse"),
                    number("open"),
                    number("unknown"),
                ),
            );
        }
    });
    m.element(
        "p",
        &[("class", &"aside")],
        format_args!(
            "Each interval holds by itself, with {} confidence: of many segments, some are wrong by chance.",
            percent(page.settings.confidence)
        ),
    );
}

fn table(m: &mut Markup, page: &Page<'_>, lines: &[&SegmentEvaluation]) {
    let policies = &page.evaluation.policies;
    let column = page.evaluation.segments.first().map_or("segment", |s| s.column.as_str());
    let caption = format!("Mean reward by {}", name(column));
    let has_bars = lines.len() * policies.len() <= 600;
    frame(m, "segments-table", &caption, |m| {
        let mut names = vec![(name(column), None), ("slates".to_owned(), None)];
        for (i, policy) in policies.iter().enumerate() {
            names.push((name(&policy.name), Some(i)));
            if i > 0 {
                names.push(("minus logging’s".to_owned(), None));
            }
        }
        header(m, &names);
        let ranges: Vec<(f64, f64)> = policies.iter().map(|p| range(lines, &p.name)).collect();
        m.within("tbody", &[], |m| {
            for segment in lines {
                m.within("tr", &[], |m| {
                    let mark = if has_failed(segment) { "■ do not rely on: " } else { "" };
                    m.element("th", &[("scope", &"row")], format_args!("{mark}{}", name(&segment.value.to_string())));
                    m.element("td", &[("class", &"number")], count(segment.rows));
                    for (i, policy) in segment.policies.iter().enumerate() {
                        page.writer.cell(m, &policy.mean, Kind::Value);
                        if i > 0 {
                            difference(m, page, segment, i, has_bars.then(|| ranges[i]));
                        }
                    }
                });
            }
        });
    });
    let failed = page.evaluation.segments.iter().filter(|s| has_failed(s)).count();
    if failed > 0 {
        let plural = if failed == 1 { "segment has" } else { "segments have" };
        m.element(
            "p",
            &[("class", &"aside")],
            format_args!("{failed} {plural} failed checks: do not rely on these; the JSON says why."),
        );
    }
}

fn difference(m: &mut Markup, page: &Page<'_>, segment: &SegmentEvaluation, policy: usize, bars: Option<(f64, f64)>) {
    let interval = against_logging(segment, &segment.policies[policy].name).map(|c| &c.mean);
    match interval {
        Some(interval) => {
            let bar = bars.map(|range| interval_bar(interval, range, policy)).unwrap_or_default();
            page.writer.cell_with(m, interval, Kind::Difference, &[], &bar);
        }
        None => m.element("td", &[("class", &"number")], "–"),
    }
}

/// The differences that bars have to show, 0 among them. One hopeless segment must not squeeze all others: beyond four
/// times the largest estimate, intervals are cut.
fn range(lines: &[&SegmentEvaluation], policy: &str) -> (f64, f64) {
    let all: Vec<&Interval> = lines.iter().filter_map(|s| against_logging(s, policy)).map(|c| &c.mean).collect();
    let most = 4.0 * all.iter().filter_map(|i| i.estimate).map(f64::abs).fold(0.0, f64::max);
    let ends = all.iter().flat_map(|i| [i.estimate, i.lower, i.upper]).flatten();
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
                    m.element("td", &[], name(&d.low.to_string()));
                    m.element("td", &[], name(&d.high.to_string()));
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
            let value = name(&segment.value.to_string());
            let chart =
                CdfChart { policies: &segment.policies, range, curve: curve(page), bands: false, points: POINTS };
            let title = format!("Distributions of {value}");
            let desc = "The policies’ distribution functions in this segment. The table gives their means.";
            m.within("figure", &[], |m| {
                m.element("h4", &[], format_args!("{value} ({})", count(segment.rows)));
                let id = format!("segment-{i}");
                m.add(&chart.svg(&id, "tile", Size::SMALL, Titles { x: "", y: "" }, (&title, desc)));
            });
        }
    });
}
