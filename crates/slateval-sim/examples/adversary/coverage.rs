//! Tables of coverage: how often printed intervals hold the truth.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use slateval_sim::adversary::World;

use crate::seen::{Answers, Kind, Look, Seen};
use crate::trials::{in_parallel, seed, settings};

/// Coverage whose estimate lies more than two standard errors below this is flagged.
const LEAST: f64 = 0.92;

/// Prints the tables.
pub(crate) fn study(worlds: &[World], trials: usize) -> Result<(), Box<dyn Error>> {
    println!("### Coverage of 95% intervals, {trials} trials\n");
    println!("Share of the printed intervals that hold the truth (share that is printed); `!` fails.\n");
    header("world | rows", &["conditional", "withheld", "marked"]);
    let mut second = Vec::new();
    for world in worlds {
        for &rows in world.sizes {
            let begun = Instant::now();
            let looks = looks(world, rows, trials)?;
            println!("| {} | {rows} | {} |", world.name, coverages(&looks).join(" | "));
            second.push(format!("| {} | {rows} | {} |", world.name, widths(&looks).join(" | ")));
            eprintln!("{} {rows}: {:.1} ms a trial", world.name, 1e3 * begun.elapsed().as_secs_f64() / trials as f64);
        }
    }
    println!("\n### Median widths, distances and orders\n");
    println!(
        "*KS* is the mean largest distance of the CDF to the true one; *orders* says how often each was chosen.\n"
    );
    header("world | rows", &["KS", "ESS", "orders"]);
    second.iter().for_each(|line| println!("{line}"));
    println!("\n### Worlds\n");
    worlds.iter().for_each(|world| println!("- `{}`: {}", world.name, world.about));
    Ok(())
}

fn header(first: &str, last: &[&str]) {
    let columns = Answers::NAMES.len() + last.len() + 2;
    println!("| {first} | {} | {} |\n|{}", Answers::NAMES.join(" | "), last.join(" | "), "---|".repeat(columns));
}

/// One look at each trial, or at each segment of each trial.
fn looks(world: &World, rows: usize, trials: usize) -> Result<Vec<Look>, Box<dyn Error>> {
    let answers: Vec<Answers> =
        world.segment_truths().into_iter().map(|truths| Answers::new(truths, world.tail)).collect();
    let found = in_parallel(trials, |trial| {
        let evaluation = world.log(rows, seed(trial))?.evaluate(&settings(world, trial))?;
        // The first policy is the one that wrote the log, the first comparison is with it.
        let looks = match world.is_segmented() {
            false => vec![answers[0].look(&evaluation.policies[1], &evaluation.comparisons[0])],
            true => {
                let places = evaluation.segments.iter().zip(&answers);
                places.map(|(s, answers)| answers.look(&s.policies[1], &s.comparisons[0])).collect()
            }
        };
        Ok::<_, slateval::Error>(looks)
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// One column of all looks.
fn column(looks: &[Look], place: usize) -> impl Iterator<Item = Seen> {
    looks.iter().map(move |look| look.intervals[place])
}

fn coverages(looks: &[Look]) -> Vec<String> {
    let cells = (0..Answers::NAMES.len()).map(|place| {
        let printed: Vec<Seen> = column(looks, place).filter(|seen| seen.kind == Kind::Printed).collect();
        let held = printed.iter().filter(|seen| seen.holds).count();
        coverage(held, printed.len(), looks.len())
    });
    let all = looks.iter().flat_map(|look| &look.intervals);
    let count = (looks.len() * Answers::NAMES.len()) as f64;
    let of = |kind: Kind| share(all.clone().filter(|seen| seen.kind == kind).count() as f64 / count);
    cells.chain([Kind::Conditional, Kind::Withheld, Kind::Marked].map(of)).collect()
}

fn coverage(held: usize, printed: usize, looks: usize) -> String {
    let told = share(printed as f64 / looks as f64);
    if printed == 0 {
        return format!("– ({told})");
    }
    let p = held as f64 / printed as f64;
    let error = (p * (1.0 - p) / printed as f64).sqrt();
    format!("{}{} ({told})", share(p), if p + 2.0 * error < LEAST { "!" } else { "" })
}

fn widths(looks: &[Look]) -> Vec<String> {
    let cells = (0..Answers::NAMES.len()).map(|place| {
        let printed = column(looks, place).filter(|seen| seen.kind == Kind::Printed);
        median(printed.map(|seen| seen.width).collect()).map_or("–".to_owned(), |width| format!("{width:.3}"))
    });
    let distance = looks.iter().map(|look| look.distance).sum::<f64>() / looks.len() as f64;
    let ess = median(looks.iter().filter_map(|look| look.ess).collect());
    let ess = ess.map_or("–".to_owned(), |ess| format!("{ess:.0}"));
    cells.chain([format!("{distance:.4}"), ess, orders(looks)]).collect()
}

fn orders(looks: &[Look]) -> String {
    let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    looks.iter().for_each(|look| *counts.entry(look.order).or_default() += 1);
    let name = |order: &Option<usize>| order.map_or("given".to_owned(), |order| order.to_string());
    let one =
        |(order, n): (&Option<usize>, &usize)| format!("{}: {}", name(order), share(*n as f64 / looks.len() as f64));
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A share without its leading zero.
pub(crate) fn share(p: f64) -> String {
    let text = format!("{p:.2}");
    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
}
