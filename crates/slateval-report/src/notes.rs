//! Why numbers of a table are missing or marked, each reason once.

use slateval::{Evaluation, Interval, PolicyEvaluation, Reason};
use slateval_text::standing::{Standing, has_band, is_bounded};

use crate::Voice;
use crate::grid::Grid;
use crate::text::{name, wrap};

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

/// Why a policy's CDF has no band, or one with a mark, where no interval has said it yet.
pub(crate) fn bands(evaluation: &Evaluation, said: &Notes, voice: Voice) -> Vec<String> {
    let line = |policy: &PolicyEvaluation| {
        let reason = policy.cdf.reason.as_ref().filter(|reason| !said.reasons.contains(reason))?;
        let what = if has_band(policy) { "CDF band" } else { "no CDF band" };
        Some(wrap(&format!("{}: {what}: {}", name(&policy.name), voice.after_mark(reason)), 0, 4))
    };
    evaluation.policies.iter().filter_map(line).collect()
}
