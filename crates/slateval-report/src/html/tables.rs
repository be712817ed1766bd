//! Tables of estimates.

use std::fmt::Display;

use slateval::{Band, Interval, Settings};

use super::Page;
use crate::chart::swatch;
use crate::grid::{DASH, Grid, Kind};
use crate::markup::Markup;
use crate::number::{at_least_two_digits, fixed, signed};
use crate::standing::{Standing, ends, is_bounded};
use crate::terminal::{Detail, Shown};
use crate::text::on_one_line;
use crate::{Voice, compare, notes};

/// Writes numbers: how many decimals, and whether withheld intervals are worth a mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer {
    pub(crate) decimals: usize,
    pub(crate) intervals: bool,
    /// Whether the numbers as they are stand beside those that are shown, and the reason beside a mark.
    pub(crate) exact: bool,
    /// In whose terms reasons are given.
    pub(crate) voice: Voice,
}

impl Writer {
    pub(crate) fn new(decimals: usize, settings: &Settings, voice: Voice) -> Self {
        Writer { decimals, intervals: settings.band != Band::None, exact: true, voice }
    }

    /// A table's cell with an estimate and its interval; the numbers as they are stand in its attributes.
    pub(crate) fn cell(self, m: &mut Markup, interval: &Interval, kind: Kind) {
        self.cell_with(m, interval, kind, &[], &Markup::default());
    }

