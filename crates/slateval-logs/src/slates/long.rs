//! One row per slot: the rows of a slate, which stand next to each other, into slates.

use std::path::Path;

use arrow_array::RecordBatch;
use slateval::{Block, Field, Segment};

use crate::columns::{Arrangement, Keys, Layout, MAX_SLOTS, Scalar};
use crate::error::{Error, Result, RowFault};
use crate::slates::done::Base;
use crate::slates::labels::Labels;
use crate::slates::numbers::{At, Numbers};
use crate::slates::rows::Intake;
use crate::survey::with_label;

/// Puts slots together into slates. Keeps one unfinished slate and one block of finished ones, however long the log.
#[derive(Debug)]
pub(super) struct LongSlates {
    keys: Keys,
    /// The number of the first slot, 0 or 1: the smallest position of the first slate.
    base: Option<f64>,
    open: Option<Slate>,
    done: Vec<Slate>,
    /// Slates that were added up, for their memory.
    spare: Vec<Slate>,
    /// A row whose slate is unknown: it may be one of the next slate's.
    stray: Option<Stray>,
}

/// A bad row whose slate is unknown.
#[derive(Debug)]
struct Stray {
    error: Error,
    /// Whether a slate was given up for it.
    counted: bool,
}

/// The rows of a slate.
#[derive(Debug, Default)]
struct Slate {
    id: Segment,
    /// Its first row in the file, from 1.
    first_row: u64,
    positions: Vec<f64>,
    /// `[group][row of the slate]`.
    slots: Vec<Vec<f64>>,
    scalars: Vec<f64>,
    /// The reward of each row of the slate.
    rewards: Vec<f64>,
    /// `[label]`.
    labels: Vec<Segment>,
    /// Its rows in the order of their positions, once it is finished.
    order: Vec<usize>,
    /// Why the slate cannot be used.
    fault: Option<Error>,
}

/// The columns of one batch.
#[derive(Debug)]
struct Rows {
    slate: Labels,
    positions: Vec<f64>,
    scalars: Vec<Vec<f64>>,
    slots: Vec<Vec<f64>>,
    /// In the order of the layout's labels.
    labels: Vec<Labels>,
}

impl LongSlates {
    pub(super) fn new(keys: Keys) -> Self {
        LongSlates { keys, base: None, open: None, done: Vec::new(), spare: Vec::new(), stray: None }
    }

    /// Goes on with batches that have these columns elsewhere.
    pub(super) fn rekey(&mut self, keys: &Keys) {
        self.keys = keys.clone();
    }

    /// Adds the rows of a batch, or none if a column has a bad row.
    pub(super) fn add(&mut self, to: &mut Intake, batch: &RecordBatch, at: At<'_>) -> Result<()> {
        let rows = Rows::new(&to.layout, &self.keys, to.text, batch, at)?;
        (0..batch.num_rows()).try_for_each(|row| self.add_row(to, &rows, row, at))
    }

    fn add_row(&mut self, to: &mut Intake, rows: &Rows, row: usize, at: At<'_>) -> Result<()> {
        let mut id = Segment::Null;
        rows.slate.read(row, &mut id);
        if id == Segment::Null {
            return self.stray(to, at.null(row, &self.keys.slate_name, None, "every row belongs to a slate"));
        }
        if self.open.as_ref().is_none_or(|open| open.id != id) {
            self.close(to)?;
            let mut slate = self.empty_slate(id, at.row(row));
            slate.start(&to.layout, rows, row, at);
            self.begin(slate);
        }
        self.stray = None;
        match &mut self.open {
            Some(open) if open.fault.is_none() => match open.extend(&to.layout, &self.keys, rows, row, at) {
                Ok(()) => Ok(()),
                Err(error) => self.give_up(error),
            },
            _ => Ok(()),
        }
    }

