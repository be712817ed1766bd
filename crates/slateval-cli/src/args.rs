//! The command line as typed. Everything past this file sees typed values, never flags.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use slateval::{Band, Binning, CorrectionChoice, Day, PropensitySource, Structure, Tail, TargetSlots};
use slateval_logs::{Location, Named, OnBad, OnUnknown};

use crate::notes::Level;
use crate::progress::Mode;

/// The whole reward distribution of a new slate policy, from logs of the deployed one.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// How much is said on standard error
    #[arg(long, value_enum, value_name = "L", default_value = "info", global = true, help_heading = "Running")]
    pub(crate) log_level: Level,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  done; a gate's rules all hold
  1  a gate's rule does not hold or cannot be told
  2  bad usage, bad input, or an output that cannot be written: the message says which and what to do
  128 + n  ended by signal n, as a shell shows it

`slateval --version --verbose` tells how the command was built.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate each target policy's reward distribution from a log
    Evaluate(Box<Evaluate>),
    /// Tell whether a log is fit for the job: its schema as understood, every check, and what to do
    Inspect(Box<Inspect>),
    /// Merge saved summaries, of days, files or machines, into one
    Merge(Merge),
    /// Evaluate a saved summary
    Show(Box<Show>),
    /// Add new logs to a summary that grows day by day; files that are in it already are skipped
    Update(Box<Update>),
    /// List what is in a summary: files, rows, days, and the commands that made it
    #[command(name = "log")]
    Contents(Contents),
    /// Judge policies by rules, for continuous integration: exit code 0 if all hold, 1 if one does not or cannot be told
    Gate(Box<Gate>),
    /// Write a log of a simulated recommender, and the truth about its policies
    #[cfg(feature = "simulators")]
    Simulate(crate::simulate_args::Simulate),
    /// Run the paper's experiments, beside its printed figures
    #[cfg(feature = "simulators")]
    Reproduce(crate::reproduce_args::Reproduce),
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Parquet, CSV, JSON lines or Arrow files, directories or globs, or addresses (s3://…); `-` reads an Arrow IPC stream
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<Location>,
    #[command(flatten)]
    pub(crate) how: How,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Save the summary, to merge with others or to look at again without the log
    #[arg(long, value_name = "FILE.slateval", help_heading = "Output")]
    pub(crate) save: Option<PathBuf>,
    /// The day that the rows are of, to be saved with them
    #[arg(long, value_name = "YYYY-MM-DD", requires = "save", help_heading = "Output")]
    pub(crate) day: Option<Day>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The summary to add to; the first update makes it
    #[arg(value_name = "STATE.slateval")]
    pub(crate) state: PathBuf,
    /// Parquet, CSV, JSON lines or Arrow files, directories or globs
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<Location>,
    /// The day that the new rows are of
    #[arg(long, value_name = "YYYY-MM-DD", help_heading = "Log")]
    pub(crate) day: Option<Day>,
    #[command(flatten)]
    pub(crate) how: How,
    #[command(flatten)]
    pub(crate) output: Output,
    /// How progress is shown on standard error
    #[arg(long, value_enum, value_name = "P", default_value = "auto", help_heading = "Running")]
    pub(crate) progress: Mode,
}

/// How a log is read and evaluated. For a state, the first update says it; later ones may leave it out.
#[derive(Debug, Args)]
pub(crate) struct How {
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) weights: Weights,
    #[command(flatten)]
    pub(crate) method: Method,
}

/// How a long run goes on, and is watched.
#[derive(Debug, Args)]
pub(crate) struct Running {
    /// Keep the work so far in this file: the same command, run again after it was stopped, goes on from there
    #[arg(long, value_name = "FILE.slateval", help_heading = "Running")]
    pub(crate) resume: Option<PathBuf>,
    /// How progress is shown on standard error
    #[arg(long, value_enum, value_name = "P", default_value = "auto", help_heading = "Running")]
    pub(crate) progress: Mode,
}

