//! Where in a file's schema everything is: the user's column names, resolved once before any row is read.

use std::collections::HashMap;
use std::path::Path;
use std::slice::from_ref;

use arrow_schema::{DataType, Schema};
use slateval::{Field, Pool, Segment, Spec, Structure};

use crate::columns::describe::ColumnRole;
use crate::columns::hint;
use crate::columns::label::{Label, Place, type_advice};
use crate::columns::types;
use crate::columns::wanted::{Columns, RowFormat};
use crate::error::{ColumnContent, Error, Result, RowFault, brief};
use crate::formats::Selection;
use crate::json::{as_numbers, is_mixed};
use crate::survey::Contents;

/// Most slots a slate can have: the summary's sums grow with the square of the slots.
pub(crate) const MAX_SLOTS: usize = 1000;

/// The columns to read, as indices into one schema.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// One number per slate: reward, weights, size of the pool.
    pub(crate) scalars: Vec<Scalar>,
    /// One number per slot: mu, pi, chi, any.
    pub(crate) groups: Vec<SlotColumns>,
    /// What slates are labelled with: their segment, their cluster.
    pub(crate) labels: Vec<Label>,
    /// The slate and position columns of a log in long format.
    pub(crate) keys: Option<Keys>,
}

#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub(crate) field: Field,
    pub(crate) name: String,
    pub(crate) index: usize,
}

/// The columns of one quantity in all slots.
#[derive(Debug, Clone)]
pub(crate) struct SlotColumns {
    pub(crate) role: Role,
    /// What the user calls it: `mu` for `mu_1, mu_2, …`.
    pub(crate) base: String,
    pub(crate) arrangement: Arrangement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Logging,
    Target(usize),
    Chi(usize),
    Anywhere(usize),
}

#[derive(Debug, Clone)]
pub(crate) enum Arrangement {
    /// One column for each slot.
    Wide(Vec<usize>),
    /// One column of numbers: slates of one slot.
    Single(usize),
    /// One list column.
    List(usize),
    /// One column, one row for each slot (long format).
    Long(usize),
}

#[derive(Debug, Clone)]
pub(crate) struct Keys {
    pub(crate) slate: usize,
    pub(crate) slate_name: String,
    pub(crate) position: usize,
    pub(crate) position_name: String,
}

impl Role {
    pub(crate) fn field(self, slot: usize) -> Field {
        match self {
            Role::Logging => Field::Logging { slot },
            Role::Target(policy) => Field::Target { policy, slot },
            Role::Chi(policy) => Field::Chi { policy, slot },
            Role::Anywhere(policy) => Field::Anywhere { policy, slot },
        }
    }

    /// As a description says it, with the policy that it is of.
    pub(crate) fn described(self) -> (ColumnRole, Option<usize>) {
        match self {
            Role::Logging => (ColumnRole::Logging, None),
            Role::Target(policy) => (ColumnRole::Target, Some(policy)),
            Role::Chi(policy) => (ColumnRole::Chi, Some(policy)),
            Role::Anywhere(policy) => (ColumnRole::Anywhere, Some(policy)),
        }
    }

    /// Whether a null says that the slate has no such slot: `chi` alone does not decide that.
    pub(crate) fn decides(self) -> bool {
        !matches!(self, Role::Chi(_))
    }
}

impl Arrangement {
    /// The columns that are read.
    pub(crate) fn columns(&self) -> &[usize] {
        match self {
            Arrangement::Wide(columns) => columns,
            Arrangement::Single(column) | Arrangement::List(column) | Arrangement::Long(column) => from_ref(column),
        }
    }

    /// The slots that slates have room for, if each has a column.
    fn slots(&self) -> Option<usize> {
        match self {
            Arrangement::Wide(_) | Arrangement::Single(_) => Some(self.columns().len()),
            Arrangement::List(_) | Arrangement::Long(_) => None,
        }
    }
}

impl SlotColumns {
    /// The column of a slot, and the item where it is a list.
    pub(crate) fn name(&self, slot: usize) -> (String, Option<usize>) {
        match self.arrangement {
            Arrangement::Wide(_) => (numbered(&self.base, slot + 1), None),
            Arrangement::List(_) => (self.base.clone(), Some(slot + 1)),
            Arrangement::Single(_) | Arrangement::Long(_) => (self.base.clone(), None),
        }
    }
}

/// A file's columns before anything is known of their use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) file: &'a Path,
    pub(crate) schema: &'a Schema,
    /// Whether numbers are still text (CSV): types then say nothing.
    pub(crate) text: bool,
    pub(crate) partition: &'a [(String, Segment)],
}