    /// The same with further attributes, and with something below the numbers.
    pub(crate) fn cell_with(
        self,
        m: &mut Markup,
        interval: &Interval,
        kind: Kind,
        more: &[(&'static str, &dyn Display)],
        below: &Markup,
    ) {
        let exact =
            [("data-estimate", interval.estimate), ("data-lower", interval.lower), ("data-upper", interval.upper)];
        let exact = exact.into_iter().filter(|_| self.exact);
        let exact: Vec<(&'static str, f64)> = exact.filter_map(|(k, v)| Some((k, v?))).collect();
        let mut attributes: Vec<(&'static str, &dyn Display)> = vec![("class", &"number")];
        attributes.extend(exact.iter().map(|(k, v)| (*k, v as &dyn Display)));
        attributes.extend(more);
        m.within("td", &attributes, |m| {
            let (estimate, ends) = self.words(interval, kind);
            m.text(estimate);
            if let Some(ends) = ends {
                m.literal(" ");
                self.ends(m, interval, &ends);
            }
            m.add(below);
        });
    }

    /// The ends; a mark says why when the pointer rests on it. The notes say it to everyone.
    fn ends(self, m: &mut Markup, interval: &Interval, ends: &str) {
        let standing = Standing::of(interval);
        let class = format!("ends{}", standing.class());
        let reason = interval.reason.as_ref().filter(|_| self.exact && standing != Standing::Stands);
        match reason.map(|reason| self.voice.after_mark(reason)) {
            Some(reason) => m.element("span", &[("class", &class), ("title", &reason)], ends),
            None => m.element("span", &[("class", &class)], ends),
        }
    }

    /// An estimate and its interval on one line.
    pub(crate) fn line(self, interval: &Interval, kind: Kind) -> String {
        match self.words(interval, kind) {
            (estimate, Some(ends)) => format!("{estimate} {ends}"),
            (estimate, None) => estimate,
        }
    }

    fn words(self, interval: &Interval, kind: Kind) -> (String, Option<String>) {
        let (lower, upper) = ends(interval);
        let decimals = at_least_two_digits([interval.estimate, lower, upper], self.decimals);
        let number = |x: Option<f64>| match (x, kind) {
            (None, _) => DASH.to_owned(),
            (Some(x), Kind::Value) => fixed(x, decimals),
            (Some(x), Kind::Difference) => signed(x, decimals),
        };
        let ends = match (is_bounded(interval), interval.estimate) {
            (true, _) => {
                let (open, close) = Standing::of(interval).brackets();
                Some(format!("{open}{}, {}{close}", number(lower), number(upper)))
            }
            (false, Some(_)) if self.intervals => Some(format!("[{DASH}]")),
            _ => None,
        };
        (number(interval.estimate), ends)
    }
}

/// A table that scrolls inside itself, with a button that copies it.
pub(crate) fn frame(m: &mut Markup, id: &str, caption: &str, rows: impl FnOnce(&mut Markup)) {
    m.within("div", &[("class", &"table")], |m| {
        let label = format!("Copy table: {caption}");
        let button: [(&'static str, &dyn Display); 4] =
            [("type", &"button"), ("class", &"quiet moves"), ("data-copy", &id), ("aria-label", &label)];
        m.element("button", &button, "Copy table");
        m.within(
            "div",
            &[("class", &"scroll"), ("tabindex", &"0"), ("role", &"region"), ("aria-label", &caption)],
            |m| {
                m.within("table", &[("id", &id)], |m| {
                    m.element("caption", &[], caption);
                    rows(m);
                });
            },
        );
    });
}

/// The first line of a table, with the columns' colours, where they have any. All but the first columns are of numbers.
pub(crate) fn header(m: &mut Markup, names: &[(String, Option<usize>)]) {
    header_with(m, names, 1);
}

/// The same with more columns of text.
pub(crate) fn header_with(m: &mut Markup, names: &[(String, Option<usize>)], text: usize) {
    m.within("thead", &[], |m| {
        m.within("tr", &[], |m| {
            for (i, (name, policy)) in names.iter().enumerate() {
                let class = if i < text { "" } else { "number" };
                m.within("th", &[("scope", &"col"), ("class", &class)], |m| {
                    if let Some(policy) = policy {
                        key(m, *policy);
                    }
                    m.text(name);
                });
            }
        });
    });
}

/// A policy's colour.
pub(crate) fn key(m: &mut Markup, policy: usize) {
    let class = format!("key {}", swatch(policy));
    m.within("span", &[("class", &class), ("aria-hidden", &"true")], |_| ());
}

/// The terminal's tables: every metric of every policy, then the differences, and why anything is missing.
pub(crate) fn section(m: &mut Markup, page: &Page<'_>, policies: &Grid) {
    let (evaluation, writer) = (page.evaluation, page.writer);
    let differences = compare::grid(evaluation, Shown::new(evaluation, page.settings, Detail::Full));
    let place = |name: &str| evaluation.policies.iter().position(|p| p.name == name);
    let own: Vec<Option<usize>> = (0..evaluation.policies.len()).map(Some).collect();
    grid(m, "metrics", "What each policy's slates are worth", policies, &own, writer);
    if let Some(differences) = &differences {
        let keys: Vec<Option<usize>> = evaluation.comparisons.iter().map(|c| place(&c.policy)).collect();
        grid(m, "differences", "Differences, target minus what it is compared with", differences, &keys, writer);
    }
    let grids: Vec<&Grid> = [policies].into_iter().chain(&differences).collect();
    let missing = notes::missing(&grids, page.voice);
    let bands = notes::bands(evaluation, &missing, page.voice);
    let mut remarks: Vec<String> = missing.lines.into_iter().chain(bands).collect();
    remarks.extend(compare::dominance(evaluation, page.voice));
    if !remarks.is_empty() {
        m.within("ul", &[("class", &"notes")], |m| {
            for remark in remarks.iter().flat_map(|r| paragraphs(r)) {
                m.element("li", &[], remark);
            }
        });
    }
}

/// Lines that were broken for a terminal, put together again: what is indented goes on.
pub(crate) fn paragraphs(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        match out.last_mut() {
            Some(last) if line.starts_with(' ') => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => out.push(on_one_line(line)),
        }
    }
    out
}

fn grid(m: &mut Markup, id: &'static str, caption: &str, grid: &Grid, keys: &[Option<usize>], writer: Writer) {
    frame(m, id, caption, |m| {
        let mut names = vec![(grid.corner.clone(), None)];
        names.extend(grid.columns.iter().zip(keys).map(|(c, key)| (c.name.clone(), *key)));
        if names[0].0.is_empty() {
            names[0].0 = "metric".to_owned();
        }
        header(m, &names);
        m.within("tbody", &[], |m| {
            for (i, label) in grid.labels.iter().enumerate() {
                m.within("tr", &[], |m| {
                    m.element("th", &[("scope", &"row")], label);
                    for column in &grid.columns {
                        match column.cells.get(i) {
                            Some(interval) => writer.cell(m, interval, column.kind),
                            None => {
                                let more = column.more.get(i - column.cells.len());
                                m.element("td", &[("class", &"number")], more.map_or("", |(text, _)| text));
                            }
                        }
                    }
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_come_together() {
        assert_eq!(paragraphs("a b\n  c\nd\n    e"), ["a b c", "d e"]);
    }

    #[test]
    fn cells_say_the_number_twice() {
        let interval = Interval { estimate: Some(-0.51249), lower: Some(-1.0), upper: None, ..Interval::default() };
        let mut m = Markup::default();
        Writer { decimals: 2, intervals: true, exact: true, voice: Voice::CommandLine }.cell(
            &mut m,
            &interval,
            Kind::Difference,
        );
        assert_eq!(
            m.into_string(),
            "<td class=\"number\" data-estimate=\"-0.51249\" data-lower=\"-1\">−0.51 <span class=\"ends\">[−1.00, –]</span></td>"
        );
    }

    #[test]
    fn marked_cells_say_why() {
        let bounds = slateval::Bounds { lower: Some(0.25), upper: Some(0.75) };
        let reason = Some(slateval::Reason::Untested { order: 1, why: slateval::Untested::NoTest });
        let interval = Interval {
            estimate: Some(0.5),
            if_order_holds: Some(bounds),
            conditional: true,
            reason,
            ..Interval::default()
        };
        let cell = |exact: bool| {
            let mut m = Markup::default();
            Writer { decimals: 2, intervals: true, exact, voice: Voice::CommandLine }.cell(
                &mut m,
                &interval,
                Kind::Value,
            );
            m.into_string()
        };
        assert_eq!(
            cell(true),
            "<td class=\"number\" data-estimate=\"0.5\">0.50 <span class=\"ends conditional\" title=\"holds if slots do \
             not interact: this log is too thin to tell (effects of more slots could not be tested)\">(0.25, 0.75)?</span></td>"
        );
        assert_eq!(cell(false), "<td class=\"number\">0.50 <span class=\"ends conditional\">(0.25, 0.75)?</span></td>");
    }
}