#[derive(Debug, Args)]
pub(crate) struct Contents {
    /// A summary written with update, --save or merge
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: PathBuf,
    /// Write it as JSON; `-` writes it to standard output in place of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Parquet, CSV, JSON lines or Arrow files, directories or globs, or addresses (s3://…); `-` reads an Arrow IPC stream
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<Location>,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) assumed: Assumed,
    #[command(flatten)]
    pub(crate) draw: Draw,
    /// Show how strongly each two slots interact
    #[arg(long, help_heading = "Output")]
    pub(crate) interactions: bool,
    /// Tell how many rows a CDF band of this total width needs
    #[arg(long, value_name = "W", default_value = "0.05", help_heading = "Output", value_parser = width)]
    pub(crate) band_width: f64,
    /// Write everything as JSON; `-` writes it to standard output in place of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Summaries written with --save
    #[arg(required = true, value_name = "SUMMARY")]
    pub(crate) summaries: Vec<PathBuf>,
    /// Where to write the merged summary
    #[arg(short, long, value_name = "FILE.slateval")]
    pub(crate) output: PathBuf,
    /// Count rows again whose file is in several summaries
    #[arg(long)]
    pub(crate) allow_duplicates: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A summary written with --save or merge
    #[arg(value_name = "SUMMARY")]
    pub(crate) summary: PathBuf,
    /// An order in place of the chosen one, of a summary made with structure auto: additive or order:M
    #[arg(long, value_name = "S", help_heading = "Method", value_parser = str::parse::<Structure>)]
    pub(crate) structure: Option<Structure>,
    #[command(flatten)]
    pub(crate) method: Method,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Gate {
    /// A log, as for evaluate, or one summary written with --save or merge
    #[arg(required = true, value_name = "LOG|SUMMARY")]
    pub(crate) inputs: Vec<Location>,
    /// The rules, in TOML
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) rules: PathBuf,
    /// How to show the verdicts
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub(crate) format: GateFormat,
    #[command(flatten)]
    pub(crate) how: How,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// For people
    Text,
    /// For programs, schema slateval/gate/1
    Json,
    /// Annotations for GitHub Actions, and a table in the run's summary
    Github,
}

/// Which files are read, and what is done about bad ones: this may differ from one update of a state to the next.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Opening {
    /// Count a file again that the log names twice, by another path or a link, or that a state has counted already
    #[arg(long, help_heading = "Log")]
    pub(crate) allow_duplicates: bool,
    /// Read text files whose last line has no line feed, and Arrow streams without an end mark: without these, a file may have
    /// been cut short
    #[arg(long, help_heading = "Log")]
    pub(crate) allow_unended: bool,
    /// What to do about rows that cannot be used: fail, or skip them, count them and name the first; in a long log, the
    /// slates of such rows
    #[arg(long, value_name = "B", default_value = "fail", help_heading = "Log", value_parser = str::parse::<OnBad>)]
    pub(crate) on_bad_row: OnBad,
    /// What to do about files that cannot be read to their end: fail, or skip each as a whole
    #[arg(long, value_name = "B", default_value = "fail", help_heading = "Log", value_parser = str::parse::<OnBad>)]
    pub(crate) on_bad_file: OnBad,
    /// What to do about files in a directory that are no logs, by their endings and by their first bytes: warn (leave them
    /// out and name the first), fail, or skip (leave them out); names that begin with _ or . never count
    #[arg(long, value_name = "U", default_value = "warn", help_heading = "Log", value_parser = str::parse::<OnUnknown>)]
    pub(crate) on_unknown_file: OnUnknown,
    /// Memory that sums may take, such as 2GB or 512MiB; half as much may be held of a Parquet or Arrow
    /// file while it is read. A log that may need more is refused [default: half of the machine's]
    #[arg(long, value_name = "SIZE", help_heading = "Log", value_parser = size)]
    pub(crate) memory: Option<u64>,
}

