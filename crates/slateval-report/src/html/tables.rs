//! Tables of estimates.

use slateval::{Band, Interval, Settings};

use super::Page;
use crate::chart::swatch;
use crate::grid::{DASH, Grid, Kind};
use crate::markup::{Markup, html};
use crate::metrics::Shown;
use crate::number::at_least_two_digits;
use crate::standing::{Standing, ends, is_bounded};
use crate::terminal::Detail;
use crate::text::{name, on_one_line};
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
    pub(crate) fn cell(self, m: &mut Markup, interval: Option<&Interval>, kind: Kind) {
        match interval {
            Some(interval) => self.cell_with(m, interval, kind, None, &Markup::default()),
            None => html!(m, r#"<td class="number">{}</td>"#, DASH),
        }
    }

    /// The same with what a script knows it by, and with something below the numbers.
    pub(crate) fn cell_with(
        self,
        m: &mut Markup,
        interval: &Interval,
        kind: Kind,
        what: Option<&'static str>,
        below: &Markup,
    ) {
        let exact = [("estimate", interval.estimate), ("lower", interval.lower), ("upper", interval.upper)];
        html!(m, r#"<td class="number""#);
        for (end, value) in exact.into_iter().filter_map(|(end, value)| Some((end, value.filter(|_| self.exact)?))) {
            html!(m, r#" data-{}="{}""#, end, value);
        }
        if let Some(what) = what {
            html!(m, r#" data-what="{}""#, what);
        }
        let (estimate, ends) = self.words(interval, kind);
        html!(m, ">{}", estimate);
        if let Some(ends) = ends {
            self.ends(m, interval, &ends);
        }
        m.add(below);
        html!(m, "</td>");
    }

    /// The ends; a mark says why when the pointer rests on it. The notes say it to everyone.
    fn ends(self, m: &mut Markup, interval: &Interval, ends: &str) {
        let standing = Standing::of(interval);
        html!(m, r#" <span class="ends{}""#, standing.class());
        if let Some(reason) = interval.reason.as_ref().filter(|_| self.exact && standing != Standing::Stands) {
            html!(m, r#" title="{}""#, self.voice.after_mark(reason));
        }
        html!(m, ">{}</span>", ends);
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
        let number = |x: Option<f64>| kind.number(x, decimals);
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

/// The head of a column.
#[derive(Debug)]
pub(crate) struct Head {
    name: String,
    class: &'static str,
    /// Whose colour stands before the name.
    policy: Option<usize>,
}

impl Head {
    pub(crate) fn text(name: impl Into<String>) -> Self {
        Head { name: name.into(), class: "", policy: None }
    }

    pub(crate) fn number(name: impl Into<String>) -> Self {
        Head { name: name.into(), class: "number", policy: None }
    }

    pub(crate) fn of(self, policy: Option<usize>) -> Self {
        Head { policy, ..self }
    }
}

/// Writes what stands in a column of a line.
type Cell<'t, L> = Box<dyn Fn(&mut Markup, &L) + 't>;

/// A table as a list of columns, each with its head and with what stands in it of a line.
pub(crate) struct Table<'t, L> {
    id: &'t str,
    caption: &'t str,
    class: Option<&'static str>,
    /// The policy of a line, where a script has to find it.
    policy: Option<fn(&L) -> usize>,
    columns: Vec<(Head, Cell<'t, L>)>,
}

impl<'t, L> Table<'t, L> {
    pub(crate) fn new(id: &'t str, caption: &'t str) -> Self {
        Table { id, caption, class: None, policy: None, columns: Vec::new() }
    }

    /// What style sheets know its lines by.
    pub(crate) fn class(self, class: &'static str) -> Self {
        Table { class: Some(class), ..self }
    }

    pub(crate) fn found_by(self, policy: fn(&L) -> usize) -> Self {
        Table { policy: Some(policy), ..self }
    }

    pub(crate) fn column(mut self, head: Head, cell: impl Fn(&mut Markup, &L) + 't) -> Self {
        self.columns.push((head, Box::new(cell)));
        self
    }

    /// The table, scrolling inside itself, with a button that copies it.
    pub(crate) fn write(self, m: &mut Markup, lines: impl IntoIterator<Item = L>) {
        html!(m, r#"<div class="table"><button type="button" class="quiet moves" data-copy="{}""#, self.id);
        html!(m, r#" aria-label="Copy table: {}">Copy table</button>"#, self.caption);
        html!(m, r#"<div class="scroll" tabindex="0" role="region" aria-label="{}">"#, self.caption);
        html!(m, r#"<table id="{}"><caption>{}</caption><thead><tr>"#, self.id, self.caption);
        for (head, _) in &self.columns {
            html!(m, r#"<th scope="col" class="{}">"#, head.class);
            head.policy.into_iter().for_each(|policy| key(m, policy));
            html!(m, "{}</th>", head.name);
        }
        html!(m, "</tr></thead><tbody");
        self.class.into_iter().for_each(|class| html!(m, r#" class="{}""#, class));
        html!(m, ">");
        for line in lines {
            html!(m, "<tr");
            self.policy.into_iter().for_each(|policy| html!(m, r#" data-policy="{}""#, policy(&line)));
            html!(m, ">");
            self.columns.iter().for_each(|(_, cell)| cell(m, &line));
            html!(m, "</tr>");
        }
        html!(m, "</tbody></table></div></div>");
    }
}

/// A policy's colour.
pub(crate) fn key(m: &mut Markup, policy: usize) {
    html!(m, r#"<span class="key {}" aria-hidden="true"></span>"#, swatch(policy));
}

/// The head of a policy's line.
pub(crate) fn policy_head(m: &mut Markup, place: usize, policy: &str) {
    html!(m, r#"<th scope="row">"#);
    key(m, place);
    html!(m, "{}</th>", name(policy));
}

/// The terminal's tables: every metric of every policy, then the differences, and why anything is missing.
pub(crate) fn section(m: &mut Markup, page: &Page<'_>, policies: &Grid) {
    let (evaluation, writer) = (page.evaluation, page.writer);
    let differences = compare::grid(evaluation, Shown::new(evaluation, page.settings, Detail::Full));
    let place = |policy: &str| evaluation.policies.iter().position(|p| p.name == policy);
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
        let remarks = remarks.iter().flat_map(|r| paragraphs(r));
        m.within(r#"ul class="notes""#, |m| remarks.for_each(|remark| html!(m, "<li>{}</li>", remark)));
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
    let corner = if grid.corner.is_empty() { "metric" } else { &grid.corner };
    let mut table = Table::new(id, caption)
        .column(Head::text(corner), |m, i: &usize| html!(m, r#"<th scope="row">{}</th>"#, grid.labels[*i]));
    for (column, policy) in grid.columns.iter().zip(keys) {
        table = table.column(Head::number(&column.name).of(*policy), |m, i| match column.cells.get(*i) {
            Some(interval) => writer.cell(m, Some(interval), column.kind),
            None => {
                let more = column.more.get(i - column.cells.len());
                html!(m, r#"<td class="number">{}</td>"#, more.map_or("", |(text, _)| text));
            }
        });
    }
    table.write(m, 0..grid.labels.len());
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
            Some(&interval),
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
                Some(&interval),
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
