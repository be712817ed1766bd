//! Slates without repeats, all equally likely: the inverse in closed form.

use crate::inverse::Solved;

/// Solves for a target's probability of each cell.
pub(crate) fn solve(target: &[f64], slots: usize, items: usize) -> Solved {
    let anywhere = |item: usize| -> f64 { (0..slots).map(|slot| target[slot * items + item]).sum() };
    let (many, width) = (items as f64, slots as f64);
    if slots == items {
        let effects = target.iter().map(|p| (many - 1.0) * p - (many - 2.0) / width).collect();
        let beyond = (0..items).map(|item| (anywhere(item) - 1.0).abs()).fold(0.0, f64::max);
        return Solved { effects, beyond };
    }
    let constant = (width - 1.0) / (many - width) + (width - 1.0) / width;
    let shared: Vec<f64> = (0..items).map(|item| anywhere(item) / (many - width)).collect();
    let effect = |(cell, p): (usize, &f64)| (many - 1.0) * (p + shared[cell % items]) - constant;
    Solved { effects: target.iter().enumerate().map(effect).collect(), beyond: 0.0 }
}
