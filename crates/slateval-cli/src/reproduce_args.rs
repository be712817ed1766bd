//! The command line of `slateval reproduce`, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Which experiment of the paper
    #[arg(value_enum)]
    pub(crate) experiment: Experiment,
    /// Number of trials [default: the paper's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trials: Option<u32>,
    /// Rows of logs [default: the paper's]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) sizes: Option<Vec<u64>>,
    /// Where chance begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Ratings for table 1(b), for example ratings.csv of MovieLens
    #[arg(long, value_name = "FILE")]
    pub(crate) ratings: Option<PathBuf>,
    /// Slates of a truth that cannot be worked out
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    pub(crate) truth_rows: usize,
    /// Threads, which change no figure [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Write everything as JSON; `-` writes it to standard output in place of the tables
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write all figures as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw errors over the number of rows, an SVG for each study, into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Experiment {
    /// An additive CDF, three slots of three items
    #[value(name = "table-1a")]
    Table1a,
    /// Slates for users of a ratings file, five slots of twenty items
    #[value(name = "table-1b")]
    Table1b,
    /// Cascading clicks, three slots of ten items
    #[value(name = "table-2")]
    Table2,
    /// Errors of mean and median in 1(b), of VaR and CVaR in 1(a)
    #[value(name = "figure-1")]
    Figure1,
    /// All of them
    #[value(name = "all")]
    All,
}
