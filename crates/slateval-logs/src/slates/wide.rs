//! One row per slate: batches into blocks, slot by slot.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use slateval::{Block, Segment};

use crate::columns::{Arrangement, Label, Layout, MAX_SLOTS, Scalar, SlotColumns};
use crate::error::{Result, RowFault};
use crate::slates::labels::Labels;
use crate::slates::lists::Lists;
use crate::slates::numbers::{At, Numbers, first_null};
use crate::slates::rows::Intake;
use crate::survey::with_label;

/// One quantity in all slots of a batch.
#[derive(Debug)]
enum Slots {
    Wide(Vec<Numbers>),
    List { lists: Lists, values: Numbers },
}

/// The columns of one batch, ready to be copied.
#[derive(Debug)]
struct Columns<'a> {
    scalars: Vec<(&'a Scalar, Numbers)>,
    groups: Vec<(&'a SlotColumns, Slots)>,
    labels: Vec<(&'a Label, Labels)>,
    /// Every row has every slot, so nobody needs to look for nulls.
    full: bool,
}

/// Adds rows block by block, until one has a bad row; returns how many rows were added.
pub(super) fn add(to: &mut Intake, batch: &RecordBatch, at: At<'_>) -> (usize, Result<()>) {
    let mut start = 0;
    let result = add_until(to, batch, at, &mut start);
    (start, result)
}

fn add_until(to: &mut Intake, batch: &RecordBatch, at: At<'_>, start: &mut usize) -> Result<()> {
    let layout = to.layout.clone();
    let mut columns = Columns::new(&layout, to.text, batch, at)?;
    to.check_room(columns.slots(0..batch.num_rows()))?;
    let mut scratch = Vec::new();
    while *start < batch.num_rows() {
        let rows = *start..batch.num_rows().min(*start + Block::ROWS);
        if let Err(error) = columns.fill(rows.clone(), at, &mut to.block, &mut scratch) {
            to.faults.see(&to.block, layout.contents());
            return Err(error);
        }
        let added = to.add_block(|row| columns.label_hash(rows.start + row));
        added.map_err(|error| to.explain(error, |row| at.row(rows.start + row)))?;
        *start = rows.end;
    }
    Ok(())
}

impl<'a> Columns<'a> {
    fn new(layout: &'a Layout, text: bool, batch: &RecordBatch, at: At<'_>) -> Result<Self> {
        let mut scalars = Vec::with_capacity(layout.scalars.len());
        for scalar in &layout.scalars {
            let numbers = Numbers::new(batch.column(scalar.index), &scalar.name, at)?;
            numbers.refuse_nulls(&scalar.name, scalar.field.rule(), at)?;
            scalars.push((scalar, numbers));
        }
        let mut groups = Vec::with_capacity(layout.groups.len());
        for group in &layout.groups {
            groups.push((group, Slots::new(group, batch, at)?));
        }
        let mut labels = Vec::with_capacity(layout.labels.len());
        for label in &layout.labels {
            labels.push((label, label.of(batch, text, at.file)?));
        }
        let mut columns = Columns { scalars, groups, labels, full: false };
        columns.check_lengths(at)?;
        columns.full = columns.is_full(batch.num_rows());
        Ok(columns)
    }

    /// Refuses lists of different lengths in one row.
    fn check_lengths(&self, at: At<'_>) -> Result<()> {
        let mut first: Option<(&SlotColumns, &Lists)> = None;
        for (group, slots) in &self.groups {
            let Slots::List { lists, .. } = slots else { continue };
            let (known, other) = *first.get_or_insert((group, lists));
            if let Some(row) = lists.first_difference(other) {
                let (first, first_length) = (known.base.as_str().into(), other.length(row));
                let (second, second_length) = (group.base.as_str().into(), lists.length(row));
                return Err(at.fault(row, RowFault::Lengths { first, first_length, second, second_length }));
            }
        }
        Ok(())
    }

    fn is_full(&self, rows: usize) -> bool {
        let slots = self.slots(0..rows);
        self.groups.iter().all(|(_, group)| group.is_full(slots))
    }

    /// Slots of the longest slate among some rows.
    fn slots(&self, rows: Range<usize>) -> usize {
        self.groups.iter().map(|(_, slots)| slots.longest(rows.clone())).max().unwrap_or(0)
    }

    fn fill(&mut self, rows: Range<usize>, at: At<'_>, block: &mut Block, scratch: &mut Vec<f64>) -> Result<()> {
        block.reset(rows.len(), self.slots(rows.clone()));
        for (scalar, numbers) in &self.scalars {
            numbers.fill(rows.clone(), scalar.field, block);
        }
        for (group, slots) in &self.groups {
            slots.fill(group, rows.clone(), block, scratch);
        }
        if !self.full {
            self.mark_missing(rows.clone(), at, block)?;
        }
        self.labels.iter_mut().try_for_each(|(label, labels)| labels.assign(label, rows.start, at, block))
    }

    /// A hash of what a row is labelled with.
    fn label_hash(&self, row: usize) -> u64 {
        let mut value = Segment::Null;
        self.labels.iter().fold(0, |hash, (_, labels)| {
            labels.read(row, &mut value);
            with_label(hash, &value)
        })
    }

    /// Finds the slots that slates do not have, and values that are there only in part.
    fn mark_missing(&self, rows: Range<usize>, at: At<'_>, block: &mut Block) -> Result<()> {
        for slot in 0..block.slots() {
            if self.groups.iter().all(|(_, slots)| slots.have(slot, rows.clone())) {
                continue;
            }
            for row in rows.clone() {
                if !self.has_slot(row, slot, at)? {
                    block.set_missing(row - rows.start, slot);
                }
            }
        }
        Ok(())
    }

    /// Whether a slate has a slot. Refuses one that is there only in part.
    fn has_slot(&self, row: usize, slot: usize, at: At<'_>) -> Result<bool> {
        let (mut absent, mut present) = (None, None);
        for (group, slots) in self.groups.iter().filter(|(group, _)| group.role.decides()) {
            let place = if slots.is_absent(row, slot) { &mut absent } else { &mut present };
            place.get_or_insert(*group);
        }
        match (absent, present) {
            (Some(absent), Some(present)) => Err(at.fault(row, half_slot(absent, present, slot))),
            (Some(_), None) => Ok(false),
            (None, _) => self.check_chi(row, slot, at).map(|()| true),
        }
    }

    /// A slot that is there needs its chi.
    fn check_chi(&self, row: usize, slot: usize, at: At<'_>) -> Result<()> {
        let chi = self.groups.iter().filter(|(group, _)| !group.role.decides());
        for (group, slots) in chi {
            if slots.is_absent(row, slot) {
                let (column, item) = group.name(slot);
                return Err(at.null(row, &column, item, group.role.field(slot).rule()));
            }
        }
        Ok(())
    }
}

fn half_slot(absent: &SlotColumns, present: &SlotColumns, slot: usize) -> RowFault {
    let ((column, item), (other, other_item)) = (absent.name(slot), present.name(slot));
    RowFault::HalfSlot { column: column.into(), item, other: other.into(), other_item }
}

impl Slots {
    fn new(group: &SlotColumns, batch: &RecordBatch, at: At<'_>) -> Result<Self> {
        match &group.arrangement {
            slots @ (Arrangement::Wide(_) | Arrangement::Single(_)) => {
                let numbers = |(slot, &i): (usize, &usize)| Numbers::new(batch.column(i), &group.name(slot).0, at);
                Ok(Slots::Wide(slots.columns().iter().enumerate().map(numbers).collect::<Result<_>>()?))
            }
            Arrangement::List(column) | Arrangement::Long(column) => Self::list(group, batch.column(*column), at),
        }
    }

    fn list(group: &SlotColumns, array: &ArrayRef, at: At<'_>) -> Result<Self> {
        if let Some(row) = first_null(array) {
            return Err(at.null(row, &group.base, None, "every row needs a list with one item for each slot"));
        }
        let (lists, values) = Lists::new(array);
        if let Some(row) = lists.first_longer(MAX_SLOTS) {
            let (column, slots) = (group.base.as_str().into(), lists.length(row));
            return Err(at.fault(row, RowFault::TooManySlots { column, slots, limit: MAX_SLOTS }));
        }
        Ok(Slots::List { lists, values: Numbers::new(&values, &group.base, at)? })
    }

    fn longest(&self, rows: Range<usize>) -> usize {
        match self {
            Slots::Wide(columns) => columns.len(),
            Slots::List { lists, .. } => lists.longest(rows),
        }
    }

    /// Whether every row has a value in each of `slots` slots.
    fn is_full(&self, slots: usize) -> bool {
        match self {
            Slots::Wide(columns) => columns.len() == slots && columns.iter().all(|c| c.nulls().is_none()),
            Slots::List { lists, values } => values.nulls().is_none() && lists.all(0..lists.rows(), slots),
        }
    }

    /// Whether some rows all have a value in a slot.
    fn have(&self, slot: usize, rows: Range<usize>) -> bool {
        match self {
            Slots::Wide(columns) => columns.get(slot).is_some_and(|column| column.has_all(rows)),
            Slots::List { lists, values } => values.nulls().is_none() && slot < lists.shortest(rows),
        }
    }

    fn is_absent(&self, row: usize, slot: usize) -> bool {
        match self {
            Slots::Wide(columns) => columns.get(slot).is_none_or(|c| c.is_null(row)),
            Slots::List { lists, values } => slot >= lists.length(row) || values.is_null(lists.start(row) + slot),
        }
    }

    /// Copies some rows into a block; slots that a slate does not have get any value.
    fn fill(&self, group: &SlotColumns, rows: Range<usize>, block: &mut Block, scratch: &mut Vec<f64>) {
        match self {
            Slots::Wide(columns) => {
                for (slot, column) in columns.iter().enumerate() {
                    column.fill(rows.clone(), group.role.field(slot), block);
                }
            }
            Slots::List { lists, values } => {
                let items = lists.start(rows.start)..lists.start(rows.end);
                if let Some(length) = lists.equal().filter(|&length| length == block.slots()) {
                    for slot in 0..length {
                        values.copy_column(items.clone(), length, slot, block.column_mut(group.role.field(slot)));
                    }
                    return;
                }
                match values.floats(items.clone()) {
                    Some(items) => transpose(lists, rows, items, group, block),
                    None => {
                        scratch.resize(items.len(), 0.0);
                        values.copy(items, scratch);
                        transpose(lists, rows, scratch, group, block);
                    }
                }
            }
        }
    }
}

/// The lists of some rows, end to end, into one column for each slot. Their lengths differ.
fn transpose(lists: &Lists, rows: Range<usize>, items: &[f64], group: &SlotColumns, block: &mut Block) {
    let slots = block.slots();
    let first = lists.start(rows.start);
    for slot in 0..slots {
        let column = block.column_mut(group.role.field(slot));
        for (out, row) in column.iter_mut().zip(rows.clone()) {
            *out = if slot < lists.length(row) { items[lists.start(row) - first + slot] } else { 1.0 };
        }
    }
}
