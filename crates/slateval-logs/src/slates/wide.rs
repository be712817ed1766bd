//! One row per slate: batches into blocks, slot by slot.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use slateval::{Accumulator, Block, Segment, Spec};

use crate::columns::{Arrangement, Label, Layout, MAX_SLOTS, Scalar, SlotColumns};
use crate::error::{Error, Result};
use crate::slates::budget::Budget;
use crate::slates::done::Done;
use crate::slates::faults::Faults;
use crate::slates::labels::Labels;
use crate::slates::lists::Lists;
use crate::slates::numbers::{At, Numbers};
use crate::survey::{Survey, with_label};

/// Adds up batches of slates.
#[derive(Debug)]
pub(crate) struct WideRows {
    file: PathBuf,
    layout: Layout,
    /// Whether cells are text (CSV).
    text: bool,
    block: Block,
    sums: Accumulator,
    scratch: Vec<f64>,
    /// Rows seen, bad ones included.
    rows: u64,
    faults: Faults,
    budget: Budget,
    survey: Arc<Survey>,
    /// Slots of the longest slate, and segments, that there is memory for.
    checked: (usize, usize),
}

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

impl WideRows {
    pub(crate) fn new(
        file: PathBuf,
        layout: Layout,
        text: bool,
        spec: &Spec,
        budget: Budget,
        survey: Arc<Survey>,
    ) -> Result<Self> {
        let sums = Accumulator::new(spec.clone())?;
        let (block, faults) = (Block::new(spec), Faults::default());
        if let Some(slots) = layout.slot_columns() {
            budget.foresee(spec, slots);
        }
        Ok(WideRows {
            file,
            layout,
            text,
            block,
            sums,
            scratch: Vec::new(),
            rows: 0,
            faults,
            budget,
            survey,
            checked: (0, 0),
        })
    }

    /// Adds a batch that stands behind `first_row` rows of its file, without the rows that its reader could not read
    /// and without those that no slate can be. Both are kept as faults.
    pub(crate) fn add(&mut self, batch: &RecordBatch, first_row: u64, unread: Vec<Error>) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        let mut start = 0;
        for error in unread {
            let row = error.row().map_or(0, |row| row.saturating_sub(first_row + 1) as usize);
            self.add_range(batch, start..row.clamp(start, batch.num_rows()), first_row)?;
            start = (row + 1).min(batch.num_rows());
            self.faults.add(self.layout.explained(error))?;
        }
        self.add_range(batch, start..batch.num_rows(), first_row)
    }

    /// Adds some rows of a batch. Bad ones are looked for only where there are some, by halves.
    fn add_range(&mut self, batch: &RecordBatch, rows: Range<usize>, first_row: u64) -> Result<()> {
        let slice = batch.slice(rows.start, rows.len());
        let (added, result) = self.add_good(&slice, first_row + rows.start as u64);
        let Err(error) = result else { return Ok(()) };
        if error.bad_row().is_none() {
            return Err(error);
        }
        let left = rows.start + added..rows.end;
        if left.len() <= 1 {
            return self.faults.add(self.layout.explained(error));
        }
        let middle = left.start + left.len() / 2;
        self.add_range(batch, left.start..middle, first_row)?;
        self.add_range(batch, middle..left.end, first_row)
    }

    /// Adds rows block by block, until one has a bad row; returns how many rows were added.
    fn add_good(&mut self, batch: &RecordBatch, first_row: u64) -> (usize, Result<()>) {
        let at = At { file: &self.file, first_row };
        let mut columns = match Columns::new(&self.layout, self.text, batch, at) {
            Ok(columns) => columns,
            Err(error) => return (0, Err(error)),
        };
        let slots = columns.slots(0..batch.num_rows());
        if let Err(error) = self.budget.check_more(&self.sums, slots, &mut self.checked) {
            return (0, Err(error));
        }
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = start..batch.num_rows().min(start + Block::ROWS);
            let filled = columns.fill(rows.clone(), at, &mut self.block, &mut self.scratch);
            let row_of = |row| at.row(start + row);
            let add = |()| self.sums.add(&self.block).map_err(|e| explain(e, &self.layout, at, row_of));
            if let Err(error) = filled.and_then(add) {
                self.faults.see(&self.block, self.layout.contents());
                return (start, Err(error));
            }
            self.survey.see(&self.block, self.layout.contents(), |row| columns.label_hash(start + row));
            start = rows.end;
        }
        (start, Ok(()))
    }

    /// The bad rows so far.
    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Goes on with batches that have their columns elsewhere.
    pub(crate) fn relayout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    pub(crate) fn finish(self) -> Done {
        Done::of_rows(self.sums.finish().into(), self.rows, self.faults)
    }
}

/// Turns a refusal of the accumulator into one that names file, column and row.
pub(crate) fn explain(error: slateval::Error, layout: &Layout, at: At<'_>, row_of: impl FnOnce(usize) -> u64) -> Error {
    match error {
        slateval::Error::BadValue { row, field, value, .. } => {
            let (column, item) = layout.name_of(field);
            Error::BadValue { file: at.file.into(), row: row_of(row), column, item, value, field }
        }
        other => Error::Core(other),
    }
}

/// Refuses nulls in a column that must not have any.
pub(crate) fn check_scalar(scalar: &Scalar, numbers: &Numbers, at: At<'_>) -> Result<()> {
    match numbers.first_null() {
        None => Ok(()),
        Some(row) => Err(Error::NullValue {
            file: at.file.into(),
            row: at.row(row),
            column: scalar.name.clone(),
            item: None,
            rule: scalar.field.rule(),
        }),
    }
}

impl<'a> Columns<'a> {
    fn new(layout: &'a Layout, text: bool, batch: &RecordBatch, at: At<'_>) -> Result<Self> {
        let mut scalars = Vec::with_capacity(layout.scalars.len());
        for scalar in &layout.scalars {
            let numbers = Numbers::new(batch.column(scalar.index), &scalar.name, at)?;
            check_scalar(scalar, &numbers, at)?;
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
                return Err(Error::Lengths {
                    file: at.file.into(),
                    row: at.row(row),
                    first: known.base.clone(),
                    first_length: other.length(row),
                    second: group.base.clone(),
                    second_length: lists.length(row),
                });
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
            (Some(absent), Some(present)) => Err(half_slot(absent, present, slot, at.row(row))(at)),
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
                let rule = group.role.field(slot).rule();
                return Err(Error::NullValue { file: at.file.into(), row: at.row(row), column, item, rule });
            }
        }
        Ok(())
    }
}

fn half_slot(absent: &SlotColumns, present: &SlotColumns, slot: usize, row: u64) -> impl Fn(At<'_>) -> Error {
    let (column, item) = absent.name(slot);
    let (other, other_item) = present.name(slot);
    move |at| Error::HalfSlot {
        file: at.file.into(),
        row,
        column: column.clone(),
        item,
        other: other.clone(),
        other_item,
    }
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
        if let Some(row) = array.nulls().and_then(|nulls| (0..nulls.len()).find(|&i| nulls.is_null(i))) {
            let rule = "every row needs a list with one item for each slot";
            let (file, column) = (at.file.into(), group.base.clone());
            return Err(Error::NullValue { file, row: at.row(row), column, item: None, rule });
        }
        let (lists, values) = Lists::new(array);
        if let Some(row) = lists.first_longer(MAX_SLOTS) {
            return Err(Error::TooManySlots {
                file: at.file.into(),
                row: at.row(row),
                column: group.base.clone(),
                slots: lists.length(row),
                limit: MAX_SLOTS,
            });
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
