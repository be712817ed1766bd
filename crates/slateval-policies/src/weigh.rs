//! The weights of all rows of a log. Rows with one logging policy share one inverse.

use rayon::prelude::*;

use crate::inverse::{Inverse, Solved};
use crate::moments::{Drawn, Moments};
use crate::plackett_luce::PlackettLuce;
use crate::ranker_marginals::{Stream, draw};
use crate::{Continue, Effort, Error, Tell, uniform};

/// A slate or a target is out of reach if more than this of a probability is.
const TOLERANCE: f64 = 1e-6;

/// Logging policies over whole slates.
#[derive(Debug, Clone, Copy)]
pub enum Logging<'a> {
    /// All slates without repeats are equally likely.
    Uniform,
    /// Plackett–Luce rankers, one row of scores for each.
    Rankers {
        /// As many scores as there are items, one ranker after the other.
        scores: &'a [f64],
    },
    /// The same slates for all policies, each with its own probabilities.
    Listed {
        /// The slates, one after the other.
        slates: &'a [u32],
        /// The probability of each slate, one policy after the other.
        probability: &'a [f64],
    },
    /// One policy, known from slates drawn in parts of equal size.
    Drawn {
        /// The slates, one after the other.
        slates: &'a [u32],
        /// The number of parts.
        parts: usize,
    },
}

/// The slates that were shown, and which policies each row has.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Slots of a slate.
    pub slots: usize,
    /// Items that any policy knows.
    pub items: usize,
    /// The item in each slot, row after row.
    pub actions: &'a [i64],
    /// The logging policy of each row.
    pub policy: &'a [i64],
    /// The target of each row.
    pub goal: &'a [i64],
}

/// Targets.
#[derive(Debug, Clone, Copy)]
pub enum Goals<'a> {
    /// Each target always shows one slate.
    Certain {
        /// The slates, one after the other.
        slates: &'a [i64],
    },
    /// The probability of each cell.
    Marginals {
        /// In how many parts they were drawn; 1 if they are exact.
        parts: usize,
        /// One part after the other, in each one target after the other, in each one cell after the other.
        values: &'a [f64],
    },
}

/// What was found for each row.
#[derive(Debug, Default)]
pub struct Weights {
    /// The weight.
    pub weights: Vec<f64>,
    /// Its standard error from having drawn slates, 0 where none were drawn.
    pub errors: Vec<f64>,
    /// How far the target lies outside of what logging can tell of, in probability.
    pub beyond: Vec<f64>,
    /// Whether any slates were drawn.
    pub sampled: bool,
}

/// The weight of each row of `shown`. Takes all threads of the pool it is called in; the numbers do not depend on them.
///
/// # Errors
/// [`Error::NeverShown`] or [`Error::NotDrawn`] for a slate that logging cannot have shown, [`Error::Size`] for arrays
/// that do not fit together, [`Error::Stopped`] if `tell` says so.
pub fn weigh(
    shown: &Shown<'_>,
    logging: &Logging<'_>,
    goals: &Goals<'_>,
    effort: &Effort,
    tell: Tell<'_>,
) -> Result<Weights, Error> {
    let work = Work { shown, logging, goals, effort };
    work.check()?;
    let groups = work.groups();
    let found = groups.par_iter().map(|(policy, rows)| {
        let found = work.group(*policy, rows)?;
        match tell(rows.len() as u64) {
            Continue::Yes => Ok((rows, found)),
            Continue::No => Err(Error::Stopped),
        }
    });
    // Collected in order: of several errors, the first policy's is the one that is told.
    let found = found.collect::<Vec<Result<_, Error>>>();
    let count = shown.policy.len();
    let zeros = || vec![0.0; count];
    let mut all = Weights { weights: zeros(), errors: zeros(), beyond: zeros(), sampled: goals.parts() > 1 };
    for found in found {
        let (rows, group) = found?;
        all.sampled |= group.sampled;
        for (at, &row) in rows.iter().enumerate() {
            all.weights[row] = group.weights[at];
            all.errors[row] = group.errors[at];
            all.beyond[row] = group.beyond[at];
        }
    }
    Ok(all)
}

struct Work<'a> {
    shown: &'a Shown<'a>,
    logging: &'a Logging<'a>,
    goals: &'a Goals<'a>,
    effort: &'a Effort,
}