/// Which columns hold what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct Columns {
    #[command(flatten)]
    pub(crate) opening: Opening,
    /// Reward of the slate [default: reward]
    #[arg(long, value_name = "C")]
    pub(crate) reward: Option<String>,
    /// Logging propensities: columns C_1..C_K, or one list column C [default: mu]
    #[arg(long, value_name = "C")]
    pub(crate) logging: Option<String>,
    /// Target propensities, likewise; may be given several times [default: pi]
    #[arg(long, value_name = "[NAME=]C", value_parser = named)]
    pub(crate) target: Vec<Named>,
    /// Its chi, sum_a pi(a)^2/mu(a) - 1 of each slot [default: chi or chi_NAME, where there is one]
    #[arg(long, value_name = "[NAME=]C", value_parser = named)]
    pub(crate) chi: Vec<Named>,
    /// Its probability of showing a slot's item anywhere, for structure ranking [default: any or any_NAME]
    #[arg(long, value_name = "[NAME=]C", value_parser = named)]
    pub(crate) anywhere: Vec<Named>,
    /// Its ready-made slate weight, for structure given [default: weight or weight_NAME]
    #[arg(long, value_name = "[NAME=]C", value_parser = named)]
    pub(crate) weight: Vec<Named>,
    /// One row per slate and slot, a slate's rows together, as the Open Bandit Pipeline has it
    #[arg(long)]
    pub(crate) long: bool,
    /// The slate's id in a long log [default: slate_id]
    #[arg(long, value_name = "C", requires = "long")]
    pub(crate) slate: Option<String>,
    /// Evaluate each value of this column as well; of columns with commas between them, each combination of values
    #[arg(long, value_name = "C")]
    pub(crate) by: Option<String>,
    /// Rows with the same value, such as a user, are not independent of each other: intervals account for it
    #[arg(long, value_name = "C")]
    pub(crate) cluster: Option<String>,
}

/// Which weights: what must be known before the log is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct Weights {
    /// The paper's estimator or its baseline: additive or product weights, uncorrected
    #[arg(long, value_enum, conflicts_with_all = ["structure", "correction"])]
    pub(crate) estimator: Option<Estimator>,
    #[command(flatten)]
    pub(crate) assumed: Assumed,
}

/// What is assumed of the policies and the reward.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct Assumed {
    /// Which slots' effects may depend on each other: auto (as many as the log shows), additive, product, order:M,
    /// interactions:1+2,2+3, ranking:N, ranking:COLUMN, given, paper-order:M [default: auto]
    #[arg(long, value_name = "S", value_parser = str::parse::<Structure>)]
    pub(crate) structure: Option<Structure>,
    /// Whether the target fills its slots independently given the context: independent or joint
    #[arg(long, value_name = "T", default_value = "independent", value_parser = str::parse::<TargetSlots>)]
    pub(crate) target_slots: TargetSlots,
    /// Where the logging propensities come from: known, or estimated from the log, which a check then says
    #[arg(long, value_name = "P", default_value = "known", value_parser = str::parse::<PropensitySource>)]
    pub(crate) propensities: PropensitySource,
    /// Most bins of rewards, and most rewards kept exactly; log for bins of equal ratio
    #[arg(long, value_name = "N|log", default_value = "4096", value_parser = str::parse::<Binning>)]
    pub(crate) bins: Binning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Estimator {
    /// The paper's: additive weights, uncorrected
    Suno,
    /// Its baseline: product weights, uncorrected
    Uno,
}

