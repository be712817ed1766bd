//! Slates one by one, and chunks of any size: rows wait until they fill a block.

use std::borrow::Cow;

use crate::question::error::Result;
use crate::rows::block::Block;
use crate::rows::slate::Slate;
use crate::summary::segments::Sums;
use crate::summary::{Adding, Summary};

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
        let Summary { spec, segments, waiting, one, full, .. } = self;
        if spec.by.is_some() {
            segments.find_places(spec, one, waiting.places_mut());
        }
        waiting.take(one, full);
        self.add_full_block();
        Ok(())
    }

    /// How many rows fill a block with those that wait.
    pub(crate) fn room(&self) -> usize {
        Block::ROWS - self.waiting.rows()
    }

    /// Adds the rows of a block that has been checked, once they fill a block with those that wait. There are no more than
    /// there is [`room`](Summary::room) for.
    pub(crate) fn enqueue(&mut self, block: &Block) {
        if block.rows() == Block::ROWS {
            return self.add_checked(block);
        }
        let Summary { spec, segments, waiting, full, .. } = self;
        if spec.by.is_some() {
            segments.find_places(spec, block, waiting.places_mut());
        }
        waiting.take(block, full);
        self.add_full_block();
    }

    /// Adds the rows that wait if they fill a block.
    fn add_full_block(&mut self) {
        if self.room() == 0 {
            self.add_waiting();
        }
    }

    fn add_waiting(&mut self) {
        let Summary { spec, whole, segments, waiting, full, ready, scratch, .. } = self;
        waiting.empty(full, |block, places| Adding { spec, whole, segments, ready, scratch }.add(block, places));
    }

    /// Adds up the rows that wait for their block to be full, and those that were only counted because they are alike. No
    /// answer depends on it; it spares those who ask a copy.
    pub fn settle(&mut self) {
        self.add_waiting();
        let Summary { spec, whole: Some(whole), segments, ready, scratch, .. } = self else { return };
        segments.settle(Sums { spec, whole, ready, scratch });
        whole.add_repeats();
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
