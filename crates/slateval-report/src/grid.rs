//! Estimates with their intervals, metric by metric and policy by policy.

use comfy_table::{Cell, CellAlignment, Color, Table, presets};
use slateval::Interval;

use crate::number::{decimals, fixed, signed};
use crate::standing::{Standing, ends, is_bounded};
use crate::text::WIDTH;

/// Stands where there is no number.
pub(crate) const DASH: &str = "–";

/// A table with a line for each label and a column for each policy or comparison. Too wide a table is cut into several.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) corner: String,
    pub(crate) labels: Vec<String>,
    pub(crate) columns: Vec<Column>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// One for each label of the grid, as far as there are intervals.
    pub(crate) cells: Vec<Interval>,
    /// One for each label after those.
    pub(crate) more: Vec<(String, Option<Color>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Value,
    /// With a sign, whatever it is.
    Difference,
}

impl Kind {
    /// A number of this kind, or a dash.
    pub(crate) fn number(self, value: Option<f64>, decimals: usize) -> String {
        match (value, self) {
            (None, _) => DASH.to_owned(),
            (Some(x), Kind::Value) => fixed(x, decimals),
            (Some(x), Kind::Difference) => signed(x, decimals),
        }
    }
}

impl Column {
    /// The column's lines, all of the same width so that numbers stand below each other.
    fn lines(&self, decimals: usize) -> Vec<String> {
        let number = |x: Option<f64>| self.kind.number(x, decimals);
        let shown = |i: &Interval| [i.estimate, ends(i).0, ends(i).1].map(number);
        let parts: Vec<[String; 3]> = self.cells.iter().map(shown).collect();
        let bounded: Vec<bool> = self.cells.iter().map(is_bounded).collect();
        let width = |part: usize, of: &dyn Fn(usize) -> bool| {
            let chosen = parts.iter().enumerate().filter(|(i, _)| of(*i));
            chosen.map(|(_, p)| p[part].chars().count()).max().unwrap_or(0)
        };
        let (e, l, u) = (width(0, &|_| true), width(1, &|i| bounded[i]), width(2, &|i| bounded[i]));
        let c = self.cells.iter().map(|i| Standing::of(i).brackets().1.len()).max().unwrap_or(0);
        let brackets = if l + u > 0 { l + u + 3 + c } else { 0 };
        let line = |(i, [estimate, lower, upper]): (usize, &[String; 3])| match (bounded[i], brackets) {
            (true, _) => {
                let (open, close) = Standing::of(&self.cells[i]).brackets();
                format!("{estimate:>e$} {open}{lower:>l$}, {upper:>u$}{close:<c$}")
            }
            (false, 0) => format!("{estimate:>e$}"),
            (false, _) if self.cells[i].estimate.is_none() => format!("{estimate:>e$} {:brackets$}", ""),
            (false, _) => format!("{estimate:>e$} {:<brackets$}", format!("[{DASH}]")),
        };
        parts.iter().enumerate().map(line).collect()
    }
}

impl Grid {
    /// Decimals for the whole grid.
    pub(crate) fn decimals(&self) -> usize {
        decimals_of(&self.columns.iter().flat_map(|c| &c.cells).collect::<Vec<_>>())
    }

    pub(crate) fn render(&self, decimals: usize) -> String {
        let columns: Vec<(&Column, Vec<String>)> = self.columns.iter().map(|c| (c, c.lines(decimals))).collect();
        let widest = |lines: &[String]| lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
        let labels = widest(&self.labels).max(self.corner.chars().count()) + 2;
        let mut tables: Vec<Table> = Vec::new();
        let mut rest = columns.as_slice();
        while !rest.is_empty() {
            let mut width = labels;
            let fits = |(column, lines): &&(&Column, Vec<String>)| {
                width += widest(lines).max(column.name.chars().count()) + 2;
                width <= WIDTH
            };
            let taken = rest.iter().take_while(fits).count().max(1);
            tables.push(self.table(&rest[..taken]));
            rest = &rest[taken..];
        }
        tables.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
    }

    fn table(&self, columns: &[(&Column, Vec<String>)]) -> Table {
        let mut table = new_table();
        let names = columns.iter().map(|(c, _)| right(&c.name));
        table.set_header([Cell::new(&self.corner)].into_iter().chain(names).collect::<Vec<_>>());
        for (i, label) in self.labels.iter().enumerate() {
            let mut row = vec![Cell::new(label)];
            for (column, lines) in columns {
                let more = || column.more.get(i - lines.len());
                row.push(match lines.get(i) {
                    Some(line) => right(line),
                    None => more().map_or(Cell::new(""), |(text, colour)| coloured(right(text), *colour)),
                });
            }
            table.add_row(row);
        }
        table
    }
}

