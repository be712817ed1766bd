//! One row per slot: the rows of a slate, which stand next to each other, into slates.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use slateval::{Accumulator, Block, Field, Segment, Spec};

use crate::columns::{Arrangement, Keys, Layout, MAX_SLOTS, Scalar};
use crate::error::{Error, Result};
use crate::slates::budget::Budget;
use crate::slates::done::{Base, Done};
use crate::slates::faults::Faults;
use crate::slates::labels::Labels;
use crate::slates::numbers::{At, Numbers};
use crate::slates::wide::{check_scalar, explain};
use crate::survey::{Survey, with_label};

/// Adds up batches of slots. Keeps one unfinished slate and one block of finished ones, however long the log.
#[derive(Debug)]
pub(crate) struct LongRows {
    file: PathBuf,
    layout: Layout,
    keys: Keys,
    text: bool,
    /// The number of the first slot, 0 or 1: the smallest position of the first slate.
    base: Option<f64>,
    open: Option<Slate>,
    /// A slate that was closed, for its memory.
    spare: Option<Slate>,
    /// Buffer for the rows of a slate in the order of their positions.
    order: Vec<usize>,
    /// A row of which nobody knows its slate: it may be one of the next slate's.
    stray: Option<Stray>,
    done: Slates,
    block: Block,
    sums: Accumulator,
    /// Rows seen, bad ones included.
    rows: u64,
    /// Slates that cannot be used.
    faults: Faults,
    budget: Budget,
    survey: Arc<Survey>,
    /// Slots of the longest slate, and segments, that there is memory for.
    checked: (usize, usize),
}

/// A bad row of which nobody knows its slate.
#[derive(Debug)]
struct Stray {
    error: Error,
    /// Whether a slate was given up for it.
    counted: bool,
}

/// The slate whose rows are being read.
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
    /// Why the slate cannot be used.
    fault: Option<Error>,
}

/// Finished slates, end to end.
#[derive(Debug)]
struct Slates {
    /// `[slate]`, and one more.
    starts: Vec<usize>,
    /// `[group][slot of a slate]`.
    slots: Vec<Vec<f64>>,
    /// The file's row of each slot of a slate.
    rows: Vec<u64>,
    /// `[scalar][slate]`.
    scalars: Vec<Vec<f64>>,
    /// `[slate][label]`.
    labels: Vec<Vec<Segment>>,
    first_rows: Vec<u64>,
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

impl LongRows {
    pub(crate) fn new(
        file: PathBuf,
        layout: Layout,
        keys: Keys,
        text: bool,
        spec: &Spec,
        budget: Budget,
        survey: Arc<Survey>,
    ) -> Result<Self> {
        let done = Slates::new(layout.groups.len(), layout.scalars.len());
        let sums = Accumulator::new(spec.clone())?;
        Ok(LongRows {
            file,
            layout,
            keys,
            text,
            base: None,
            open: None,
            spare: None,
            order: Vec::new(),
            stray: None,
            done,
            block: Block::new(spec),
            sums,
            rows: 0,
            faults: Faults::default(),
            budget,
            survey,
            checked: (0, 0),
        })
    }

    /// Adds a batch that stands behind `first_row` rows of its file. A row that its reader could not read, or that holds
    /// what cannot be, spoils its slate.
    pub(crate) fn add(&mut self, batch: &RecordBatch, first_row: u64, unread: Vec<Error>) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        let mut start = 0;
        for error in unread {
            let row = error.row().map_or(0, |row| row.saturating_sub(first_row + 1) as usize);
            let row = row.clamp(start, batch.num_rows());
            self.add_range(batch, start..row, first_row)?;
            start = (row + 1).min(batch.num_rows());
            self.spoil(batch, row, error)?;
        }
        self.add_range(batch, start..batch.num_rows(), first_row)
    }

    /// Adds some rows of a batch. Bad ones are looked for only where there are some, by halves.
    fn add_range(&mut self, batch: &RecordBatch, rows: Range<usize>, first_row: u64) -> Result<()> {
        let slice = batch.slice(rows.start, rows.len());
        let file = self.file.clone();
        let at = At { file: &file, first_row: first_row + rows.start as u64 };
        match self.rows(&slice, at) {
            Ok(read) => (0..slice.num_rows()).try_for_each(|row| self.add_row(&read, row, at)),
            Err(error) if error.bad_row().is_none() => Err(error),
            Err(error) if rows.len() <= 1 => self.spoil(batch, rows.start, error),
            Err(_) => {
                let middle = rows.start + rows.len() / 2;
                self.add_range(batch, rows.start..middle, first_row)?;
                self.add_range(batch, middle..rows.end, first_row)
            }
        }
    }

