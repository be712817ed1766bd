//! Whether files make one log: each has the columns asked for, of types that fit each other.

use slateval::{Segment, Spec};

use crate::columns::label::Place;
use crate::columns::layout::{Found, Layout};
use crate::columns::types::{Class, label_class, number_class};
use crate::columns::wanted::Columns;
use crate::error::{Error, Result, brief, shown_path};

/// Refuses files that lack a column, or that do not make one log.
pub(crate) fn check_files<'a>(files: impl Iterator<Item = Found<'a>>, columns: &Columns, spec: &Spec) -> Result<()> {
    let mut first: Option<(Found<'_>, Vec<Need>)> = None;
    for file in files {
        let layout = Layout::resolve(file, columns, spec);
        let Some((known, needs)) = &first else {
            first = Some((file, needs_of(&layout?, file)));
            continue;
        };
        let differs = |need: &Need, second_type: String| {
            let [column, first_type, second_type] = [&need.column, &need.found, &second_type].map(|text| brief(text));
            let (first, second) = (shown_path(known.file), shown_path(file.file));
            Error::not_one_log(format!(
                "column `{column}` is {first_type} in {first} and {second_type} in {second}; give them the same columns or \
                 read them apart"
            ))
        };
        match layout {
            Ok(layout) => {
                let own = needs_of(&layout, file);
                compare(needs, &own).map_err(|(need, found)| differs(need, found))?;
                // The other way round for slots that the first file has not.
                compare(&own, needs).map_err(|(need, _)| {
                    differs(&Need { found: "absent".into(), ..need.clone() }, need.found.clone())
                })?;
            }
            Err(error) => {
                let lacks = |need: &&Need| error_is_about(&error, &need.column);
                return Err(match needs.iter().find(lacks) {
                    Some(need) => differs(need, type_of(file, &need.column)),
                    None => error,
                });
            }
        }
    }
    Ok(())
}

/// A column that is needed, and what it is in one file.
#[derive(Debug, Clone)]
struct Need {
    column: String,
    class: Class,
    found: String,
}

/// Every column that a layout reads.
fn needs_of(layout: &Layout, file: Found<'_>) -> Vec<Need> {
    let number = |index: usize| {
        let field = file.schema.field(index);
        let class = number_class(field.data_type());
        Need { column: field.name().clone(), class, found: field.data_type().to_string() }
    };
    let mut needs: Vec<Need> = layout.scalars.iter().map(|s| number(s.index)).collect();
    needs.extend(layout.groups.iter().flat_map(|group| group.arrangement.columns()).map(|&i| number(i)));
    for label in &layout.labels {
        let places = match &label.place {
            Place::Several(places) => places.iter().map(|(name, place)| (name, place)).collect(),
            place => vec![(&label.name, place)],
        };
        let indexed = |index: usize| {
            let class = label_class(file.schema.field(index).data_type());
            Need { class: if file.text { Class::Any } else { class }, ..number(index) }
        };
        needs.extend(places.into_iter().flat_map(|(name, place)| match place {
            Place::Constant(value) => vec![directory(name, value)],
            place => place.indices().into_iter().map(indexed).collect(),
        }));
    }
    needs
}

/// A label that is a directory's.
fn directory(name: &str, value: &Segment) -> Need {
    let (class, found) = match value {
        Segment::Int(_) => (Class::Integer, "a directory of whole numbers".to_owned()),
        Segment::Null => (Class::Any, "a directory".to_owned()),
        _ => (Class::Text, "a directory of text".to_owned()),
    };
    Need { column: name.to_owned(), class, found }
}

/// The first column of one file that another has differently, and what it is there.
fn compare<'a>(first: &'a [Need], second: &[Need]) -> std::result::Result<(), (&'a Need, String)> {
    for need in first {
        let Some(other) = second.iter().find(|n| n.column == need.column) else {
            return Err((need, "absent".into()));
        };
        let fits = need.class == other.class || need.class == Class::Any || other.class == Class::Any;
        if !fits {
            return Err((need, other.found.clone()));
        }
    }
    Ok(())
}

fn type_of(file: Found<'_>, column: &str) -> String {
    let field = file.schema.field_with_name(column);
    field.map_or("absent".into(), |f| f.data_type().to_string())
}

fn error_is_about(error: &Error, needed: &str) -> bool {
    match error {
        Error::MissingColumn { column, .. } => needed == column || needed == format!("{column}_1"),
        Error::MissingSlot { column, .. } | Error::WrongType { column, .. } => needed == column,
        _ => false,
    }
}