impl Layout {
    /// Finds every column that `spec` needs; the specification says which targets have chi.
    pub(crate) fn resolve(found: Found<'_>, columns: &Columns, spec: &Spec) -> Result<Layout> {
        if columns.targets.len() != spec.policies.len() {
            return Err(Error::Targets { columns: columns.targets.len(), policies: spec.policies.len() });
        }
        let keys = match &columns.format {
            RowFormat::Wide => None,
            RowFormat::Long { slate, position } => Some(found.keys(slate, position)?),
        };
        let scalars = found.scalars(columns, spec)?;
        let groups = found.groups(columns, spec)?;
        found.check_slot_counts(&groups)?;
        let labels = found.labels(spec)?;
        let layout = Layout { scalars, groups, labels, keys };
        found.check_doubles(&layout.selection().columns)?;
        Ok(layout)
    }

    /// What blocks hold that are filled from these columns.
    pub(crate) fn contents(&self) -> Contents {
        let is_target = |role: Role| matches!(role, Role::Target(_));
        let targets = self.groups.iter().filter(|group| is_target(group.role)).count();
        let logging = self.groups.iter().any(|group| group.role == Role::Logging);
        Contents { targets, propensities: logging && targets > 0 }
    }

    /// The slots that slates have room for, if each has a column.
    pub(crate) fn slot_columns(&self) -> Option<usize> {
        self.groups.iter().find_map(|group| group.arrangement.slots())
    }

    /// The columns to read.
    pub(crate) fn selection(&self) -> Selection {
        let mut columns: Vec<usize> = self.scalars.iter().map(|s| s.index).collect();
        columns.extend(self.groups.iter().flat_map(|group| group.arrangement.columns()));
        columns.extend(self.keys.iter().flat_map(|k| [k.slate, k.position]));
        columns.extend(self.labels.iter().flat_map(|label| label.place.indices()));
        columns.sort_unstable();
        columns.dedup();
        let labels =
            self.labels.iter().flat_map(|label| label.place.indices()).chain(self.keys.iter().map(|k| k.slate));
        Selection { columns, labels: labels.collect() }
    }

    /// An error about a cell, with what the cell stands for.
    pub(crate) fn explained(&self, mut error: Error) -> Error {
        if let Error::Row { fault: RowFault::NotANumber { column, of, .. }, .. } = &mut error {
            *of = of.or_else(|| self.field_of(column));
        }
        error
    }

    /// What a column holds; none for a slot's row of a log in long format, where no cell may be empty.
    fn field_of(&self, column: &str) -> Option<Field> {
        let scalar = self.scalars.iter().find(|scalar| scalar.name == column).map(|scalar| scalar.field);
        let slot = |group: &SlotColumns| {
            let slots = group.arrangement.slots().unwrap_or(0);
            (0..slots).find(|&slot| group.name(slot).0 == column).map(|slot| group.role.field(slot))
        };
        scalar.or_else(|| self.groups.iter().find_map(slot))
    }

    /// The column, and the item of a list, that a field of a block was filled from.
    pub(crate) fn name_of(&self, field: Field) -> (String, Option<usize>) {
        let of = |role: Role, slot: usize| {
            let group = self.groups.iter().find(|g| g.role == role);
            group.map_or((field.to_string(), None), |g| g.name(slot))
        };
        match field {
            Field::Logging { slot } => of(Role::Logging, slot),
            Field::Target { policy, slot } => of(Role::Target(policy), slot),
            Field::Chi { policy, slot } => of(Role::Chi(policy), slot),
            Field::Anywhere { policy, slot } => of(Role::Anywhere(policy), slot),
            scalar => {
                let found = self.scalars.iter().find(|s| s.field == scalar);
                (found.map_or(field.to_string(), |s| s.name.clone()), None)
            }
        }
    }
}

