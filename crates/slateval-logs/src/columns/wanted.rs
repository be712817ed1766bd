//! Which columns of a log hold what.

use serde::{Deserialize, Serialize};

/// Which columns of a log hold what; names as the user gave them.
///
/// ```
/// use slateval_logs::Columns;
/// let mut columns = Columns::wide_default();
/// columns.reward = "clicks".into();
/// columns.targets = vec![Columns::target("new", "pi_new")];
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// The reward of a slate; in long format of a slot.
    pub reward: String,
    /// The logging propensities: `mu` stands for `mu_1, mu_2, …` or a list `mu`.
    pub logging: String,
    /// The target policies, in the order of the specification.
    pub targets: Vec<TargetColumns>,
    /// The column that slates are segmented by.
    pub by: Option<String>,
    /// The column of clusters, such as users, whose slates are not independent of each other.
    pub cluster: Option<String>,
    /// What a row is.
    pub format: RowFormat,
}

/// The columns of one target policy. Each name but `weight` stands for numbered columns or a list, like
/// [`Columns::logging`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetColumns {
    /// The policy's name in results.
    pub name: String,
    /// Its propensities of the actions shown.
    pub target: String,
    /// Its `chi_k = sum_a pi_k(a)^2 / mu_k(a) - 1`.
    pub chi: Source,
    /// Its probabilities of showing a slot's item anywhere in the slate, for the structure `ranking`.
    pub anywhere: String,
    /// A ready-made slate weight, for the structure `given`.
    pub weight: String,
}

/// Whether a column is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Use this column; it must exist.
    Column(String),
    /// Use this column if the log has it: all of its files, or none.
    IfPresent(String),
    /// Use none.
    Absent,
}

impl Source {
    /// The column's name, if one is wanted.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Source::Column(name) | Source::IfPresent(name) => Some(name),
            Source::Absent => None,
        }
    }
}

/// What a row of the log is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowFormat {
    /// One row per slate.
    Wide,
    /// One row per slot of a slate; the rows of a slate stand next to each other.
    Long {
        /// The column that tells slates apart.
        slate: String,
        /// The column that numbers a slate's slots, from 0 or from 1.
        position: String,
    },
}

impl Columns {
    /// One row per slate: `reward`, `mu`, and one target "target" with `pi`, `chi` if present, `any` and `weight`.
    pub fn wide_default() -> Self {
        Columns {
            reward: "reward".into(),
            logging: "mu".into(),
            targets: vec![unnamed("pi")],
            by: None,
            cluster: None,
            format: RowFormat::Wide,
        }
    }

    /// One row per slot, with the names of the Open Bandit Pipeline: `slate_id`, `position`, `reward`,
    /// `pscore_item_position` and `evaluation_policy_pscore_item_position`.
    pub fn long_default() -> Self {
        Columns {
            logging: "pscore_item_position".into(),
            targets: vec![unnamed("evaluation_policy_pscore_item_position")],
            format: RowFormat::Long { slate: "slate_id".into(), position: "position".into() },
            ..Self::wide_default()
        }
    }

    /// The columns of `NAME=COLUMN`: that column, and beside it `chi_NAME` if present, `any_NAME` and `weight_NAME`.
    pub fn target(name: &str, column: &str) -> TargetColumns {
        TargetColumns {
            name: name.into(),
            target: column.into(),
            chi: Source::IfPresent(format!("chi_{name}")),
            anywhere: format!("any_{name}"),
            weight: format!("weight_{name}"),
        }
    }
}

fn unnamed(column: &str) -> TargetColumns {
    TargetColumns {
        name: "target".into(),
        target: column.into(),
        chi: Source::IfPresent("chi".into()),
        anywhere: "any".into(),
        weight: "weight".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_named_target_brings_its_own_columns() {
        let target = Columns::target("new", "pi_new");
        assert_eq!(target.target, "pi_new");
        assert_eq!(target.chi, Source::IfPresent("chi_new".into()));
        assert_eq!((target.anywhere.as_str(), target.weight.as_str()), ("any_new", "weight_new"));
    }

    #[test]
    fn the_default_names_are_those_of_the_contract() {
        let wide = Columns::wide_default();
        assert_eq!((wide.reward.as_str(), wide.logging.as_str()), ("reward", "mu"));
        assert_eq!((wide.targets[0].name.as_str(), wide.targets[0].target.as_str()), ("target", "pi"));
        let long = Columns::long_default();
        assert_eq!(long.targets[0].target, "evaluation_policy_pscore_item_position");
    }
}
