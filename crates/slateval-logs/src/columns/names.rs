//! The columns as a user names them, before what goes without saying is filled in.

use slateval::LOGGING;

use crate::columns::wanted::{Columns, RowFormat, Source, TargetColumns};
use crate::error::{Error, Result, brief};

/// What a user calls the columns of a log: the flags of the command line, the keyword arguments of Python.
///
/// ```
/// use slateval_logs::{Named, Names};
/// let names = Names { target: vec![Named::new("new", "pi_new")], ..Names::default() };
/// assert_eq!(names.columns()?.targets[0].name, "new");
/// # Ok::<(), slateval_logs::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The reward.
    pub reward: Option<String>,
    /// Logging propensities.
    pub logging: Option<String>,
    /// Target propensities; those of one target without a name if there are none.
    pub target: Vec<Named>,
    /// Each target's chi, where it is not beside the target.
    pub chi: Vec<Named>,
    /// Each target's probabilities anywhere in the slate, likewise.
    pub anywhere: Vec<Named>,
    /// Each target's ready-made weight, likewise.
    pub weight: Vec<Named>,
    /// One row per slot.
    pub long: bool,
    /// The slates of a log with one row per slot.
    pub slate: Option<String>,
    /// Segments.
    pub by: Option<String>,
    /// Clusters.
    pub cluster: Option<String>,
}

/// A column, and the target it is of: `[NAME=]COLUMN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The target, where it is named.
    pub name: Option<String>,
    /// The column.
    pub column: String,
}

impl Named {
    /// The column of a named target.
    pub fn new(name: impl Into<String>, column: impl Into<String>) -> Self {
        Named { name: Some(name.into()), column: column.into() }
    }
}

impl Names {
    /// The columns meant, with the defaults of their format.
    ///
    /// # Errors
    /// For a column of a target that is not there, or of one of several.
    pub fn columns(&self) -> Result<Columns> {
        let mut columns = if self.long { Columns::long_default() } else { Columns::wide_default() };
        if let Some(reward) = &self.reward {
            columns.reward.clone_from(reward);
        }
        if let Some(logging) = &self.logging {
            columns.logging.clone_from(logging);
        }
        if let (Some(own), RowFormat::Long { slate, .. }) = (&self.slate, &mut columns.format) {
            slate.clone_from(own);
        }
        if !self.target.is_empty() {
            let is_alone = self.target.iter().filter(|target| target.name.is_none()).count() == 1;
            columns.targets = self.target.iter().map(|named| target(named, is_alone)).collect();
        }
        columns.by.clone_from(&self.by);
        columns.cluster.clone_from(&self.cluster);
        for chi in &self.chi {
            of_target(&mut columns, "chi", chi)?.chi = Source::Column(chi.column.clone());
        }
        for anywhere in &self.anywhere {
            of_target(&mut columns, "anywhere", anywhere)?.anywhere.clone_from(&anywhere.column);
        }
        for weight in &self.weight {
            of_target(&mut columns, "weight", weight)?.weight.clone_from(&weight.column);
        }
        Ok(columns)
    }
}

impl Columns {
    /// Refuses a baseline that is not one of several targets.
    ///
    /// # Errors
    /// For any other.
    pub fn check_baseline(&self, baseline: &str) -> Result<()> {
        let known: Vec<&str> = self.targets.iter().map(|t| t.name.as_str()).collect();
        let refuse = |why: String| Err(refused("baseline", baseline, &why));
        if baseline == LOGGING {
            return refuse("every target is compared with the logging policy anyway; name a target".to_owned());
        }
        if !known.contains(&baseline) {
            return refuse(format!("there is no target `{baseline}`, only {}", known.join(", ")));
        }
        if known.len() == 1 {
            return refuse("it is the only target; give another target to compare with it".to_owned());
        }
        Ok(())
    }
}

/// The only target without a name is called "target", and each of several by its column, without a leading `pi_`. In both
/// cases `pi_x` finds `chi_x` and the others beside it.
fn target(named: &Named, is_alone: bool) -> TargetColumns {
    if let Some(name) = &named.name {
        return Columns::target(name, &named.column);
    }
    let beside = named.column.strip_prefix("pi_").filter(|suffix| !suffix.is_empty());
    let columns = match beside {
        None if is_alone => TargetColumns { target: named.column.clone(), ..Columns::wide_default().targets.remove(0) },
        None => Columns::target(&named.column, &named.column),
        Some(suffix) => Columns::target(suffix, &named.column),
    };
    let name = if is_alone { "target" } else { beside.unwrap_or(&named.column) };
    TargetColumns { name: name.to_owned(), ..columns }
}

fn refused(option: &str, given: &str, why: &str) -> Error {
    Error::Refused(format!("{option} `{}`: {}", brief(given), brief(why)).into())
}

fn of_target<'a>(columns: &'a mut Columns, option: &'static str, named: &Named) -> Result<&'a mut TargetColumns> {
    let known: Vec<String> = columns.targets.iter().map(|t| t.name.clone()).collect();
    let refuse = |given: String, why: String| Err(refused(option, &given, &why));
    match &named.name {
        None if known.len() == 1 => Ok(&mut columns.targets[0]),
        None => refuse(named.column.clone(), format!("there are {} targets; write NAME={}", known.len(), named.column)),
        Some(name) => match columns.targets.iter_mut().find(|t| t.name == *name) {
            Some(target) => Ok(target),
            None => refuse(
                format!("{name}={}", named.column),
                format!("there is no target `{name}`, only {}", known.join(", ")),
            ),
        },
    }
}
