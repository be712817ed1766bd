//! Segments against the whole log: every row is in one of them.

use crate::sums::cell::Cell;
use crate::sums::check::{Fault, Rounding, Section, Sound, Span, within};
use crate::sums::index::{MomentSum, Shared};

/// Refuses segments that do not add up to the whole log.
pub(crate) fn segments_add_up(whole: &Cell, segments: &[&Cell]) -> Sound {
    if segments.is_empty() {
        return Ok(());
    }
    let ranges = || segments.iter().filter_map(|cell| cell.bins.range());
    let hull = ranges().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    if hull != whole.bins.range() {
        return Err(Fault::new(Section::Segments, "their rewards have another range than those of the log"));
    }
    let rounding = Rounding::of(whole.rows);
    let size = hull.map_or(0.0, |(lo, hi)| lo.abs().max(hi.abs())) * whole.rows as f64;
    let rewards = segments.iter().map(|cell| sum_of_rewards(cell)).sum();
    let span = Span::around(rewards, rounding.of_sum(size));
    within(Section::Segments, "the sum of the log's rewards", sum_of_rewards(whole), span)?;
    (0..whole.policies.len()).try_for_each(|p| policy_adds_up(whole, segments, p).map_err(|fault| fault.of_policy(p)))
}

fn sum_of_rewards(cell: &Cell) -> f64 {
    cell.bins.ascending().into_iter().map(|(_, row)| cell.table.row(row)[Shared::Reward.place()]).sum()
}

fn policy_adds_up(whole: &Cell, segments: &[&Cell], p: usize) -> Sound {
    let own = &whole.policies[p];
    let others = || segments.iter().map(|cell| &cell.policies[p]);
    for (m, weight) in own.tally.weights.iter().enumerate() {
        let mut counts: Vec<u64> = vec![0; weight.counts.all().len()];
        for other in others() {
            counts
                .iter_mut()
                .zip(other.tally.weights[m].counts.all())
                .for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
        let negative: u64 = others().map(|other| other.tally.weights[m].negative).sum();
        if counts != weight.counts.all() || negative != weight.negative {
            return Err(Fault::new(Section::Segments, "their weights are not those of the log"));
        }
    }
    let rounding = Rounding::of(whole.rows);
    for k in 0..whole.slots {
        let square = |cell: &Cell| match cell.policies[p].moments.layout.shape.slots > k {
            true => cell.policies[p].moments.get(MomentSum::Ratios { i: k, k }),
            false => 0.0,
        };
        let sum: f64 = segments.iter().map(|cell| square(cell)).sum();
        let span = Span::around(sum, rounding.of_sum(sum));
        within(Section::Segments, format_args!("the log's sum of Z^2 of slot {}", k + 1), square(whole), span)?;
        let hits: u64 = others().map(|other| other.tally.hits.get(k).copied().unwrap_or(0)).sum();
        if own.tally.hits.get(k).copied().unwrap_or(0) != hits {
            return Err(Fault::new(
                Section::Segments,
                format!("their hits of slot {} are not those of the log", k + 1),
            ));
        }
    }
    Ok(())
}