/// Decimals for intervals in one table. With intervals, two digits of them count: what lies beyond is noise. Without, four
/// digits of the largest number, and three of how far numbers lie apart.
pub(crate) fn decimals_of(cells: &[&Interval]) -> usize {
    let half = |i: &&Interval| Some((ends(i).1? - ends(i).0?) / 2.0).filter(|w| *w > 0.0 && w.is_finite());
    let mut places: Vec<i32> = cells.iter().filter_map(half).map(|w| 1 - w.log10().floor() as i32).collect();
    places.sort_unstable();
    let (Some(&median), Some(&most)) = (places.get(places.len() / 2), places.last()) else {
        let estimates = || cells.iter().filter_map(|i| i.estimate).filter(|x| x.is_finite());
        let (low, high) = estimates().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        let typical = estimates().map(f64::abs).filter(|x| *x > 0.0).reduce(f64::min).unwrap_or(0.0);
        let offset = high > 0.0 && low > 0.0 && typical < 1e-6 * high;
        return decimals(estimates()).max(if offset { decimals([typical].into_iter()) } else { 0 });
    };
    usize::try_from(most.min(median + 1).clamp(0, 12)).unwrap_or(0)
}

pub(crate) fn coloured(cell: Cell, colour: Option<Color>) -> Cell {
    match colour {
        Some(colour) => cell.fg(colour),
        None => cell,
    }
}

pub(crate) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

pub(crate) fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(estimate: f64, half: Option<f64>) -> Interval {
        let bound = |sign: f64| half.map(|h| estimate + sign * h);
        Interval { estimate: Some(estimate), lower: bound(-1.0), upper: bound(1.0), ..Interval::default() }
    }

    fn grid(columns: usize, cells: &[Interval]) -> Grid {
        let column =
            |i: usize| Column { name: format!("p{i}"), kind: Kind::Value, cells: cells.to_vec(), more: Vec::new() };
        let labels = (0..cells.len()).map(|i| format!("metric {i}")).collect();
        Grid { corner: String::new(), labels, columns: (0..columns).map(column).collect() }
    }

    #[test]
    fn intervals_decide_over_decimals() {
        let wide = grid(1, &[interval(0.512, Some(0.014)), interval(10.25, Some(0.3))]);
        assert_eq!(wide.decimals(), 3);
        assert!(wide.render(3).contains("0.512 [0.498,  0.526]"), "{}", wide.render(3));
        assert_eq!(grid(1, &[interval(0.512, None)]).decimals(), 4);
        assert_eq!(grid(1, &[interval(5e6, Some(2e4))]).decimals(), 0);
        assert_eq!(grid(1, &[]).decimals(), 0);
    }

    #[test]
    fn missing_intervals_are_dashes_and_numbers_stay_in_line() {
        let gone = Interval { estimate: None, ..interval(0.0, None) };
        let text = grid(1, &[interval(1.5, Some(0.25)), interval(12.0, None), gone]).render(2);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[1], " metric 0   1.50 [1.25, 1.75]");
        assert_eq!(lines[2], " metric 1  12.00 [–]");
        assert_eq!(lines[3], " metric 2      –");
    }

    #[test]
    fn marks_keep_numbers_in_line() {
        let plain = interval(1.5, Some(0.25));
        let bounds = slateval::Bounds { lower: Some(10.0), upper: Some(12.0) };
        let conditional = Interval { if_order_holds: Some(bounds), conditional: true, ..interval(11.0, None) };
        let by = slateval::Refutation::Check(slateval::CheckName::Bias);
        let refuted = Interval { refuted: Some(by), ..plain.clone() };
        let text = grid(2, &[plain, conditional, refuted, interval(12.0, None)]).render(2);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines[1], " metric 0   1.50 [ 1.25,  1.75]    1.50 [ 1.25,  1.75]");
        assert_eq!(lines[2], " metric 1  11.00 (10.00, 12.00)?  11.00 (10.00, 12.00)?");
        assert_eq!(lines[3], " metric 2   1.50 [ 1.25,  1.75]!   1.50 [ 1.25,  1.75]!");
        assert_eq!(lines[4], " metric 3  12.00 [–]              12.00 [–]");
    }

    #[test]
    fn wide_tables_are_cut() {
        let text = grid(9, &[interval(1.5, Some(0.25))]).render(2);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("[1.25, 1.75]").count(), 9);
    }
}
