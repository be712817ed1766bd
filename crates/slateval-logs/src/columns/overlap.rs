//! Columns that could be read in two ways, and which one is.

use std::fmt;
use std::path::PathBuf;

use slateval::{Spec, shown};

use crate::columns::label::{Label, Place};
use crate::columns::layout::{Arrangement, Found, Layout, numbered};
use crate::columns::wanted::{Columns, RowFormat};
use crate::error::{Result, shown_path};

/// Two parts of a log that could hold the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlap {
    /// A column stands beside the numbered columns of the same name: `mu` and `mu_1, mu_2, …`.
    WholeAndNumbered {
        /// The column without a number.
        column: String,
        /// Whether it is read, as it is if it holds lists; the numbered ones are otherwise.
        whole_is_read: bool,
        /// The first file that has both.
        file: PathBuf,
    },
    /// A directory `key=value` has the name of a column. The column is read.
    DirectoryAndColumn {
        /// The name.
        column: String,
        /// Whether a column of this name is read at all.
        is_read: bool,
        /// The first file that has both.
        file: PathBuf,
    },
}

impl Overlap {
    /// Whether it has a part in the result.
    pub fn is_read(&self) -> bool {
        match self {
            Overlap::WholeAndNumbered { .. } => true,
            Overlap::DirectoryAndColumn { is_read, .. } => *is_read,
        }
    }

    /// Those of a log's files, each once.
    pub(crate) fn among<'a>(
        files: impl Iterator<Item = Found<'a>> + Clone,
        columns: &Columns,
        spec: &Spec,
    ) -> Result<Vec<Overlap>> {
        let Some(first) = files.clone().next() else { return Ok(Vec::new()) };
        let layout = Layout::resolve(first, columns, spec)?;
        let read = names_read(first, &layout);
        let mut overlaps: Vec<Overlap> = Vec::new();
        let mut add = |overlap: Overlap| {
            if !overlaps.iter().any(|known| known.is_of(&overlap)) {
                overlaps.push(overlap);
            }
        };
        for file in files {
            for group in layout.groups.iter().filter(|_| columns.format == RowFormat::Wide) {
                let column = group.base.clone();
                if file.index(&column).is_some() && file.index(&numbered(&column, 1)).is_some() {
                    let whole_is_read = matches!(group.arrangement, Arrangement::List(_));
                    add(Overlap::WholeAndNumbered { column, whole_is_read, file: file.file.into() });
                }
            }
            for (column, _) in file.partition.iter().filter(|(key, _)| file.index(key).is_some()) {
                let is_read = read.contains(column);
                add(Overlap::DirectoryAndColumn { column: column.clone(), is_read, file: file.file.into() });
            }
        }
        Ok(overlaps)
    }

    /// Whether both are about the same names, in whatever file.
    fn is_of(&self, other: &Overlap) -> bool {
        match (self, other) {
            (Overlap::WholeAndNumbered { column, .. }, Overlap::WholeAndNumbered { column: other, .. })
            | (Overlap::DirectoryAndColumn { column, .. }, Overlap::DirectoryAndColumn { column: other, .. }) => {
                column == other
            }
            _ => false,
        }
    }
}

/// All names that are read, of columns and of directories.
fn names_read(file: Found<'_>, layout: &Layout) -> Vec<String> {
    let mut names: Vec<String> =
        layout.selection().columns.into_iter().map(|index| file.schema.field(index).name().clone()).collect();
    let of_label = |label: &Label| match &label.place {
        Place::Several(parts) => parts.iter().map(|(name, _)| name.clone()).collect(),
        _ => vec![label.name.clone()],
    };
    names.extend(layout.labels.iter().flat_map(of_label));
    names
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overlap::WholeAndNumbered { column, whole_is_read, file } => {
                let column = shown(column);
                let (one, two) = (numbered(&column, 1), numbered(&column, 2));
                let read = match whole_is_read {
                    true => format!("the list `{column}` is read, and `{one}`, `{two}`, … are not"),
                    false => format!("`{one}`, `{two}`, … are read, and `{column}`, which is no list, is not"),
                };
                write!(f, "{} has both `{column}` and `{one}`: {read}", shown_path(file))
            }
            Overlap::DirectoryAndColumn { column, is_read, file } => {
                let read = if *is_read { "is" } else { "would be" };
                let (file, column) = (shown_path(file), shown(column));
                write!(f, "{file} has a column `{column}` and a directory `{column}=…`: the column {read} read")
            }
        }
    }
}
