//! Rows that wait for their block to be full.
//!
//! Sums are added up a block at a time, and their last bits depend on where blocks begin. Rows that come one by one, or in
//! chunks of any size, are therefore kept until there are [`Block::ROWS`] of them: the sums are then those of one pass.
//! Waiting rows have been checked, so adding them later cannot fail; and whoever looks at a summary sees them added.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::question::error::Result;
use crate::question::segment::Segment;
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
        self.pending.append(&self.one);
        self.settle_if_full();
        Ok(())
    }

    /// How many rows can be enqueued before they are added up.
    pub(crate) fn room(&self) -> usize {
        Block::ROWS - self.pending.rows()
    }

    /// Adds the rows of a block that has been checked, no more than there is [`room`](Self::room) for, once they fill a
    /// block with those that wait.
    pub(crate) fn enqueue(&mut self, block: &Block) {
        if block.rows() == Block::ROWS {
            return self.add_checked(block, block.by_segment());
        }
        self.pending.append(block);
        self.settle_if_full();
    }

    fn settle_if_full(&mut self) {
        if self.room() == 0 {
            self.settle();
        }
    }

    /// Adds the rows that wait.
    pub(crate) fn settle(&mut self) {
        if self.pending.rows() > 0 {
            let mut block = std::mem::replace(&mut self.pending, Block::new(&self.spec));
            self.add_checked(&block, block.by_segment());
            block.reset(0, 0);
            self.pending = block;
        }
    }

    /// This summary with no rows waiting.
    pub(crate) fn settled(&self) -> Cow<'_, Summary> {
        if self.pending.rows() == 0 {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }

    /// The sums of each segment, of all rows.
    pub(crate) fn cells(&self) -> Cow<'_, BTreeMap<Segment, Cell>> {
        match self.settled() {
            Cow::Borrowed(settled) => Cow::Borrowed(&settled.cells),
            Cow::Owned(settled) => Cow::Owned(settled.cells),
        }
    }
}
