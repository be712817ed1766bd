//! Slates one by one, and chunks of any size: rows wait until they fill a block.

use std::borrow::Cow;

use crate::question::error::Result;
use crate::rows::block::Block;
use crate::rows::slate::Slate;
use crate::summary::Summary;
use crate::summary::cell::Cell;

impl Summary {
    /// Adds one slate.
    ///
    /// The slate is checked at once; its sums are added up when there are [`Block::ROWS`] slates to add. There is nothing
    /// to flush: [`evaluate`](Summary::evaluate), [`merge`](Summary::merge), [`to_bytes`](Summary::to_bytes) and all the
    /// others count every slate that was recorded.
    ///
    /// # Errors
    /// As [`add`](Summary::add), [`Error::BadShape`](crate::Error::BadShape) for a slate without what the specification
    /// asks for, and [`Error::HalfMissing`](crate::Error::HalfMissing). The summary is then as it was. The row of the error
    /// is the number of slates before this one.
    ///
    /// ```
    /// use slateval::{Settings, Slate, Spec, Structure, Summary};
    ///
    /// // Two actions, shown equally often; the first is worth 1. The target shows it in 9 of 10 slates.
    /// let mut summary = Summary::new(Spec::new(Structure::Additive, ["new"]))?;
    /// summary.record(&Slate::new(1.0).logging(&[0.5]).targets(&[&[0.9]]))?;
    /// summary.record(&Slate::new(0.0).logging(&[0.5]).targets(&[&[0.1]]))?;
    ///
    /// assert_eq!(summary.rows(), 2);
    /// let evaluation = summary.evaluate(&Settings::default())?;
    /// assert_eq!(evaluation.policies[1].mean.estimate, Some(0.9));
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn record(&mut self, slate: &Slate<'_>) -> Result<()> {
        if self.spec.by.is_some() {
            self.check_segments([slate.segment_value()])?;
        }
        let checked = slate.fill(&self.spec, &mut self.one).and_then(|()| self.one.check(&self.spec));
        checked.map_err(|error| error.after(usize::try_from(self.rows()).unwrap_or(usize::MAX)))?;
        let Summary { spec, whole, segments, waiting, one, full, scratch, .. } = self;
        waiting.take(one, full, |rows| drop(super::add_to(whole, spec, rows, scratch)));
        if spec.by.is_some() {
            segments.add(spec, (one, None), full, scratch);
        }
        Ok(())
    }

    /// How many rows fill a block with those that wait.
    pub(crate) fn room(&self) -> usize {
        Block::ROWS - self.waiting.rows() % Block::ROWS
    }

    /// Adds the rows of a block that has been checked, once they fill a block with those that wait.
    pub(crate) fn enqueue(&mut self, block: &Block) {
        let Summary { spec, whole, segments, waiting, full, scratch, .. } = self;
        let codes = if waiting.rows() == 0 && block.rows() == Block::ROWS {
            super::add_to(whole, spec, block, scratch)
        } else {
            waiting.take(block, full, |rows| drop(super::add_to(whole, spec, rows, scratch)));
            None
        };
        if spec.by.is_some() {
            segments.add(spec, (block, codes.as_ref()), full, scratch);
        }
    }

    /// Adds up the rows that wait for their block to be full, and those that were only counted because they are alike. No
    /// answer depends on it; it spares those who ask a copy.
    pub fn settle(&mut self) {
        let Summary { spec, whole, segments, waiting, full, scratch, .. } = self;
        waiting.empty(full, |rows| drop(super::add_to(whole, spec, rows, scratch)));
        whole.iter_mut().for_each(Cell::add_repeats);
        segments.settle(spec, full, scratch);
    }

    /// This summary with all rows in its sums.
    pub(crate) fn settled(&self) -> Cow<'_, Summary> {
        let is_counted = self.whole.as_ref().is_some_and(|cell| cell.repeats.is_some());
        if self.waiting.rows() == 0 && !is_counted && !self.segments.are_waiting() {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }
}
