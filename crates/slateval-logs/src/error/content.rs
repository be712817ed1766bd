//! What a column holds, and the setting that names it.

use std::fmt;

use slateval::shown;

use crate::columns::ColumnRole;

/// What a column that is not there should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnContent {
    /// The role that it should play.
    pub role: ColumnRole,
    /// The target policy that it is of.
    pub target: Option<String>,
}

impl ColumnContent {
    /// The setting that names the column, and how its value is written; none where the name is fixed.
    pub fn setting(&self) -> Option<(&'static str, String)> {
        let value = match (self.role, &self.target) {
            (ColumnRole::Position, _) => return None,
            (ColumnRole::Pool, _) => "ranking:COLUMN".to_owned(),
            // A target without a name of its own is called so.
            (_, Some(target)) if target != "target" => format!("{}=COLUMN", shown(target)),
            _ => "COLUMN".to_owned(),
        };
        Some((self.role.words().setting, value))
    }

    /// Whether there is one number for each slot.
    pub(crate) fn is_of_slots(&self) -> bool {
        matches!(self.role, ColumnRole::Logging | ColumnRole::Target | ColumnRole::Chi | ColumnRole::Anywhere)
    }
}

impl From<ColumnRole> for ColumnContent {
    fn from(role: ColumnRole) -> Self {
        ColumnContent { role, target: None }
    }
}

impl fmt::Display for ColumnContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.role.words().values)?;
        self.target.as_ref().map_or(Ok(()), |target| write!(f, " of policy `{target}`"))
    }
}