impl<'a> Found<'a> {
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.schema.fields().iter().position(|f| f.name() == name)
    }

    fn data_type(&self, index: usize) -> &'a DataType {
        self.schema.field(index).data_type()
    }

    /// The list of this name, or the first of the columns numbered after it, or (long format, and where the logging
    /// propensities are of one slot) the column itself.
    pub(crate) fn column_of(&self, base: &str, columns: &Columns) -> Option<String> {
        let has_one_slot =
            || matches!(self.slots(&columns.logging, ColumnRole::Logging.into()), Ok(Arrangement::Single(_)));
        let whole = self.index(base).filter(|&i| match columns.format {
            RowFormat::Long { .. } => true,
            RowFormat::Wide => types::list_item(self.data_type(i)).is_some() || has_one_slot(),
        });
        let first = || self.index(&numbered(base, 1)).filter(|_| columns.format == RowFormat::Wide);
        whole.or_else(first).map(|i| self.schema.field(i).name().clone())
    }

    /// The columns of a quantity in all slots, as far as they are there.
    pub(crate) fn slot_columns(&self, base: &str, columns: &Columns) -> Vec<usize> {
        match (&columns.format, self.slots(base, ColumnRole::Logging.into())) {
            (RowFormat::Long { .. }, _) => self.index(base).into_iter().collect(),
            (RowFormat::Wide, Ok(arrangement)) => arrangement.columns().to_vec(),
            (RowFormat::Wide, Err(_)) => Vec::new(),
        }
    }

    fn scalars(&self, columns: &Columns, spec: &Spec) -> Result<Vec<Scalar>> {
        let index = self.scalar(&columns.reward, ColumnRole::Reward.into(), types::is_reward)?;
        let mut scalars = vec![Scalar { field: Field::Reward, name: columns.reward.clone(), index }];
        if let Structure::Ranking(Pool::Column(name)) = &spec.structure {
            let index = self.scalar(name, ColumnRole::Pool.into(), types::is_number)?;
            scalars.push(Scalar { field: Field::Pool, name: name.clone(), index });
        }
        if spec.structure.needs().weight {
            for (policy, target) in columns.targets.iter().enumerate() {
                let content = ColumnRole::Weight.of(&target.name);
                let index = self.scalar(&target.weight, content, types::is_number)?;
                scalars.push(Scalar { field: Field::Weight { policy }, name: target.weight.clone(), index });
            }
        }
        Ok(scalars)
    }

    fn groups(&self, columns: &Columns, spec: &Spec) -> Result<Vec<SlotColumns>> {
        let needs = spec.structure.needs();
        let mut groups = Vec::new();
        let mut add = |role: Role, base: &str| -> Result<()> {
            let content = match role.described() {
                (role, Some(policy)) => role.of(&columns.targets[policy].name),
                (role, None) => role.into(),
            };
            let arrangement = match columns.format {
                RowFormat::Wide => self.slots(base, content)?,
                RowFormat::Long { .. } => Arrangement::Long(self.scalar(base, content, types::is_number)?),
            };
            groups.push(SlotColumns { role, base: base.into(), arrangement });
            Ok(())
        };
        if needs.logging {
            add(Role::Logging, &columns.logging)?;
        }
        for (policy, target) in columns.targets.iter().enumerate() {
            if needs.slots {
                add(Role::Target(policy), &target.target)?;
            }
            if needs.anywhere {
                add(Role::Anywhere(policy), &target.anywhere)?;
            }
            if needs.slots && spec.policies[policy].chi {
                add(Role::Chi(policy), target.chi.name().unwrap_or("chi"))?;
            }
        }
        Ok(groups)
    }

    fn scalar(&self, name: &str, content: ColumnContent, fits: fn(&DataType) -> bool) -> Result<usize> {
        let index = self.index(name).ok_or_else(|| self.missing(name, "", content))?;
        self.check_numbers(index, fits)?;
        Ok(index)
    }

    fn check_numbers(&self, index: usize, fits: fn(&DataType) -> bool) -> Result<()> {
        self.check(index, fits, types::number_advice(self.data_type(index)))
    }

    fn check(&self, index: usize, fits: fn(&DataType) -> bool, advice: &'static str) -> Result<()> {
        let field = self.schema.field(index);
        // Values that are no numbers are refused with their rows.
        let fits_as_numbers = || is_mixed(field) && fits(as_numbers(field).data_type());
        if self.text || fits(field.data_type()) || fits_as_numbers() {
            return Ok(());
        }
        let column = self.schema.field(index).name().clone();
        Err(Error::WrongType { file: self.file.into(), column, found: self.data_type(index).to_string(), advice })
    }

    /// `base` as a list, `base_1, base_2, …`, or `base` as the one slot of all slates.
    fn slots(&self, base: &str, content: ColumnContent) -> Result<Arrangement> {
        let whole = self.index(base);
        if let Some(index) = whole
            && types::list_item(self.data_type(index)).is_some()
        {
            self.check_numbers(index, types::is_number_list)?;
            return Ok(Arrangement::List(index));
        }
        let wide: Vec<usize> = (1..=MAX_SLOTS + 1).map_while(|k| self.index(&numbered(base, k))).collect();
        if wide.len() > MAX_SLOTS {
            let base = brief(base);
            let what = format!(
                "there are more than {MAX_SLOTS} columns `{base}_1`, `{base}_2`, …, and slates of more slots cannot be \
                 evaluated; do they hold all candidates instead of the shown ones?"
            );
            return Err(Error::refused(self.file, what));
        }
        self.check_numbering(base, wide.len())?;
        match (wide.is_empty(), whole) {
            (false, _) => {
                wide.iter().try_for_each(|&i| self.check_numbers(i, types::is_number))?;
                Ok(Arrangement::Wide(wide))
            }
            (true, Some(index)) if self.is_single(index) => Ok(Arrangement::Single(index)),
            (true, Some(index)) => Err(Error::WrongType {
                file: self.file.into(),
                column: base.into(),
                found: self.data_type(index).to_string(),
                advice: "one number for each slot is needed: a list, or one column for each slot, numbered from `_1` on \
                         (for one row per slot, read the log in long format)",
            }),
            (true, None) => {
                let looked_for =
                    format!(" (looked for `{}`, `{}`, … and for a list)", numbered(base, 1), numbered(base, 2));
                Err(self.missing(base, &looked_for, content))
            }
        }
    }

    /// Whether a column of numbers is the one slot of each slate. In a log that has slates and positions, a row may well be
    /// one slot of several.
    fn is_single(&self, index: usize) -> bool {
        (self.text || types::is_number(self.data_type(index))) && !self.looks_long()
    }

    /// Whether the log has the columns that tell apart the slates and slots of a log in long format.
    fn looks_long(&self) -> bool {
        self.index("slate_id").is_some() && self.index("position").is_some()
    }

    /// Refuses numbered columns that do not run from 1 on without a gap.
    fn check_numbering(&self, base: &str, slots: usize) -> Result<()> {
        let prefix = format!("{base}_");
        for field in self.schema.fields() {
            let number = field.name().strip_prefix(&prefix).and_then(|n| n.parse::<usize>().ok());
            match number {
                Some(0) => {
                    let column = brief(field.name());
                    let what = format!(
                        "there is a column `{column}`, but slots are numbered from 1; rename the columns, or the slot \
                         `{column}` stands for would be lost"
                    );
                    return Err(Error::refused(self.file, what));
                }
                Some(n) if n > slots => {
                    let (column, last) = (numbered(base, slots + 1), field.name().clone());
                    return Err(Error::MissingSlot { file: self.file.into(), column, last });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses a column that is read if another one has the same name.
    fn check_doubles(&self, used: &[usize]) -> Result<()> {
        let mut count: HashMap<&str, usize> = HashMap::new();
        self.schema.fields().iter().for_each(|field| *count.entry(field.name()).or_default() += 1);
        let double = used.iter().map(|&i| self.schema.field(i).name()).find(|name| count[name.as_str()] > 1);
        match double {
            Some(column) => {
                let what = "and nothing tells which is meant; rename or remove one";
                Err(Error::refused(self.file, format!("there are two columns `{}`, {what}", brief(column))))
            }
            None => Ok(()),
        }
    }

    fn check_slot_counts(&self, groups: &[SlotColumns]) -> Result<()> {
        let mut first: Option<(&str, usize)> = None;
        for group in groups {
            let Some(own) = group.arrangement.slots() else { continue };
            let (base, slots) = *first.get_or_insert((&group.base, own));
            if slots != own {
                let (first, second) = (brief(base), brief(&group.base));
                let what = format!("`{first}` has {slots} slots and `{second}` has {own}; every slot needs both");
                return Err(Error::refused(self.file, what));
            }
        }
        Ok(())
    }

    fn keys(&self, slate: &str, position: &str) -> Result<Keys> {
        let slate_index = self.index(slate).ok_or_else(|| self.missing(slate, "", ColumnRole::Slate.into()))?;
        self.check(slate_index, types::is_key, "slates are told apart by whole numbers or text")?;
        let position_index = self.scalar(position, ColumnRole::Position.into(), types::is_number)?;
        Ok(Keys {
            slate: slate_index,
            slate_name: slate.into(),
            position: position_index,
            position_name: position.into(),
        })
    }

    fn labels(&self, spec: &Spec) -> Result<Vec<Label>> {
        let wanted = [(ColumnRole::Segment, &spec.by), (ColumnRole::Cluster, &spec.cluster)];
        wanted.into_iter().filter_map(|(role, name)| Some(self.label(role, name.as_deref()?))).collect()
    }

    /// Segments may be told apart by several columns, with commas between their names.
    fn label(&self, role: ColumnRole, name: &str) -> Result<Label> {
        let several = role == ColumnRole::Segment && name.contains(',') && self.label_place(role, name).is_err();
        let place = if several {
            let parts = name.split(',').map(str::trim);
            Place::Several(
                parts.map(|part| Ok((part.to_owned(), self.label_place(role, part)?))).collect::<Result<_>>()?,
            )
        } else {
            self.label_place(role, name)?
        };
        Ok(Label { role, name: name.into(), place })
    }

    fn label_place(&self, role: ColumnRole, name: &str) -> Result<Place> {
        if let Some(index) = self.index(name) {
            self.check(index, types::is_segment, type_advice(role))?;
            self.check(index, types::has_clock, types::ZONE_ADVICE)?;
            return Ok(Place::Column(index));
        }
        let constant = self.partition.iter().find(|(key, _)| key == name);
        constant.map(|(_, value)| Place::Constant(value.clone())).ok_or_else(|| self.missing(name, "", role.into()))
    }

    fn missing(&self, column: &str, looked_for: &str, content: ColumnContent) -> Error {
        let slots = !looked_for.is_empty();
        let names = self.schema.fields().iter().map(|f| f.name().as_str());
        let (of_slates, names): (Vec<&str>, Vec<&str>) = names
            .chain(self.partition.iter().map(|(key, _)| key.as_str()))
            .partition(|name| content.is_of_slots() && hint::OF_WHOLE_SLATES.contains(name));
        let mut hint = hint::hint(column, &names, slots);
        if let [name, ..] = of_slates[..] {
            hint += &hint::not_of_slots(name);
        }
        // Only a log of one row per slate is searched for numbered columns.
        if slots && self.looks_long() {
            hint += " It has `slate_id` and `position`: if a row is one slot of a slate, read it in long format (option `long`).";
        }
        Error::MissingColumn {
            file: self.file.into(),
            column: column.into(),
            looked_for: looked_for.into(),
            content: Box::new(content),
            hint: hint.into(),
        }
    }
}

pub(crate) fn numbered(base: &str, slot: usize) -> String {
    format!("{base}_{slot}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_schema::Field as Column;

    use super::*;

    fn schema(names: &[&str]) -> Schema {
        Schema::new(names.iter().map(|n| Column::new(*n, DataType::Float32, true)).collect::<Vec<_>>())
    }

    fn resolve(schema: &Schema) -> Result<Layout> {
        let found = Found { file: Path::new("log.parquet"), schema, text: false, partition: &[] };
        Layout::resolve(found, &Columns::wide_default(), &Spec::new(Structure::Additive, ["target"]))
    }

    fn message(names: &[&str]) -> String {
        resolve(&schema(names)).unwrap_err().to_string()
    }

    #[test]
    fn numbered_columns_are_found_in_any_order() {
        let layout = resolve(&schema(&["pi_2", "mu_1", "reward", "x", "pi_1", "mu_2"])).unwrap();
        assert_eq!(layout.selection().columns, [0, 1, 2, 4, 5]);
        assert!(matches!(&layout.groups[0].arrangement, Arrangement::Wide(c) if *c == [1, 5]));
        assert_eq!(layout.name_of(Field::Target { policy: 0, slot: 1 }), ("pi_2".into(), None));
    }

    #[test]
    fn a_missing_column_comes_with_its_nearest_names() {
        let text = message(&["rewards", "mu_1", "pi_1"]);
        assert!(text.contains("log.parquet: there is no column `reward`") && text.contains("`rewards`"), "{text}");
        let text = message(&["reward", "prop_1", "pi_1"]);
        assert!(text.contains("`mu` (looked for `mu_1`, `mu_2`, … and for a list)"), "{text}");
        assert!(text.contains("It has `reward`, `prop_1`, `pi_1`."), "{text}");
    }

    #[test]
    fn numbers_must_run_from_one_without_a_gap() {
        assert!(message(&["reward", "mu_1", "mu_3", "pi_1"]).contains("a column `mu_3` but no `mu_2`"));
        assert!(message(&["reward", "mu_0", "mu_1", "pi_1"]).contains("`mu_0`, but slots are numbered from 1"));
        let text = message(&["reward", "mu_1", "mu_2", "pi_1"]);
        assert!(text.contains("`mu` has 2 slots and `pi` has 1"), "{text}");
    }

    #[test]
    fn types_are_checked_and_named() {
        let fields = [("reward", DataType::Float64), ("mu_1", DataType::Utf8), ("pi_1", DataType::Float64)];
        let schema = Schema::new(fields.map(|(n, t)| Column::new(n, t, true)).to_vec());
        let text = resolve(&schema).unwrap_err().to_string();
        assert!(text.contains("column `mu_1` is of type Utf8") && text.contains("cast"), "{text}");
    }
}
