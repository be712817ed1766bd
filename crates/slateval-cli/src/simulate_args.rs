//! The command line of `slateval simulate`, as typed.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use slateval_sim::{Gain, Policy, Target};

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(subcommand)]
    pub(crate) world: World,
}

#[derive(Debug, Subcommand)]
pub(crate) enum World {
    /// A CDF that is a mean over slots: what the additive weight needs
    Additive(Additive),
    /// A CDF that is a mean over pairs of slots: what order 2 needs
    Pairwise(Pairwise),
    /// (n)DCG of slates for the users of a ratings file
    Ratings(Box<Ratings>),
    /// Clicks that depend on what stands above
    Cascade(Cascade),
}

#[derive(Debug, Args)]
pub(crate) struct Additive {
    /// Slots of a slate
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = count)]
    pub(crate) slots: usize,
    /// Items for each slot
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count)]
    pub(crate) items: usize,
    /// slices of the logistic function, as in the paper, or powers
    #[arg(long, value_name = "CURVES", default_value = "slices", value_parser = ["slices", "powers"])]
    pub(crate) curves: String,
    #[command(flatten)]
    pub(crate) log: Log,
}

#[derive(Debug, Args)]
pub(crate) struct Pairwise {
    /// Slots of a slate
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = count)]
    pub(crate) slots: usize,
    /// Items for each slot
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = count)]
    pub(crate) items: usize,
    /// Take the first instance, however strong its interactions are for the first target [default: one whose pairs move
    /// the CDF by .10 to .13, and whose single slots by .05 or more]
    #[arg(long)]
    pub(crate) any_interaction: bool,
    #[command(flatten)]
    pub(crate) log: Log,
}

#[derive(Debug, Args)]
pub(crate) struct Ratings {
    /// userId,movieId,rating,timestamp as CSV with a header, `::`-separated without one, or Parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) ratings: PathBuf,
    /// Slots of a slate
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = count)]
    pub(crate) slots: usize,
    /// Candidates of each user
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = count)]
    pub(crate) items: usize,
    /// ndcg, or dcg, which is not divided by the user's ideal
    #[arg(long, value_name = "REWARD", default_value = "ndcg", value_parser = str::parse::<Gain>)]
    pub(crate) reward: Gain,
    /// Ratings from here on are likes
    #[arg(long, value_name = "R", default_value_t = 4.0)]
    pub(crate) threshold: f32,
    /// Users with fewer likes are left out of the model
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count)]
    pub(crate) fewest: usize,
    /// Slates are for users with so many likes
    #[arg(long, value_name = "FROM-TO", default_value = "10-15", value_parser = range)]
    pub(crate) likes: RangeInclusive<usize>,
    /// Ridge of the model (EASE)
    #[arg(long, value_name = "L", default_value_t = 500.0)]
    pub(crate) lambda: f64,
    #[command(flatten)]
    pub(crate) log: Log,
}

#[derive(Debug, Args)]
pub(crate) struct Cascade {
    /// Slots of a slate
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = count)]
    pub(crate) slots: usize,
    /// Items for each slot
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = count)]
    pub(crate) items: usize,
    #[command(flatten)]
    pub(crate) log: Log,
}

/// What all worlds have in common.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Slates to log
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,
    /// Who writes the log: uniform, epsilon-greedy:E, softmax:S, ranking, or mismatch, which is ranking with propensities
    /// that are wrong for slots
    #[arg(long, value_name = "POLICY", default_value = "uniform", value_parser = str::parse::<Policy>)]
    pub(crate) logging: Policy,
    /// Whom the log is to judge: uniform, deterministic, epsilon-greedy:E, softmax:S, ranking or plackett-luce:S; may be
    /// given several times [default: deterministic for additive, epsilon-greedy for pairwise and ratings, softmax:3 for
    /// cascade]
    #[arg(long, value_name = "[NAME=]POLICY", value_parser = target)]
    pub(crate) target: Vec<Target>,
    /// Where chance begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Slates of each policy for a truth that cannot be worked out
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    pub(crate) truth_rows: usize,
    /// Tail probabilities of the true VaR and CVaR
    #[arg(long, value_name = "A", value_delimiter = ',', default_value = "0.05,0.1,0.25", value_parser = level)]
    pub(crate) alpha: Vec<f64>,
    /// Levels of the true quantiles
    #[arg(long, value_name = "Q", value_delimiter = ',', default_value = "0.25,0.5,0.75", value_parser = level)]
    pub(crate) quantile: Vec<f64>,
    /// Threads to draw with, which changes nothing in the log [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Where to write the log; the truth goes beside it, into LOG.truth.json
    #[arg(short, long, value_name = "LOG.parquet")]
    pub(crate) output: PathBuf,
}

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&n| (1..=1_000_000).contains(&n))
        .ok_or_else(|| "must be a whole number from 1 on".to_owned())
}

fn level(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| *p > 0.0 && *p < 1.0).ok_or_else(|| "must lie between 0 and 1".to_owned())
}

fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let bounds = text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    match bounds {
        Some((from, to)) if from <= to => Ok(from..=to),
        _ => Err("must be two whole numbers, for example 10-15".to_owned()),
    }
}

fn target(text: &str) -> Result<Target, String> {
    let (name, policy) = text.split_once('=').unwrap_or((slateval_sim::PLAIN_TARGET, text));
    match name {
        "" => return Err("write a policy, or NAME=POLICY".to_owned()),
        slateval::LOGGING => return Err("the name is reserved for the policy that writes the log".to_owned()),
        _ => {}
    }
    let policy = policy.parse().map_err(|e: slateval_sim::Error| e.to_string())?;
    Ok(Target { name: name.to_owned(), policy })
}