    fn add_row(&mut self, rows: &Rows, row: usize, at: At<'_>) -> Result<()> {
        let mut id = Segment::Null;
        rows.slate.read(row, &mut id);
        if id == Segment::Null {
            let (file, column) = (at.file.into(), self.keys.slate_name.clone());
            let rule = "every row belongs to a slate";
            return self.stray(Error::NullValue { file, row: at.row(row), column, item: None, rule });
        }
        if self.open.as_ref().is_none_or(|open| open.id != id) {
            self.close()?;
            let slate = self.start(id, rows, row, at);
            self.begin(slate);
        }
        self.stray = None;
        if let Err(error) = self.extend(rows, row, at) {
            self.give_up(error)?;
        }
        Ok(())
    }

    /// Gives up the slate of a row that cannot be used. If nobody knows its slate, it may be a row of the slate before it
    /// or of the one behind it: both are given up.
    fn spoil(&mut self, batch: &RecordBatch, row: usize, error: Error) -> Result<()> {
        let error = self.layout.explained(error);
        let mut id = Segment::Null;
        if row < batch.num_rows() {
            let file = self.file.clone();
            Labels::new(batch.column(self.keys.slate), self.text, &file)?.read(row, &mut id);
        }
        if id == Segment::Null {
            return self.stray(error);
        }
        if self.open.as_ref().is_none_or(|open| open.id != id) {
            self.close()?;
            let first_row = error.row().unwrap_or(0);
            let slate = self.empty_slate(id, first_row);
            self.begin(slate);
        }
        self.stray = None;
        self.give_up(error)
    }

    fn stray(&mut self, error: Error) -> Result<()> {
        self.count_stray()?;
        self.stray = Some(Stray { error: error.clone(), counted: self.open.is_some() });
        self.give_up(error)
    }