/// How one logging policy answers for a target.
#[derive(Default)]
struct Solver {
    /// None for slates that are all equally likely, whose inverse has a closed form.
    inverse: Option<Inverse>,
    /// The slates that the inverse is of, where they were drawn, and how often each two cells are together in them.
    drawn: Option<(Drawn, Moments)>,
}

impl Work<'_> {
    fn size(&self) -> usize {
        self.shown.slots * self.shown.items
    }

    fn check(&self) -> Result<(), Error> {
        let Shown { slots, items, actions, policy, goal } = *self.shown;
        let within = |values: &[i64], end: usize| values.iter().all(|&v| usize::try_from(v).is_ok_and(|v| v < end));
        let targets = match self.goals {
            Goals::Certain { slates } if within(slates, items) => slates.len() / slots.max(1),
            Goals::Certain { .. } => 0,
            Goals::Marginals { parts, values } => values.len() / (*parts).max(1) / self.size().max(1),
        };
        let policies = match self.logging {
            Logging::Uniform | Logging::Drawn { .. } => 1,
            Logging::Rankers { scores } => scores.len() / items.max(1),
            Logging::Listed { slates, probability } => probability.len() / (slates.len() / slots.max(1)).max(1),
        };
        let checks = [
            ("actions", actions.len() == policy.len() * slots && within(actions, items)),
            ("policy", within(policy, policies)),
            ("goal", goal.len() == policy.len() && within(goal, targets)),
        ];
        checks.iter().try_for_each(|&(name, fits)| if fits { Ok(()) } else { Err(Error::Size(name)) })
    }

    /// The rows of each policy, in the order of the policies.
    fn groups(&self) -> Vec<(usize, Vec<usize>)> {
        let mut rows: Vec<usize> = (0..self.shown.policy.len()).collect();
        rows.sort_by_key(|&row| self.shown.policy[row]);
        let same = |&one: &usize, &other: &usize| self.shown.policy[one] == self.shown.policy[other];
        rows.chunk_by(same).map(|rows| (self.shown.policy[rows[0]] as usize, rows.to_vec())).collect()
    }

    fn group(&self, policy: usize, rows: &[usize]) -> Result<Weights, Error> {
        let solver = self.solver(policy);
        self.check_shown(&solver, rows)?;
        let (weights, beyond) = self.weights(solver.inverse.as_ref(), rows, None);
        let parts = solver.drawn.as_ref().map_or(1, |(drawn, _)| drawn.parts).max(self.goals.parts());
        let errors = if parts > 1 { self.errors(&solver, rows, parts) } else { vec![0.0; rows.len()] };
        Ok(Weights { weights, errors, beyond, sampled: parts > 1 })
    }

    fn solver(&self, policy: usize) -> Solver {
        let Shown { slots, items, .. } = *self.shown;
        match *self.logging {
            Logging::Uniform => Solver::default(),
            Logging::Rankers { scores } => {
                let ranker = PlackettLuce::new(&scores[policy * items..][..items], slots);
                if ranker.sets() <= self.effort.limit {
                    return Solver::exact(&ranker.moments());
                }
                let slates = draw(&ranker, policy, Stream::Logging, slots, self.effort);
                self.drawn(slates, self.effort.parts)
            }
            Logging::Listed { slates, probability } => {
                let probability = &probability[policy * (slates.len() / slots)..][..slates.len() / slots];
                Solver::exact(&Moments::of_slates(slates, slots, items, |slate| probability[slate]))
            }
            Logging::Drawn { slates, parts } => self.drawn(slates.to_vec(), parts),
        }
    }

    fn drawn(&self, slates: Vec<u32>, parts: usize) -> Solver {
        let Shown { slots, items, .. } = *self.shown;
        let drawn = Drawn { slates, slots, items, parts };
        let counts = drawn.counts();
        let inverse = Inverse::new(&mean(counts.clone(), drawn.count()));
        Solver { inverse: Some(inverse), drawn: Some((drawn, counts)) }
    }

    /// Refuses slates that the policy does not show, or that its draws do not tell of.
    fn check_shown(&self, solver: &Solver, rows: &[usize]) -> Result<(), Error> {
        let Some(inverse) = &solver.inverse else { return Ok(()) };
        for &row in rows {
            let shows = self.cells(row).all(|cell| inverse.shows(cell));
            match solver.drawn {
                Some(_) if !shows || self.is_untold(inverse, row) => return Err(Error::NotDrawn { row }),
                None if !shows => return Err(Error::NeverShown { row }),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_untold(&self, inverse: &Inverse, row: usize) -> bool {
        let mut marks = vec![0.0; self.size()];
        self.cells(row).for_each(|cell| marks[cell] = 1.0);
        inverse.beyond(&marks) > TOLERANCE
    }

    fn cells(&self, row: usize) -> impl Iterator<Item = usize> {
        let Shown { slots, items, actions, .. } = *self.shown;
        actions[row * slots..][..slots].iter().enumerate().map(move |(slot, &item)| slot * items + item as usize)
    }

    /// The delete-one-part jackknife.
    fn errors(&self, solver: &Solver, rows: &[usize], parts: usize) -> Vec<f64> {
        let without = (0..parts).into_par_iter().map(|part| match &solver.drawn {
            Some((drawn, counts)) => {
                let rest = drawn.count() * (1.0 - 1.0 / drawn.parts as f64);
                let inverse = Inverse::new(&mean(counts.without(&drawn.part(part)), rest));
                self.weights(Some(&inverse), rows, Some(part)).0
            }
            None => self.weights(solver.inverse.as_ref(), rows, Some(part)).0,
        });
        let without: Vec<Vec<f64>> = without.collect();
        let count = parts as f64;
        let error = |row: usize| {
            let mean = without.iter().map(|weights| weights[row]).sum::<f64>() / count;
            let squares: f64 = without.iter().map(|weights| (weights[row] - mean).powi(2)).sum();
            ((count - 1.0) / count * squares).sqrt()
        };
        (0..rows.len()).map(error).collect()
    }

    /// The weights of `rows`, and how far each target is out of reach.
    fn weights(&self, inverse: Option<&Inverse>, rows: &[usize], without: Option<usize>) -> (Vec<f64>, Vec<f64>) {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&at| self.shown.goal[rows[at]]);
        let same = |&one: &usize, &other: &usize| self.shown.goal[rows[one]] == self.shown.goal[rows[other]];
        let of_goal = |places: &[usize]| {
            let target = self.target(self.shown.goal[rows[places[0]]] as usize, without);
            let solved = match inverse {
                None => uniform::solve(&target, self.shown.slots, self.shown.items),
                Some(inverse) => inverse.solve(&target),
            };
            let weight = |&at: &usize| (at, self.weight(&solved, rows[at]), solved.beyond);
            places.iter().map(weight).collect::<Vec<_>>()
        };
        let goals: Vec<&[usize]> = order.chunk_by(same).collect();
        let found: Vec<_> = goals.into_par_iter().flat_map_iter(of_goal).collect();
        let (mut weights, mut beyond) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        for (at, weight, out) in found {
            (weights[at], beyond[at]) = (weight, out);
        }
        (weights, beyond)
    }

    /// A target's probability of each cell, averaged over all parts but one.
    fn target(&self, which: usize, without: Option<usize>) -> Vec<f64> {
        let (size, slots) = (self.size(), self.shown.slots);
        let mut target = vec![0.0; size];
        match self.goals {
            Goals::Certain { slates } => {
                let slate = slates[which * slots..][..slots].iter().enumerate();
                slate.for_each(|(slot, &item)| target[slot * self.shown.items + item as usize] = 1.0);
            }
            Goals::Marginals { parts, values } => {
                let each = values.len() / parts;
                let taken: Vec<usize> = (0..*parts).filter(|&part| *parts == 1 || Some(part) != without).collect();
                for part in &taken {
                    let own = &values[part * each + which * size..][..size];
                    target.iter_mut().zip(own).for_each(|(sum, p)| *sum += p / taken.len() as f64);
                }
            }
        }
        target
    }

    fn weight(&self, solved: &Solved, row: usize) -> f64 {
        self.cells(row).map(|cell| solved.effects[cell]).sum()
    }
}

impl Solver {
    fn exact(moments: &Moments) -> Self {
        Solver { inverse: Some(Inverse::new(moments)), drawn: None }
    }
}

impl Goals<'_> {
    fn parts(&self) -> usize {
        if let Goals::Marginals { parts, .. } = self { *parts } else { 1 }
    }
}

fn mean(mut counts: Moments, of: f64) -> Moments {
    counts.values.iter_mut().for_each(|count| *count /= of);
    counts
}