/// What can be decided after the log has been read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct Method {
    /// How weights are corrected: auto, none, self-normalized, control-variate or calibrated [default: auto]
    #[arg(long, value_name = "C", value_parser = str::parse::<CorrectionChoice>)]
    pub(crate) correction: Option<CorrectionChoice>,
    /// Tail probabilities of VaR and CVaR
    #[arg(long, value_name = "A", value_delimiter = ',', default_value = "0.05,0.1,0.25")]
    pub(crate) alpha: Vec<f64>,
    /// The tail they look at: lower or upper
    #[arg(long, value_name = "T", default_value = "lower", value_parser = str::parse::<Tail>)]
    pub(crate) tail: Tail,
    /// Levels of quantiles
    #[arg(long, value_name = "Q", value_delimiter = ',', default_value = "0.25,0.5,0.75")]
    pub(crate) quantile: Vec<f64>,
    /// Rewards X whose probability P(reward >= X) is told [default: each but the smallest, if there are at most 8]
    #[arg(long, value_name = "X", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) at_least: Vec<f64>,
    /// Where bands and intervals come from: multiplier, bernstein (guaranteed in every sample, wider) or none
    #[arg(long, value_name = "B", default_value = "multiplier", value_parser = str::parse::<Band>)]
    pub(crate) band: Band,
    /// No logging propensity of any action is below this: what bernstein's guarantee rests on
    #[arg(long, value_name = "P")]
    pub(crate) min_propensity: Option<f64>,
    /// Compare every target with this one as well as with logging
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Multiplier draws that bands and some intervals rest on
    #[arg(long, value_name = "N", default_value = "2000")]
    pub(crate) draws: usize,
    /// Correct CVaR for its bootstrap bias
    #[arg(long)]
    pub(crate) debias_cvar: bool,
    #[command(flatten)]
    pub(crate) draw: Draw,
}

/// How intervals are drawn.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct Draw {
    /// The probability with which an interval is to hold the truth; one-sided for gate, in place of the rules' own
    /// [default: 0.95]
    #[arg(long, value_name = "P")]
    pub(crate) confidence: Option<f64>,
    /// Where the draws begin: the same seed gives the same numbers
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) seed: u64,
    /// Threads to read and draw with [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Print every quantile and tail, the CDF's band, who dominates, and how the structure was chosen
    #[arg(long)]
    pub(crate) full: bool,
    /// Write everything as JSON; `-` writes it to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Every point of the CDFs in the JSON, one for each bin of rewards, in place of at most 256
    #[arg(long, requires = "json")]
    pub(crate) full_cdf: bool,
    /// Write a page for a meeting: one file, to be opened in any browser
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write a picture of the CDFs and of how quantiles differ
    #[arg(long, value_name = "FILE.svg|.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the CDF of every policy
    #[arg(long, value_name = "FILE.parquet|.csv")]
    pub(crate) cdf: Option<PathBuf>,
}

fn width(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(width) if width > 0.0 && width < 1.0 => Ok(width),
        _ => Err("a band's width lies between 0 and 1".to_owned()),
    }
}

/// Bytes, with or without a unit.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 9] = [
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("B", 1.0),
    ];
    let unit = |(name, bytes): &(&str, f64)| Some((text.strip_suffix(name)?, *bytes));
    let (number, bytes) = UNITS.iter().find_map(unit).unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number * bytes < 1e18 => Ok((number * bytes) as u64),
        _ => Err("write a size such as 2GB or 512MiB".to_owned()),
    }
}

fn named(text: &str) -> Result<Named, String> {
    // An address is no column. It is not cut at its `=`, for only a whole address can be shown without its secrets.
    let (name, column) = match text.split_once('=').filter(|_| slateval::redacted(text) == text) {
        Some((name, column)) => (Some(name.to_owned()), column),
        None => (None, text),
    };
    if column.is_empty() || name.as_deref() == Some("") {
        return Err("write a column, or NAME=COLUMN".to_owned());
    }
    Ok(Named { name, column: column.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        let sizes = ["2GB", "512MiB", "1.5 kB", "100", "7B"].map(|text| size(text).unwrap_or_default());
        assert_eq!(sizes, [2_000_000_000, 536_870_912, 1500, 100, 7]);
        assert!(["", "GB", "-1GB", "0", "many", "1e300GB", "nan"].iter().all(|text| size(text).is_err()));
    }
}
