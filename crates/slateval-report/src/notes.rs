//! What numbers cannot say by themselves: why one is missing, and at which confidence the others hold.

use slateval::{Band, CheckName, Evaluation, Interval, PolicyEvaluation, Reason, Settings};

use crate::Voice;
use crate::grid::Grid;
use crate::number::{count, percent};
use crate::standing::{Standing, band_ends, is_bounded};
use crate::terminal::Detail;
use crate::text::{name, sentence, wrap};

/// Something to be said of some cells, once.
struct Note {
    kind: NoteKind,
    reason: Reason,
    /// A column, and which of its lines.
    places: Vec<(String, Vec<String>)>,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoteKind {
    NoEstimate,
    NoInterval,
    /// Of an interval that is there.
    Interval(Standing),
}

/// Notes for people, and the reasons that they give.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) lines: Vec<String>,
    reasons: Vec<Reason>,
}

/// Why cells of these grids are missing or marked: each reason once, with where it applies.
pub(crate) fn missing(grids: &[&Grid], voice: Voice) -> Notes {
    let mut notes: Vec<Note> = Vec::new();
    for grid in grids {
        for column in &grid.columns {
            for (label, cell) in grid.labels.iter().zip(&column.cells) {
                let Some(reason) = &cell.reason else { continue };
                let kind = NoteKind::of(cell);
                let note = match notes.iter().position(|n| n.kind == kind && n.reason == *reason) {
                    Some(known) => &mut notes[known],
                    None => {
                        notes.push(Note { kind, reason: reason.clone(), places: Vec::new() });
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
    let lines = notes.iter().map(|note| note.line(&columns, voice)).collect();
    Notes { lines, reasons: notes.into_iter().map(|note| note.reason).collect() }
}

impl NoteKind {
    fn of(cell: &Interval) -> Self {
        match (cell.estimate.is_some(), is_bounded(cell)) {
            (false, _) => NoteKind::NoEstimate,
            (true, false) => NoteKind::NoInterval,
            (true, true) => NoteKind::Interval(Standing::of(cell)),
        }
    }
}

impl Note {
    fn text(&self, voice: Voice) -> String {
        match self.kind {
            NoteKind::NoEstimate => format!("– no estimate: {}", voice.reason(&self.reason)),
            NoteKind::NoInterval => format!("[–] no interval: {}", voice.reason(&self.reason)),
            NoteKind::Interval(Standing::Stands) => format!("note: {}", voice.reason(&self.reason)),
            NoteKind::Interval(marked) => {
                let (open, close) = marked.brackets();
                format!("{open}…{close} {}", voice.after_mark(&self.reason))
            }
        }
    }

    fn line(&self, columns: &[(&str, usize)], voice: Voice) -> String {
        /// More lines than this are not worth naming.
        const NAMED: usize = 3;
        let is_whole = |(name, labels): &(String, Vec<String>)| columns.contains(&(name, labels.len()));
        if self.places.len() == columns.len() && self.places.iter().all(is_whole) {
            let text = match self.kind {
                NoteKind::NoInterval => format!("No intervals: {}", voice.reason(&self.reason)),
                _ => self.text(voice),
            };
            return wrap(&text, 0, 4);
        }
        let place = |place: &(String, Vec<String>)| match place {
            (name, _) if is_whole(place) => name.clone(),
            (name, labels) if labels.len() <= NAMED => format!("{name}: {}", labels.join(", ")),
            (name, labels) => format!("{name}: {}, …", labels[..NAMED].join(", ")),
        };
        let places: Vec<String> = self.places.iter().map(place).collect();
        wrap(&format!("{} ({})", self.text(voice), places.join("; ")), 0, 4)
    }
}

/// Whether a policy's CDF has a band to show. Not all bands have one half width.
pub(crate) fn has_band(policy: &PolicyEvaluation) -> bool {
    let (lower, upper) = band_ends(&policy.cdf);
    lower.iter().chain(upper).any(Option::is_some)
}

/// What the brackets are, said once; nothing where there are none.
pub(crate) fn confidence(evaluation: &Evaluation, settings: &Settings, detail: Detail) -> Option<String> {
    let mean = |p: &PolicyEvaluation| is_bounded(&p.mean) || has_band(p);
    if settings.band == Band::None || !evaluation.policies.iter().any(mean) {
        return None;
    }
    let how = match settings.band {
        Band::Bernstein => "empirical Bernstein bounds".to_owned(),
        _ => format!("multiplier bootstrap, {} draws, seed {}", count(settings.draws as u64), settings.seed),
    };
    let mut text = format!("In brackets: {} confidence intervals ({how}).", percent(settings.confidence));
    if detail == Detail::Full && evaluation.policies.iter().any(has_band) {
        text += " The CDF band holds the whole CDF at once.";
    }
    if !evaluation.comparisons.is_empty() {
        let paired = evaluation.comparisons.iter().all(|c| c.paired);
        text += if paired { " Differences are paired: both policies are judged by the same rows." } else { "" };
    }
    Some(wrap(&text, 0, 0))
}

/// Why a policy's CDF has no band, or one with a mark, where no interval has said it yet.
pub(crate) fn bands(evaluation: &Evaluation, said: &Notes, voice: Voice) -> Vec<String> {
    let line = |policy: &PolicyEvaluation| {
        let reason = policy.cdf.reason.as_ref().filter(|reason| !said.reasons.contains(reason))?;
        let what = if has_band(policy) { "CDF band" } else { "no CDF band" };
        Some(wrap(&format!("{}: {what}: {}", name(&policy.name), voice.after_mark(reason)), 0, 4))
    };
    evaluation.policies.iter().filter_map(line).collect()
}

/// How many groups of clusters intervals rest on, where that is no trouble.
pub(crate) fn clusters(evaluation: &Evaluation, voice: Voice) -> Option<String> {
    let checks = evaluation.policies.iter().flat_map(|p| &p.diagnostics.checks);
    let mut good = checks.filter(|check| check.name() == CheckName::Clusters && check.status == slateval::Status::Ok);
    good.next().map(|check| {
        let message = voice.finding(&check.finding);
        wrap(&sentence(&message), 0, 0)
    })
}

/// What is to be said below a chart of marked intervals, policy by policy, with a space before each sentence. `what` is what
/// the chart draws of them.
pub(crate) fn marks<'p>(policies: impl Iterator<Item = (&'p str, &'p [Interval])>, what: &str, voice: Voice) -> String {
    let of = |(policy, intervals): (&str, &'p [Interval])| {
        let marked = intervals.iter().find(|i| Standing::of(i) != Standing::Stands)?;
        Some(mark(policy, Standing::of(marked), marked.reason.as_ref(), what, voice))
    };
    policies.filter_map(of).collect()
}

/// The same of one policy; nothing where nothing is marked.
pub(crate) fn mark(policy: &str, standing: Standing, reason: Option<&Reason>, what: &str, voice: Voice) -> String {
    let policy = name(policy);
    let reason = reason.map(|reason| voice.after_mark(reason)).unwrap_or_default();
    match standing {
        Standing::Stands => String::new(),
        Standing::Conditional => format!(" Dashed: for {policy}, {what} {reason}."),
        Standing::Refuted => format!(" Do not rely on {what} for {policy}: {reason}."),
    }
}
