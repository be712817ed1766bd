//! Labels: where the segment and the cluster of a slate come from.

use slateval::Segment;

use crate::columns::describe::ColumnRole;

/// Where the labels of slates come from.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    /// Segment or cluster.
    pub(crate) role: ColumnRole,
    pub(crate) name: String,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// The index of a column.
    Column(usize),
    /// The same for the whole file: its directory is called `name=value`.
    Constant(Segment),
    /// Several columns, whose values together are a label.
    Several(Vec<(String, Place)>),
}

impl Place {
    /// The indices of the columns that are read.
    pub(crate) fn indices(&self) -> Vec<usize> {
        match self {
            Place::Column(index) => vec![*index],
            Place::Constant(_) => Vec::new(),
            Place::Several(places) => places.iter().flat_map(|(_, place)| place.indices()).collect(),
        }
    }
}

/// What to do about a column that cannot hold the labels of this role.
pub(crate) fn type_advice(role: ColumnRole) -> &'static str {
    match role {
        ColumnRole::Segment => {
            "segments are whole numbers, truth values, text or dates; put numbers with decimals into bins first"
        }
        _ => "clusters are whole numbers, truth values, text or dates: cast it first",
    }
}