    /// Gives up the slate of a row that cannot be used. If its slate is unknown, it may be a row of the slate before it
    /// or of the one behind it: both are given up.
    pub(super) fn spoil(&mut self, to: &mut Intake, batch: &RecordBatch, row: usize, error: Error) -> Result<()> {
        let mut id = Segment::Null;
        if row < batch.num_rows() {
            Labels::new(batch.column(self.keys.slate), to.text, &to.file)?.read(row, &mut id);
        }
        if id == Segment::Null {
            return self.stray(to, error);
        }
        if self.open.as_ref().is_none_or(|open| open.id != id) {
            self.close(to)?;
            let slate = self.empty_slate(id, error.row().unwrap_or(0));
            self.begin(slate);
        }
        self.stray = None;
        self.give_up(error)
    }

    fn stray(&mut self, to: &mut Intake, error: Error) -> Result<()> {
        self.count_stray(to)?;
        self.stray = Some(Stray { error: error.clone(), counted: self.open.is_some() });
        self.give_up(error)
    }

    /// Counts a stray row by itself for which no slate was given up.
    fn count_stray(&mut self, to: &mut Intake) -> Result<()> {
        match self.stray.take() {
            Some(Stray { error, counted: false }) => to.faults.add(error),
            _ => Ok(()),
        }
    }

    /// Opens a slate, which is given up at once if a stray row stands before it.
    fn begin(&mut self, mut slate: Slate) {
        if let Some(stray) = self.stray.take() {
            slate.fault.get_or_insert(stray.error);
        }
        self.open = Some(slate);
    }

    /// Gives up the slate whose rows are being read, if there is one. Errors that are not about one row are handed back.
    fn give_up(&mut self, error: Error) -> Result<()> {
        if error.bad_row().is_none() {
            return Err(error);
        }
        if let Some(open) = &mut self.open {
            open.fault.get_or_insert(error);
        }
        Ok(())
    }

    pub(super) fn finish(mut self, to: &mut Intake) -> Result<Option<Base>> {
        self.close(to)?;
        self.count_stray(to)?;
        self.flush(to)?;
        Ok(self.base.map(|base| Base {
            file: to.file.to_path_buf(),
            // `close` has refused all bases but 0 and 1.
            first: u8::from(base == 1.0),
            slate_column: self.keys.slate_name,
            position_column: self.keys.position_name,
        }))
    }

    /// A slate of which no row has been read.
    fn empty_slate(&mut self, id: Segment, first_row: u64) -> Slate {
        Slate { id, first_row, ..self.spare.pop().unwrap_or_default() }
    }

    /// Finishes the slate being read: puts its slots in order and refuses one that is not whole.
    fn close(&mut self, to: &mut Intake) -> Result<()> {
        let Some(mut slate) = self.open.take() else { return Ok(()) };
        if let Some(fault) = slate.fault.take() {
            return to.faults.add(fault);
        }
        let positions = &slate.positions;
        slate.order.extend(0..positions.len());
        slate.order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
        let smallest = slate.order.first().map_or(f64::NAN, |&row| positions[row]);
        if smallest == 0.0 || smallest == 1.0 {
            self.base.get_or_insert(smallest);
        }
        let base = self.base.unwrap_or(smallest);
        let in_place = |(slot, &row): (usize, &usize)| positions[row] == base + slot as f64;
        if !(base == 0.0 || base == 1.0) || !slate.order.iter().enumerate().all(in_place) {
            return to.faults.add(slate.scattered(&to.file, &self.keys, base));
        }
        to.check_room(slate.order.len())?;
        to.survey.slot_rewards.see(&slate.rewards);
        self.done.push(slate);
        if self.done.len() == Block::ROWS { self.flush(to) } else { Ok(()) }
    }