    /// Counts a stray row by itself for which no slate was given up.
    fn count_stray(&mut self) -> Result<()> {
        match self.stray.take() {
            Some(Stray { error, counted: false }) => self.faults.add(error),
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

    /// The slates so far that cannot be used. Those whose values are looked at in blocks are looked at now.
    pub(crate) fn faults(&mut self) -> Result<&Faults> {
        if !self.faults.is_empty() {
            self.flush()?;
        }
        Ok(&self.faults)
    }

    /// Goes on with batches that have their columns elsewhere.
    pub(crate) fn relayout(&mut self, layout: Layout) {
        if let Some(keys) = layout.keys.clone() {
            self.keys = keys;
        }
        self.layout = layout;
    }

    pub(crate) fn finish(mut self) -> Result<Done> {
        self.close()?;
        self.count_stray()?;
        self.flush()?;
        let base = self.base.map(|base| Base {
            file: self.file,
            // `close` has refused all bases but 0 and 1.
            first: u8::from(base == 1.0),
            slate_column: self.keys.slate_name,
            position_column: self.keys.position_name,
        });
        Ok(Done { base, ..Done::of_rows(self.sums.finish().into(), self.rows, self.faults) })
    }

    fn rows(&self, batch: &RecordBatch, at: At<'_>) -> Result<Rows> {
        let Keys { slate, position, position_name, .. } = &self.keys;
        let positions = Numbers::new(batch.column(*position), position_name, at)?;
        refuse_nulls(&positions, position_name, "every slot needs its position", at)?;
        let mut scalars = Vec::new();
        for scalar in &self.layout.scalars {
            let numbers = Numbers::new(batch.column(scalar.index), &scalar.name, at)?;
            // Weights and pools are those of a slate's first row; in its other rows they may be left out.
            if scalar.field == Field::Reward {
                check_scalar(scalar, &numbers, at)?;
            }
            let values = with_nan(&numbers);
            if scalar.field == Field::Reward {
                refuse_infinite(scalar, &values, at)?;
            }
            scalars.push(values);
        }
        let mut slots = Vec::new();
        for group in &self.layout.groups {
            let (Arrangement::Long(index) | Arrangement::List(index)) = group.arrangement else { continue };
            let numbers = Numbers::new(batch.column(index), &group.base, at)?;
            refuse_nulls(&numbers, &group.base, "leave out the rows of slots that a slate does not have", at)?;
            slots.push(numbers.to_vec());
        }
        let labels = self.layout.labels.iter().map(|label| label.of(batch, self.text, at.file));
        let labels = labels.collect::<Result<Vec<_>>>()?;
        let slate = Labels::new(batch.column(*slate), self.text, at.file)?;
        Ok(Rows { slate, positions: positions.to_vec(), scalars, slots, labels })
    }

    /// A slate of which no row has been read.
    fn empty_slate(&mut self, id: Segment, first_row: u64) -> Slate {
        let mut slate = self.spare.take().unwrap_or_default();
        slate.slots.resize(self.layout.groups.len(), Vec::new());
        Slate { id, first_row, ..slate }
    }

    fn start(&mut self, id: Segment, rows: &Rows, row: usize, at: At<'_>) -> Slate {
        let mut slate = self.empty_slate(id, at.row(row));
        for (scalar, values) in self.layout.scalars.iter().zip(&rows.scalars) {
            // Rewards are summed over the slate's rows, this one included.
            slate.scalars.push(if scalar.field == Field::Reward { 0.0 } else { values[row] });
        }
        slate.labels.resize(rows.labels.len(), Segment::Null);
        for ((label, from), value) in self.layout.labels.iter().zip(&rows.labels).zip(&mut slate.labels) {
            from.read(row, value);
            if let Err(error) = label.check(value, row, at) {
                slate.fault.get_or_insert(error);
            }
        }
        slate
    }

    fn extend(&mut self, rows: &Rows, row: usize, at: At<'_>) -> Result<()> {
        let Some(open) = self.open.as_mut().filter(|open| open.fault.is_none()) else { return Ok(()) };
        if open.positions.len() == MAX_SLOTS {
            let (file, column, slots) = (at.file.into(), self.keys.slate_name.clone(), MAX_SLOTS + 1);
            return Err(Error::TooManySlots { file, row: open.first_row, column, slots, limit: MAX_SLOTS });
        }
        open.positions.push(rows.positions[row]);
        for (to, from) in open.slots.iter_mut().zip(&rows.slots) {
            to.push(from[row]);
        }
        for (i, scalar) in self.layout.scalars.iter().enumerate() {
            if scalar.field == Field::Reward {
                open.scalars[i] += rows.scalars[i][row];
                open.rewards.push(rows.scalars[i][row]);
            }
        }
        let mut value = Segment::Null;
        for ((label, from), first) in self.layout.labels.iter().zip(&rows.labels).zip(&open.labels) {
            from.read(row, &mut value);
            if value != *first {
                return Err(Error::TwoLabels {
                    file: at.file.into(),
                    row: at.row(row),
                    slate: open.id.to_string().into(),
                    column: label.name.as_str().into(),
                    first: first.to_string().into(),
                    second: value.to_string().into(),
                    noun: label.role.noun(),
                });
            }
        }
        Ok(())
    }

    /// Finishes the slate being read: puts its slots in order and refuses one that is not whole.
    fn close(&mut self) -> Result<()> {
        let Some(mut slate) = self.open.take() else { return Ok(()) };
        if let Some(fault) = slate.fault.take() {
            return self.faults.add(fault);
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..slate.positions.len());
        order.sort_by(|&a, &b| slate.positions[a].total_cmp(&slate.positions[b]));
        let smallest = order.first().map_or(f64::NAN, |&i| slate.positions[i]);
        if smallest == 0.0 || smallest == 1.0 {
            self.base.get_or_insert(smallest);
        }
        let base = self.base.unwrap_or(smallest);
        let in_place = |(slot, &i): (usize, &usize)| slate.positions[i] == base + slot as f64;
        if !(base == 0.0 || base == 1.0) || !order.iter().enumerate().all(in_place) {
            return self.faults.add(self.scattered(&slate, base));
        }
        self.budget.check_more(&self.sums, order.len(), &mut self.checked)?;
        self.survey.slot_rewards.see(&slate.rewards);
        self.done.push(&mut slate, &order);
        (self.spare, self.order) = (Some(slate.emptied()), order);
        if self.done.len() == Block::ROWS { self.flush() } else { Ok(()) }
    }

    fn scattered(&self, slate: &Slate, base: f64) -> Error {
        let list = |values: &mut dyn Iterator<Item = f64>| {
            let shown: Vec<String> = values.take(8).map(|p| p.to_string()).collect();
            shown.join(", ") + if slate.positions.len() > 8 { ", …" } else { "" }
        };
        let first = if base == 0.0 { 0 } else { 1 };
        Error::Positions {
            file: self.file.clone(),
            row: slate.first_row,
            has_first: slate.positions.contains(&base) && (base == 0.0 || base == 1.0),
            slate: slate.id.to_string().into(),
            positions: list(&mut slate.positions.iter().copied()).into(),
            wanted: list(&mut (first..first + slate.positions.len()).map(|p| p as f64)).into(),
            slate_column: self.keys.slate_name.as_str().into(),
            position_column: self.keys.position_name.as_str().into(),
        }
    }

    /// Adds up the finished slates.
    fn flush(&mut self) -> Result<()> {
        while self.done.len() > 0 {
            self.done.fill(&self.layout, &mut self.block);
            let Err(error) = self.sums.add(&self.block) else {
                let label = |slate: usize| self.done.labels[slate].iter().fold(0, with_label);
                self.survey.see(&self.block, self.layout.contents(), label);
                break;
            };
            let slateval::Error::BadValue { field, row, .. } = &error else { return Err(Error::Core(error)) };
            self.faults.see(&self.block, self.layout.contents());
            let (slate, slot) = (*row, slot_of(*field));
            let at = At { file: &self.file, first_row: 0 };
            let bad = explain(error, &self.layout, at, |slate| self.done.row(slate, slot));
            self.faults.add(bad)?;
            self.done.remove(slate);
        }
        self.done.clear();
        Ok(())
    }
}

impl Slate {
    /// The same memory without a row.
    fn emptied(mut self) -> Self {
        self.positions.clear();
        self.slots.iter_mut().for_each(Vec::clear);
        self.scalars.clear();
        self.rewards.clear();
        self.labels.clear();
        Slate { id: Segment::Null, fault: None, ..self }
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

fn refuse_nulls(numbers: &Numbers, column: &str, rule: &'static str, at: At<'_>) -> Result<()> {
    match numbers.first_null() {
        None => Ok(()),
        Some(row) => {
            let (file, row) = (at.file.into(), at.row(row));
            Err(Error::NullValue { file, row, column: column.into(), item: None, rule })
        }
    }
}

/// Refuses a slot's reward while its row is known: in the slate's sum it would be any row's.
fn refuse_infinite(scalar: &Scalar, values: &[f64], at: At<'_>) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::BadValue {
            file: at.file.into(),
            row: at.row(row),
            column: scalar.name.clone(),
            item: None,
            value: values[row],
            field: scalar.field,
        }),
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

impl Slates {
    fn new(groups: usize, scalars: usize) -> Self {
        Slates {
            starts: vec![0],
            slots: vec![Vec::new(); groups],
            rows: Vec::new(),
            scalars: vec![Vec::new(); scalars],
            labels: Vec::new(),
            first_rows: Vec::new(),
        }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn clear(&mut self) {
        self.starts.truncate(1);
        self.slots.iter_mut().for_each(Vec::clear);
        self.rows.clear();
        self.scalars.iter_mut().for_each(Vec::clear);
        self.labels.clear();
        self.first_rows.clear();
    }

    /// Takes a slate, its rows in the order of their positions.
    fn push(&mut self, slate: &mut Slate, order: &[usize]) {
        for (to, from) in self.slots.iter_mut().zip(&slate.slots) {
            to.extend(order.iter().map(|&i| from[i]));
        }
        for (to, &from) in self.scalars.iter_mut().zip(&slate.scalars) {
            to.push(from);
        }
        self.rows.extend(order.iter().map(|&i| slate.first_row + i as u64));
        self.starts.push(self.rows.len());
        self.labels.push(std::mem::take(&mut slate.labels));
        self.first_rows.push(slate.first_row);
    }

    /// Takes a slate out.
    fn remove(&mut self, slate: usize) {
        let slots = self.starts[slate]..self.starts[slate + 1];
        self.slots.iter_mut().for_each(|values| drop(values.drain(slots.clone())));
        self.rows.drain(slots.clone());
        for values in &mut self.scalars {
            values.remove(slate);
        }
        self.labels.remove(slate);
        self.first_rows.remove(slate);
        self.starts.remove(slate + 1);
        self.starts[slate + 1..].iter_mut().for_each(|start| *start -= slots.len());
    }

    /// The file's row of a slot of a slate.
    fn row(&self, slate: usize, slot: usize) -> u64 {
        self.rows.get(self.starts[slate] + slot).copied().unwrap_or(self.first_rows[slate])
    }

    fn fill(&self, layout: &Layout, block: &mut Block) {
        let longest = self.starts.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0);
        block.reset(self.len(), longest);
        for (scalar, values) in layout.scalars.iter().zip(&self.scalars) {
            block.column_mut(scalar.field).copy_from_slice(values);
        }
        for (group, values) in layout.groups.iter().zip(&self.slots) {
            for slot in 0..block.slots() {
                let column = block.column_mut(group.role.field(slot)).iter_mut();
                for (out, slate) in column.zip(self.starts.windows(2)) {
                    *out = values[slate[0]..slate[1]].get(slot).copied().unwrap_or(1.0);
                }
            }
        }
        for (row, slate) in self.starts.windows(2).enumerate() {
            for slot in slate[1] - slate[0]..block.slots() {
                block.set_missing(row, slot);
            }
        }
        for (row, values) in self.labels.iter().enumerate() {
            layout.labels.iter().zip(values).for_each(|(label, value)| label.set(value, row, block));
        }
    }
}
