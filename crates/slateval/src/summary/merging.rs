//! How two summaries become one.
//! See docs/methods.md, section 3.6.

use crate::question::error::Result;
use crate::summary::Summary;

impl Summary {
    /// Takes in another summary, as if its rows had been added here. A refused summary leaves this one as it was.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch), saying what differs, if the two are not summaries of the same thing;
    /// [`Error::Duplicate`](crate::Error::Duplicate) if both have rows of the same file;
    /// [`Error::TooManySegments`](crate::Error::TooManySegments).
    pub fn merge(&mut self, other: &Summary) -> Result<()> {
        self.sums.check_mergeable(&other.sums)?;
        self.inputs.check_all(&other.inputs)?;
        self.merge_duplicates(other)
    }

    /// The same, though both may have rows of the same file: they are then counted twice.
    ///
    /// # Errors
    /// As [`merge`](Summary::merge), but for duplicates.
    pub fn merge_duplicates(&mut self, other: &Summary) -> Result<()> {
        self.check_mergeable(other)?;
        self.absorb(other.clone())
    }

    /// The same as [`merge_duplicates`](Summary::merge_duplicates), for a summary that is no longer needed: sums of which
    /// there are none here are moved, not copied.
    ///
    /// # Errors
    /// As [`merge`](Summary::merge), but for duplicates.
    ///
    /// ```
    /// use slateval::{Slates, Summary};
    ///
    /// let part = Slates::new(&[1.0, 0.0]).logging(&[0.5, 0.5]).target("new", &[0.9, 0.1]).summary()?;
    /// let mut total = Summary::new(part.spec().clone())?;
    /// total.absorb(part)?;
    /// assert_eq!(total.rows(), 2);
    /// # Ok::<(), slateval::Error>(())
    /// ```
    pub fn absorb(&mut self, other: Summary) -> Result<()> {
        self.check_mergeable(&other)?;
        self.inputs.merge(&other.inputs);
        self.skipped.merge(&other.skipped);
        self.merge_ignored(&other);
        self.history.merge(&other.history);
        self.sums.merge(other.sums)
    }

    /// Takes in files that were left out, but for those whose rows are there.
    fn merge_ignored(&mut self, other: &Summary) {
        self.ignored.merge(&other.ignored);
        // Only what is new on either side is looked at: a log may be merged from thousands of parts.
        let inputs = if other.ignored.is_empty() { other.inputs.all() } else { self.inputs.all() };
        inputs.into_iter().for_each(|input| self.ignored.forget(&input.name));
    }

    /// Refuses a summary that cannot be taken in, whichever files its rows came from.
    fn check_mergeable(&self, other: &Summary) -> Result<()> {
        self.sums.check_mergeable(&other.sums)?;
        self.inputs.check_positions(&other.inputs)
    }
}