    /// Adds up the finished slates.
    pub(super) fn flush(&mut self, to: &mut Intake) -> Result<()> {
        while !self.done.is_empty() {
            fill(&self.done, &to.layout, &mut to.block);
            let Err(error) = to.add_block(|slate| self.done[slate].labels.iter().fold(0, with_label)) else { break };
            let slateval::Error::BadValue { field, row, .. } = &error else { return Err(Error::Core(error)) };
            let slate = self.done.remove(*row);
            let row = slate.row(slot_of(*field));
            let fault = to.explain(error, |_| row);
            to.faults.add(fault)?;
        }
        self.spare.extend(self.done.drain(..).map(Slate::emptied));
        Ok(())
    }
}

impl Slate {
    /// Takes what a slate's first row says of all of it.
    fn start(&mut self, layout: &Layout, rows: &Rows, row: usize, at: At<'_>) {
        self.slots.resize(layout.groups.len(), Vec::new());
        for (scalar, values) in layout.scalars.iter().zip(&rows.scalars) {
            // Rewards are summed over the slate's rows, this one included.
            self.scalars.push(if scalar.field == Field::Reward { 0.0 } else { values[row] });
        }
        self.labels.resize(rows.labels.len(), Segment::Null);
        for ((label, from), value) in layout.labels.iter().zip(&rows.labels).zip(&mut self.labels) {
            from.read(row, value);
            if let Err(error) = label.check(value, row, at) {
                self.fault.get_or_insert(error);
            }
        }
    }

    /// Takes one more row.
    fn extend(&mut self, layout: &Layout, keys: &Keys, rows: &Rows, row: usize, at: At<'_>) -> Result<()> {
        if self.positions.len() == MAX_SLOTS {
            let (column, slots) = (keys.slate_name.as_str().into(), MAX_SLOTS + 1);
            let fault = RowFault::TooManySlots { column, slots, limit: MAX_SLOTS };
            return Err(Error::Row { file: at.file.into(), row: self.first_row, fault });
        }
        self.positions.push(rows.positions[row]);
        for (to, from) in self.slots.iter_mut().zip(&rows.slots) {
            to.push(from[row]);
        }
        for (i, scalar) in layout.scalars.iter().enumerate() {
            if scalar.field == Field::Reward {
                self.scalars[i] += rows.scalars[i][row];
                self.rewards.push(rows.scalars[i][row]);
            }
        }
        let mut value = Segment::Null;
        for ((label, from), first) in layout.labels.iter().zip(&rows.labels).zip(&self.labels) {
            from.read(row, &mut value);
            if value != *first {
                let fault = RowFault::TwoLabels {
                    slate: self.id.to_string().into(),
                    column: label.name.as_str().into(),
                    first: first.to_string().into(),
                    second: value.to_string().into(),
                    noun: label.role.word(),
                };
                return Err(at.fault(row, fault));
            }
        }
        Ok(())
    }

    fn scattered(&self, file: &Path, keys: &Keys, base: f64) -> Error {
        let list = |values: &mut dyn Iterator<Item = f64>| {
            let shown: Vec<String> = values.take(8).map(|p| p.to_string()).collect();
            shown.join(", ") + if self.positions.len() > 8 { ", …" } else { "" }
        };
        let first = if base == 0.0 { 0 } else { 1 };
        let fault = RowFault::Positions {
            has_first: self.positions.contains(&base) && (base == 0.0 || base == 1.0),
            slate: self.id.to_string().into(),
            positions: list(&mut self.positions.iter().copied()).into(),
            wanted: list(&mut (first..first + self.positions.len()).map(|p| p as f64)).into(),
            slate_column: keys.slate_name.as_str().into(),
            position_column: keys.position_name.as_str().into(),
        };
        Error::Row { file: file.into(), row: self.first_row, fault }
    }

    /// The file's row of a slot.
    fn row(&self, slot: usize) -> u64 {
        self.first_row + self.order.get(slot).map_or(0, |&row| row as u64)
    }

