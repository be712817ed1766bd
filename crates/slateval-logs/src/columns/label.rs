//! Labels: where the segment and the cluster of a slate come from.

use slateval::Segment;

use crate::error::ColumnContent;

/// Where the labels of slates come from.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub(crate) role: LabelRole,
    pub(crate) name: String,
    pub(crate) place: Place,
}

/// What a label says of its slate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelRole {
    Segment,
    Cluster,
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

impl LabelRole {
    pub(crate) fn content(self) -> ColumnContent {
        match self {
            LabelRole::Segment => ColumnContent::Segments,
            LabelRole::Cluster => ColumnContent::Clusters,
        }
    }

    /// In a message: what a slate has one of.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            LabelRole::Segment => "segment",
            LabelRole::Cluster => "cluster",
        }
    }

    pub(crate) fn type_advice(self) -> &'static str {
        match self {
            LabelRole::Segment => {
                "segments are whole numbers, truth values, text or dates; put numbers with decimals into bins first"
            }
            LabelRole::Cluster => "clusters are whole numbers, truth values, text or dates: cast it first",
        }
    }
}
