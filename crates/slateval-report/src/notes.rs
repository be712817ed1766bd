//! What numbers cannot say by themselves: why one is missing, and at which confidence the others hold.

use slateval::{Band, Evaluation, Interval, PolicyEvaluation, Settings};

use crate::grid::Grid;
use crate::number::{count, percent};
use crate::standing::{Standing, after_mark, band_ends, is_bounded};
use crate::text::{name, printable, wrap};

/// Something to be said of some cells, once.
struct Note {
    text: String,
    /// A column, and which of its lines.
    places: Vec<(String, Vec<String>)>,
}

/// Why cells of these grids are missing or marked: each reason once, with where it applies.
pub(crate) fn missing(grids: &[&Grid]) -> Vec<String> {
    let mut notes: Vec<Note> = Vec::new();
    for grid in grids {
        for column in &grid.columns {
            for (label, cell) in grid.labels.iter().zip(&column.cells) {
                let Some(text) = text_of(cell) else { continue };
                let note = match notes.iter().position(|n| n.text == text) {
                    Some(known) => &mut notes[known],
                    None => {
                        notes.push(Note { text, places: Vec::new() });
                        notes.last_mut().unwrap_or_else(|| unreachable!("one was just pushed"))
                    }
                };
                match note.places.iter_mut().find(|(name, _)| *name == column.name) {
                    Some((_, labels)) => labels.push(label.clone()),
                    None => note.places.push((column.name.clone(), vec![label.clone()])),
                }
            }
        }
    }
    let columns: Vec<(&str, usize)> =
        grids.iter().flat_map(|g| &g.columns).map(|c| (c.name.as_str(), c.cells.len())).collect();
    notes.iter().map(|note| note.line(&columns)).collect()
}

fn text_of(cell: &Interval) -> Option<String> {
    let reason = printable(cell.reason.as_deref()?);
    Some(match (cell.estimate.is_some(), is_bounded(cell)) {
        (false, _) => format!("– no estimate: {reason}"),
        (true, false) => format!("[–] no interval: {reason}"),
        (true, true) => of_interval(Standing::of(cell), &reason),
    })
}

/// What is to be known of an interval that is there.
fn of_interval(standing: Standing, reason: &str) -> String {
    match standing {
        Standing::Stands => format!("note: {reason}"),
        marked => {
            let (open, close) = marked.brackets();
            format!("{open}…{close} {}", after_mark(reason))
        }
    }
}

impl Note {
    fn line(&self, columns: &[(&str, usize)]) -> String {
        /// More lines than this are not worth naming.
        const NAMED: usize = 3;
        let is_whole = |(name, labels): &(String, Vec<String>)| columns.contains(&(name, labels.len()));
        if self.places.len() == columns.len() && self.places.iter().all(is_whole) {
            return wrap(&self.text.replacen("[–] no interval:", "No intervals:", 1), 0, 4);
        }
        let place = |place: &(String, Vec<String>)| match place {
            (name, _) if is_whole(place) => name.clone(),
            (name, labels) if labels.len() <= NAMED => format!("{name}: {}", labels.join(", ")),
            (name, labels) => format!("{name}: {}, …", labels[..NAMED].join(", ")),
        };
        let places: Vec<String> = self.places.iter().map(place).collect();
        wrap(&format!("{} ({})", self.text, places.join("; ")), 0, 4)
    }
}

/// Whether a policy's CDF has a band to show. Not all bands have one half width.
pub(crate) fn has_band(policy: &PolicyEvaluation) -> bool {
    let (lower, upper) = band_ends(&policy.cdf);
    lower.iter().chain(upper).any(Option::is_some)
}

/// What the brackets are, said once; nothing where there are none.
pub(crate) fn confidence(evaluation: &Evaluation, settings: &Settings) -> Option<String> {
    let mean = |p: &PolicyEvaluation| is_bounded(&p.mean) || has_band(p);
    if settings.band == Band::None || !evaluation.policies.iter().any(mean) {
        return None;
    }
    let how = match settings.band {
        Band::Bernstein => "empirical Bernstein bounds".to_owned(),
        _ => format!("multiplier bootstrap, {} draws, seed {}", count(settings.draws as u64), settings.seed),
    };
    let mut text = format!("In brackets: {} confidence intervals ({how}).", percent(settings.confidence));
    if evaluation.policies.iter().any(has_band) {
        text += " The CDF band holds the whole CDF at once.";
    }
    if !evaluation.comparisons.is_empty() {
        let paired = evaluation.comparisons.iter().all(|c| c.paired);
        text += if paired { " Differences are paired: both policies are judged by the same rows." } else { "" };
    }
    Some(wrap(&text, 0, 0))
}

/// Why a policy's CDF has no band, or one with a mark, where no interval has said it yet.
pub(crate) fn bands(evaluation: &Evaluation, said: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for policy in &evaluation.policies {
        let Some(reason) = policy.cdf.reason.as_deref().map(printable) else { continue };
        let reason = after_mark(&reason);
        // Lines are broken where they end: compare words.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !said.iter().any(|line| words(line).contains(&words(reason))) {
            let what = if has_band(policy) { "CDF band" } else { "no CDF band" };
            lines.push(wrap(&format!("{}: {what}: {reason}", name(&policy.name)), 0, 4));
        }
    }
    lines
}

/// How many groups of clusters intervals rest on, where that is no trouble.
pub(crate) fn clusters(evaluation: &Evaluation) -> Option<String> {
    let checks = evaluation.policies.iter().flat_map(|p| &p.diagnostics.checks);
    let mut good = checks.filter(|check| check.name == "clusters" && check.status == slateval::Status::Ok);
    good.next().map(|check| {
        let message = printable(&check.message);
        wrap(&format!("{}{}.", message[..1].to_uppercase(), &message[1..]), 0, 0)
    })
}

/// What is to be said below a chart of marked intervals, policy by policy, with a space before each sentence. `what` is what
/// the chart draws of them.
pub(crate) fn marks<'p>(policies: impl Iterator<Item = (&'p str, &'p [Interval])>, what: &str) -> String {
    let of = |(policy, intervals): (&str, &'p [Interval])| {
        let marked = intervals.iter().find(|i| Standing::of(i) != Standing::Stands)?;
        Some(mark(policy, Standing::of(marked), marked.reason.as_deref(), what))
    };
    policies.filter_map(of).collect()
}

/// The same of one policy; nothing where nothing is marked.
pub(crate) fn mark(policy: &str, standing: Standing, reason: Option<&str>, what: &str) -> String {
    let (policy, reason) = (name(policy), printable(after_mark(reason.unwrap_or_default())));
    match standing {
        Standing::Stands => String::new(),
        Standing::Conditional => format!(" Dashed: for {policy}, {what} {reason}."),
        Standing::Refuted => format!(" Do not rely on {what} for {policy}: {reason}."),
    }
}