    /// The same memory without a row.
    fn emptied(mut self) -> Self {
        self.positions.clear();
        self.slots.iter_mut().for_each(Vec::clear);
        self.scalars.clear();
        self.rewards.clear();
        self.labels.clear();
        self.order.clear();
        self
    }
}

impl Rows {
    fn new(layout: &Layout, keys: &Keys, text: bool, batch: &RecordBatch, at: At<'_>) -> Result<Self> {
        let positions = Numbers::new(batch.column(keys.position), &keys.position_name, at)?;
        positions.refuse_nulls(&keys.position_name, "every slot needs its position", at)?;
        let mut scalars = Vec::new();
        for scalar in &layout.scalars {
            let numbers = Numbers::new(batch.column(scalar.index), &scalar.name, at)?;
            let values = with_nan(&numbers);
            // Weights and pools are those of a slate's first row; in its other rows they may be left out.
            if scalar.field == Field::Reward {
                numbers.refuse_nulls(&scalar.name, scalar.field.rule(), at)?;
                refuse_infinite(scalar, &values, at)?;
            }
            scalars.push(values);
        }
        let mut slots = Vec::new();
        for group in &layout.groups {
            let (Arrangement::Long(index) | Arrangement::List(index)) = group.arrangement else { continue };
            let numbers = Numbers::new(batch.column(index), &group.base, at)?;
            numbers.refuse_nulls(&group.base, "leave out the rows of slots that a slate does not have", at)?;
            slots.push(numbers.to_vec());
        }
        let labels = layout.labels.iter().map(|label| label.of(batch, text, at.file));
        let labels = labels.collect::<Result<Vec<_>>>()?;
        let slate = Labels::new(batch.column(keys.slate), text, at.file)?;
        Ok(Rows { slate, positions: positions.to_vec(), scalars, slots, labels })
    }
}

/// The values of a column, with NaN for nulls: the accumulator refuses those that are looked at.
fn with_nan(numbers: &Numbers) -> Vec<f64> {
    let mut values = numbers.to_vec();
    if let Some(nulls) = numbers.nulls() {
        values.iter_mut().zip(nulls.iter()).filter(|(_, valid)| !valid).for_each(|(v, _)| *v = f64::NAN);
    }
    values
}

/// Refuses a slot's reward while its row is known: in the slate's sum it would be any row's.
fn refuse_infinite(scalar: &Scalar, values: &[f64], at: At<'_>) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => {
            let (column, value) = (scalar.name.as_str().into(), values[row]);
            Err(at.fault(row, RowFault::BadValue { column, item: None, value, field: scalar.field }))
        }
    }
}

fn slot_of(field: Field) -> usize {
    match field {
        Field::Logging { slot }
        | Field::Target { slot, .. }
        | Field::Chi { slot, .. }
        | Field::Anywhere { slot, .. } => slot,
        _ => 0,
    }
}

/// Fills a block with finished slates.
fn fill(slates: &[Slate], layout: &Layout, block: &mut Block) {
    block.reset(slates.len(), slates.iter().map(|slate| slate.order.len()).max().unwrap_or(0));
    for (i, scalar) in layout.scalars.iter().enumerate() {
        let column = block.column_mut(scalar.field).iter_mut();
        column.zip(slates).for_each(|(out, slate)| *out = slate.scalars[i]);
    }
    for (i, group) in layout.groups.iter().enumerate() {
        for slot in 0..block.slots() {
            let value = |slate: &Slate| slate.order.get(slot).map_or(1.0, |&row| slate.slots[i][row]);
            let column = block.column_mut(group.role.field(slot)).iter_mut();
            column.zip(slates).for_each(|(out, slate)| *out = value(slate));
        }
    }
    for (row, slate) in slates.iter().enumerate() {
        (slate.order.len()..block.slots()).for_each(|slot| block.set_missing(row, slot));
        layout.labels.iter().zip(&slate.labels).for_each(|(label, value)| label.set(value, row, block));
    }
}
