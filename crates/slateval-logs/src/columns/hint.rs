//! What a user may have meant by the name of a column that is not there.

use std::collections::HashSet;

/// Columns that the Open Bandit Pipeline gives the propensity of a whole slate, repeated in the rows of its slots.
pub(crate) const OF_WHOLE_SLATES: [&str; 2] = ["pscore", "evaluation_policy_pscore"];

/// Why a column of whole slates is no way out where each slot's own number is needed.
pub(crate) fn not_of_slots(name: &str) -> String {
    format!(
        " `{name}` is the propensity of the whole slate, and each slot's own is needed: in the Open Bandit Pipeline, ask for \
         it with `return_pscore_item_position=True`."
    )
}

/// The names nearest to the one asked for, or all of them if none is near.
pub(crate) fn hint(column: &str, names: &[&str], slots: bool) -> String {
    if let [only] = names
        && only.contains(['\t', ';', '|', ','])
    {
        return format!(
            "Its only column is `{only}`: is the separator right? Files named .csv have commas between their cells, and those \
             named .tsv have tabs."
        );
    }
    let near = nearest(column, names, slots);
    let quoted =
        |names: &[&str], between: &str| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(between);
    match (near.is_empty(), names.len()) {
        (false, _) => format!("Did you mean {}?", quoted(&near, " or ")),
        (true, 0) => "It has no columns at all.".into(),
        (true, n) if n <= 12 => format!("It has {}.", quoted(names, ", ")),
        (true, n) => format!("It has {} and {} more.", quoted(&names[..12], ", "), n - 12),
    }
}

/// At most three names near to the one asked for, the nearest first. Where columns for slots are wanted, names are taken
/// without their numbers, for that is how the user gives them.
fn nearest<'a>(wanted: &str, names: &[&'a str], slots: bool) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let score = |name: &str| {
        let name = name.to_lowercase();
        // `pi_new` for `pi` is no slip of the finger but a policy's name left out, and likelier than one.
        let longer = if name.starts_with(&wanted) { 1.0 } else { 0.0 };
        longer + strsim::jaro_winkler(&name, &wanted)
    };
    let mut seen = HashSet::new();
    let bases = names.iter().map(|&name| if slots { base_of(name) } else { name }).filter(|&base| seen.insert(base));
    let mut near: Vec<(f64, &str)> = bases.map(|base| (score(base), base)).filter(|(score, _)| *score > 0.8).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(3).map(|(_, base)| base).collect()
}

/// A column's name without its number: `pi_new` of `pi_new_1`.
fn base_of(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((base, number)) if !base.is_empty() && number.parse::<usize>().is_ok() => base,
        _ => name,
    }
}
